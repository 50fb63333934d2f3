//! Chances in a random room, without a coin that could be thrown twice.
//!
//! The leader raises a room's *hazard*: how much chance everyone there has been given so far, the
//! same for all. A visitor's *accrued_hazard* is what it was credited of that at its check-ins. It wins once
//! its accrued_hazard reaches its *win_threshold*, a number fixed by its request id, secret, and distributed
//! exponentially: so at every moment each visitor there wins with the same chance, whatever its
//! phase, and however long it has waited. Asking again, or from copies of one ticket, changes
//! nothing: there is nothing to throw again.
//!
//! Hazard counts in units of 2^-24. Tickets hold it modulo 2^32, which is more than anyone is
//! credited between two check-ins.

use serde::{Deserialize, Serialize};

use crate::presence::LINGER_MS;

/// Units in a hazard of 1.
pub const UNITS: f64 = 16_777_216.0;

/// What a visitor was credited of a room's hazard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AccruedHazard {
    /// Credited so far, in units.
    pub credit: u32,
    /// The room's hazard at the last check-in, in units, modulo 2^32.
    pub seen: u32,
}

// === impl AccruedHazard ===

impl AccruedHazard {
    /// The accrued_hazard of someone who comes now.
    #[must_use]
    pub fn begun(hazard: u64) -> Self {
        Self { credit: 0, seen: modulo(hazard) }
    }

    /// After a check-in that came `overdue_ms` late: credited is what the hazard has grown, unless
    /// the visitor was so late that it did not count as there meanwhile.
    #[must_use]
    pub fn checked_in(self, hazard: u64, overdue_ms: u64) -> Self {
        let seen = modulo(hazard);
        // A store that was restored may be a little behind: nothing is credited, nothing taken.
        let grown = seen.wrapping_sub(self.seen).cast_signed().max(0).cast_unsigned();
        let grown = if overdue_ms > LINGER_MS { 0 } else { grown };
        Self { credit: self.credit.saturating_add(grown), seen }
    }

    /// How much more than its `win_threshold` it was credited, in units.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn beyond(self, win_threshold: f64) -> u64 {
        (f64::from(self.credit) - win_threshold * UNITS).clamp(0.0, f64::from(u32::MAX)) as u64
    }

    /// Whether someone of this `win_threshold` has won.
    #[must_use]
    pub fn wins(self, win_threshold: f64) -> bool {
        f64::from(self.credit) / UNITS >= win_threshold
    }
}

/// The hazard, in units, that lets a share `part` of those there win.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and small")]
pub fn hazard_increase_for(part: f64) -> u64 {
    (-(-part.clamp(0.0, 1.0)).ln_1p() * UNITS).round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "modulo 2^32 is what is wanted")]
fn modulo(hazard: u64) -> u32 {
    hazard as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_what_the_hazard_grew_while_there() {
        let begun = AccruedHazard::begun(u64::from(u32::MAX) - 99);
        let there = begun.checked_in(u64::from(u32::MAX) + 101, 600);
        assert_eq!(there.credit, 200, "over the edge of 32 bits");
        let away = there.checked_in(u64::from(u32::MAX) + 5_001, LINGER_MS + 1);
        assert_eq!(away.credit, 200, "nothing for a time away");
        let back = away.checked_in(u64::from(u32::MAX) + 5_011, 600);
        assert_eq!(back.credit, 210);
        assert_eq!(back.checked_in(1_000, 600).credit, 210, "a store that lost a little");
    }

    #[test]
    fn checking_in_more_often_gives_no_more() {
        let (mut eager, mut calm) = (AccruedHazard::begun(0), AccruedHazard::begun(0));
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
                seen: 0,
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
