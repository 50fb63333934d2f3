//! How chance is given in a random room, so that asking more often wins nothing.
//!
//! The leader raises the room's *cumulative hazard*: the total chance given so far, the same for
//! all visitors. A visitor's *accrued hazard* is the part that it was credited with at its
//! check-ins. It wins once its accrued hazard reaches its *win threshold*: a secret number, fixed
//! by its request id and distributed exponentially with mean 1. At every moment each visitor who is
//! there therefore wins with the same probability, however long it has waited. Asking again, or
//! from copies of one ticket, changes nothing, because the threshold never changes.
//!
//! Hazard counts in units of 2^-24. Tickets hold it modulo 2^32, which is more than anyone is
//! credited between two check-ins.

use serde::{Deserialize, Serialize};

/// Whoever checks in later than this after it was due was away, ms: a little longer than a browser lets a
/// hidden tab sleep.
pub const AWAY_MS: u64 = 62_000;

/// Units in a hazard of 1.
pub const UNITS: f64 = 16_777_216.0;

/// The part of a room's hazard that a visitor was credited with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AccruedHazard {
    /// Credited so far, in units.
    pub credit: u32,
    /// The room's hazard at the last check-in, in units, modulo 2^32.
    pub room_hazard: u32,
}

// === impl AccruedHazard ===

impl AccruedHazard {
    /// For a newcomer, in a room with this cumulative `hazard`.
    #[must_use]
    pub fn new(hazard: u64) -> Self {
        Self { credit: 0, room_hazard: modulo(hazard) }
    }

    /// After a check-in that came `overdue_ms` late. The visitor is credited with the growth of the
    /// hazard since its last check-in, or with nothing if it was so late that it counted as gone.
    #[must_use]
    pub fn checked_in(self, hazard: u64, overdue_ms: u64) -> Self {
        let room_hazard = modulo(hazard);
        // A restored store may be a little behind. Then nothing is credited, and nothing is taken
        // away.
        let grown = room_hazard.wrapping_sub(self.room_hazard).cast_signed().max(0).cast_unsigned();
        let grown = if overdue_ms > AWAY_MS { 0 } else { grown };
        Self { credit: self.credit.saturating_add(grown), room_hazard }
    }

    /// By how much the credit exceeds the `win_threshold`, in units.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn beyond(self, win_threshold: f64) -> u64 {
        (f64::from(self.credit) - win_threshold * UNITS).clamp(0.0, f64::from(u32::MAX)) as u64
    }

    /// Whether a visitor with this `win_threshold` has won.
    #[must_use]
    pub fn wins(self, win_threshold: f64) -> bool {
        f64::from(self.credit) / UNITS >= win_threshold
    }
}

/// The increase of the hazard, in units, by which a share `part` of the visitors there win.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and small")]
pub fn hazard_increase_for(part: f64) -> u64 {
    (-(-part.clamp(0.0, 1.0)).ln_1p() * UNITS).round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "taken modulo 2^32")]
fn modulo(hazard: u64) -> u32 {
    hazard as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_what_the_hazard_grew_while_there() {
        let newcomer = AccruedHazard::new(u64::from(u32::MAX) - 99);
        let there = newcomer.checked_in(u64::from(u32::MAX) + 101, 600);
        assert_eq!(there.credit, 200, "over the edge of 32 bits");
        let away = there.checked_in(u64::from(u32::MAX) + 5_001, AWAY_MS + 1);
        assert_eq!(away.credit, 200, "nothing for a time away");
        let back = away.checked_in(u64::from(u32::MAX) + 5_011, 600);
        assert_eq!(back.credit, 210);
        assert_eq!(back.checked_in(1_000, 600).credit, 210, "a store that lost a little");
    }

    #[test]
    fn checking_in_more_often_gives_no_more() {
        let (mut eager, mut calm) = (AccruedHazard::new(0), AccruedHazard::new(0));
        for step in 1..=600_u64 {
            eager = eager.checked_in(step * 777, 0);
            if step % 60 == 0 {
                calm = calm.checked_in(step * 777, 900);
            }
        }
        assert_eq!(eager, calm);
    }

    #[test]
    fn the_hazard_for_a_share_lets_that_share_win() {
        for part in [0.0001, 0.01, 0.3, 0.9] {
            let accrued_hazard = AccruedHazard {
                credit: u32::try_from(hazard_increase_for(part)).unwrap(),
                room_hazard: 0,
            };
            let wins = (0..100_000_u32)
                .filter(|nth| {
                    accrued_hazard.wins(-(1.0 - (f64::from(*nth) + 0.5) / 100_000.0).ln())
                })
                .count();
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let share = wins as f64 / 100_000.0;
            assert!((share - part).abs() < 2e-5, "{part}: {share}");
        }
        assert_eq!(hazard_increase_for(0.0), 0);
    }
}
