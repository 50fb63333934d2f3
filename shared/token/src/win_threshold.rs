//! The win threshold: a secret number for each place of a room, fixed and exponentially distributed
//! with mean 1. How it decides who wins is in `vestibule_domain::accrued_hazard`.

use aes::{
    Aes256,
    cipher::{BlockEncrypt, KeyInit},
};
use vestibule_domain::RoomId;

use crate::DeploymentSecret;

/// The win thresholds of all places of one room, for one reset epoch.
pub struct WinThresholds(Aes256);

// === impl WinThresholds ===

impl WinThresholds {
    /// The win thresholds of `room` for this reset epoch.
    #[must_use]
    pub fn new(secret: &DeploymentSecret, room: &RoomId, reset_epoch: u64) -> Self {
        let context = [room.as_str().as_bytes(), &reset_epoch.to_be_bytes()];
        let key = secret.derive::<32>("win_threshold", &context);
        Self(Aes256::new((&*key).into()))
    }

    /// The win threshold of the holder of `queue_number`: above 0, and rarely above 10.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what an f64 holds")]
    pub fn threshold(&self, queue_number: u64) -> f64 {
        let mut block = u128::from(queue_number).to_be_bytes().into();
        self.0.encrypt_block(&mut block);
        let bits = u128::from_be_bytes(block.into()) >> (128 - 53);
        let uniform = (bits as f64 + 0.5) / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

impl std::fmt::Debug for WinThresholds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WinThresholds([REDACTED])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{room, secret};

    #[test]
    fn thresholds_are_fixed_by_the_place_and_exponential() {
        let win_thresholds = WinThresholds::new(&secret(), &room("sale"), 1);
        assert!((win_thresholds.threshold(7) - win_thresholds.threshold(7)).abs() < f64::EPSILON);
        let other = WinThresholds::new(&secret(), &room("sale"), 2);
        assert!(
            (win_thresholds.threshold(7) - other.threshold(7)).abs() > 1e-9,
            "a reset shuffles"
        );
        let all: Vec<f64> = (1..=100_000).map(|number| win_thresholds.threshold(number)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        for (limit, share) in [(0.1, 0.0952), (std::f64::consts::LN_2, 0.5), (3.0, 0.9502)] {
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let below =
                all.iter().filter(|win_threshold| **win_threshold < limit).count() as f64 / 1e5;
            assert!((below - share).abs() < 0.006, "{limit}: {below}");
        }
    }
}
