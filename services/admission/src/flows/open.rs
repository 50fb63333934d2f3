//! Opens what visitors carry: tickets and request ids.

use vestibule_issuance::RoomCiphers;
use vestibule_token::{EnvelopeError, RequestIdError, TicketError};

use super::{FlowError, Flows, RoomContext};

/// Why something does not open.
pub(crate) trait Sealed {
    /// Whether it may have been sealed after another reset.
    fn is_foreign(&self) -> bool;
}

// === impl Sealed ===

impl Sealed for TicketError {
    fn is_foreign(&self) -> bool {
        *self == Self::Foreign
    }
}

impl Sealed for RequestIdError {
    fn is_foreign(&self) -> bool {
        *self == Self::Foreign
    }
}

impl Sealed for EnvelopeError {
    fn is_foreign(&self) -> bool {
        *self == Self::Foreign
    }
}

// === impl Flows ===

impl Flows {
    /// Opens something with the ciphers of `room`. What does not open may have been sealed after a
    /// reset that this instance has not heard of: then the room is read again, and `room` is the room
    /// as it is now.
    ///
    /// # Errors
    /// The outer one if Redis does not answer: then nobody is told that a place is gone. The inner one
    /// if it does not open.
    pub(crate) async fn open<T, E: Sealed>(
        &self,
        room: &mut RoomContext,
        open: impl Fn(&RoomCiphers) -> Result<T, E>,
    ) -> Result<Result<T, E>, FlowError> {
        let opened = open(&room.ciphers);
        if !opened.as_ref().is_err_and(Sealed::is_foreign) {
            return Ok(opened);
        }
        self.feed.catch_up(&room.known).await?;
        let before = room.ciphers.reset_epoch;
        // By its name: another room may have been made in place of a deleted one.
        if let Some(now) = self.room(room.snapshot.room.as_str()) {
            *room = RoomContext { caller: room.caller.clone(), ..now };
        }
        Ok(if room.ciphers.reset_epoch == before { opened } else { open(&room.ciphers) })
    }
}
