//! The checks of a finished record.

use super::{BeaconOutcome, DrawRecord, DrawState, METHOD};
use crate::draw::{Draw, DrawError, Seed, commitment, from_hex, mix, to_hex};

/// A check of a record that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrawFault {
    /// The draw has not been held, or was cancelled.
    #[error("the draw is not drawn: its state is {0:?}")]
    NotDrawn(DrawState),
    /// A field is missing that a finished draw must have.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A field is not 32 bytes in hex.
    #[error("{0} is not 64 hex digits")]
    NotHex(&'static str),
    /// The method is not known here.
    #[error("the method {0:?} is unknown; {METHOD:?} is the one that can be checked")]
    UnknownMethod(String),
    /// Nobody was in the pre-queue.
    #[error("nobody took part: there are no places")]
    NobodyTookPart,
    /// The numbers cannot be queue numbers.
    #[error(transparent)]
    Numbers(#[from] DrawError),
    /// The committed seed does not match the commitment.
    #[error("the committed seed is not the one that was promised: its SHA-256 is {0}")]
    WrongCommitment(String),
    /// The final seed does not follow from the committed one.
    #[error("the final seed should be {0}")]
    WrongSeed(String),
    /// The record names a beacon and does not state its outcome.
    #[error("the beacon's outcome is missing or unknown")]
    NoOutcome,
    /// The seed was used, and so could be known, while people could still join.
    #[error("it was drawn at {drawn_at}, before the pre-queue ended at {event_start}")]
    DrawnEarly {
        /// When it was drawn.
        drawn_at: u64,
        /// When the pre-queue ended.
        event_start: u64,
    },
}

// === impl DrawRecord ===

impl DrawRecord {
    /// Checks that everything published follows from the commitment and the beacon's answer, and
    /// returns the draw with which every place can be computed.
    ///
    /// # Errors
    /// All checks that failed.
    pub fn check(&self) -> Result<Draw, Vec<DrawFault>> {
        if self.state != DrawState::Drawn {
            return Err(vec![DrawFault::NotDrawn(self.state)]);
        }
        let draw = self.draw();
        let checks = [
            self.check_method(),
            self.check_commitment(),
            self.check_seed(),
            self.check_time(),
            draw.clone().map(drop),
        ];
        let mut faults = Vec::new();
        for fault in checks.into_iter().filter_map(Result::err) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        draw.ok().filter(|_| faults.is_empty()).ok_or(faults)
    }

    fn check_method(&self) -> Result<(), DrawFault> {
        if self.method == METHOD {
            Ok(())
        } else {
            Err(DrawFault::UnknownMethod(self.method.clone()))
        }
    }

    fn check_commitment(&self) -> Result<(), DrawFault> {
        let published = from_hex(&self.commitment).ok_or(DrawFault::NotHex("commitment"))?;
        let actual = commitment(&seed("committed_seed", self.committed_seed.as_ref())?);
        if actual == to_hex(&published) { Ok(()) } else { Err(DrawFault::WrongCommitment(actual)) }
    }

    fn check_seed(&self) -> Result<(), DrawFault> {
        let expected = self.expected_seed()?;
        if expected == seed("seed", self.seed.as_ref())? {
            Ok(())
        } else {
            Err(DrawFault::WrongSeed(to_hex(&expected)))
        }
    }

    /// The expected final seed: the committed one, mixed with the beacon's randomness.
    fn expected_seed(&self) -> Result<Seed, DrawFault> {
        let committed = seed("committed_seed", self.committed_seed.as_ref())?;
        match self.beacon.as_ref().map(|beacon| &beacon.outcome) {
            None | Some(Some(BeaconOutcome::Unanswered)) => Ok(committed),
            Some(Some(BeaconOutcome::Verified { randomness, .. })) => {
                Ok(mix(&committed, &seed("randomness", Some(randomness))?))
            }
            Some(None) => Err(DrawFault::NoOutcome),
        }
    }

    fn check_time(&self) -> Result<(), DrawFault> {
        let drawn_at = self.drawn_at.ok_or(DrawFault::Missing("drawn_at"))?;
        if drawn_at < self.event_start {
            return Err(DrawFault::DrawnEarly { drawn_at, event_start: self.event_start });
        }
        Ok(())
    }

    fn draw(&self) -> Result<Draw, DrawFault> {
        let first = self.first_queue_number.ok_or(DrawFault::Missing("first_queue_number"))?;
        let count = self.participants.ok_or(DrawFault::Missing("participants"))?;
        if count == 0 {
            return Err(DrawFault::NobodyTookPart);
        }
        Ok(Draw::checked(first, count, seed("seed", self.seed.as_ref())?)?)
    }
}

fn seed(field: &'static str, text: Option<&String>) -> Result<Seed, DrawFault> {
    from_hex(text.ok_or(DrawFault::Missing(field))?).ok_or(DrawFault::NotHex(field))
}
