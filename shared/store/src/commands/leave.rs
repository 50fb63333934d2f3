//! Leaving: a session ends before its time, and its seat is free at once.

use vestibule_domain::RoomId;

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedAs {
    /// The visitor did what it came for.
    Completed,
    /// It gave up.
    Abandoned,
    /// An operator, or the site, ended it.
    Revoked,
}

/// A session to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The visitor's queue number.
    pub number: u64,
    /// How it ended.
    pub ended_as: EndedAs,
}

impl Store {
    /// Ends sessions; says of each whether it was live, or at least not yet ended by a call. Every
    /// service hears of it: see [`crate::KnownRoom::has_ended`].
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn leave(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        departures: &[Departure],
    ) -> Result<Vec<bool>, StoreError> {
        let parts = [Part::Line, Part::Sessions, Part::Records];
        let mut call = Self::untimed(&scripts::LEAVE, &keys(room, parts));
        call.arg(room.as_str()).arg(reset_epoch);
        for departure in departures {
            call.arg(departure.number).arg(match departure.ended_as {
                EndedAs::Completed => 1,
                EndedAs::Abandoned => -1,
                EndedAs::Revoked => -2,
            });
        }
        self.run(&call).await
    }
}
