//! Whether a visitor is inside, from memory: what lets most requests for a site pass.

use vestibule_token::Ticket;

use super::{Flows, RoomContext};

// === impl Flows ===

impl Flows {
    /// Whether the session of `ticket` must still be alive: Redis saw it not long ago, and it was not
    /// ended since. Does not ask Redis.
    pub(crate) fn is_inside(&self, room: &RoomContext, ticket: &Ticket) -> bool {
        let Some(seat) = ticket.seat() else { return false };
        let (snapshot, now_ms) = (&room.snapshot, room.known.now_ms());
        let unchecked_ms = now_ms.saturating_sub(ticket.waiter.checked_in_at);
        // While Redis is away, those inside stay inside.
        let fresh = unchecked_ms < snapshot.settings.recheck_ms() || !self.feed.is_connected();
        fresh
            && seat.generation == snapshot.generation
            && seat.expires_at * 1000 > now_ms
            && !room.known.has_ended(snapshot.reset_epoch, ticket.waiter.place.number)
    }
}
