//! What a script's answer is sealed by: the stamp of the state that it left, and the room's time. As text it is
//! `stamp_text` in `lib/incarnation.lua`.

use std::str::FromStr;

use vestibule_domain::Stamp;

/// By what an answer is sealed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Seal {
    /// The state that the script left.
    pub(crate) stamp: Stamp,
    /// The room's time, ms.
    pub(crate) now_ms: u64,
}

// === impl Seal ===

impl FromStr for Seal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let mut parts = text.split(':');
            let stamp = Stamp {
                reset_epoch: parts.next()?.parse().ok()?,
                generation: parts.next()?.parse().ok()?,
                nonce: parts.next()?.to_owned(),
                seq: parts.next()?.parse().ok()?,
            };
            Some(Self { stamp, now_ms: parts.next()?.parse().ok()? })
        };
        read().ok_or_else(|| format!("`{text}` is no stamp"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_seal_is_an_error() {
        for text in ["", "7:1:a:40", "x:1:a:40:5"] {
            assert!(text.parse::<Seal>().is_err(), "{text}");
        }
        let seal: Seal = "7:2:a-1:40:5000".parse().unwrap();
        let Stamp { reset_epoch, generation, nonce, seq } = seal.stamp;
        assert_eq!((reset_epoch, generation, nonce.as_str(), seq), (7, 2, "a-1", 40));
        assert_eq!(seal.now_ms, 5_000);
    }
}
