//! How long the place of someone whose turn it is is held, as the waiting page counts it down.

use vestibule_store::PositionExpiry;
use vestibule_token::Ticket;

use super::{Flows, RoomContext, Status, VisitorResponse};

/// About how often someone without a free seat has its claim window extended, in seconds.
const EXTEND_SECONDS: u64 = 15;

/// For how long the place of someone whose turn it is is held.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClaimWindow {
    /// Seconds; `None`: as long as is needed, or not asked for.
    pub(crate) seconds: Option<u64>,
    /// It was held for long enough; who enters now may still get a seat.
    pub(crate) is_over: bool,
}

// === impl Flows ===

impl Flows {
    /// How long the place of a visitor who was answered `response` is still held. While no seat is
    /// free, the time does not run: it is extended now and then.
    ///
    /// `before`: the ticket that the visitor brought. `is_known`: the page shows the time already
    /// and counts it down by itself, so Redis is not asked again.
    pub(crate) async fn claim_window(
        &self,
        room: &RoomContext,
        response: &VisitorResponse,
        before: Option<&Ticket>,
        is_known: bool,
    ) -> ClaimWindow {
        let snapshot = &room.snapshot;
        let expires = snapshot.settings.position_expiry_seconds.is_some();
        let holder = response.cookie.ticket().zip(response.status.position);
        let Some((ticket, position)) = holder else { return ClaimWindow::default() };
        if response.status.status != Status::YourTurn || !expires {
            return ClaimWindow::default();
        }
        let (name, epoch) = (&snapshot.room, snapshot.reset_epoch);
        if !room.has_free_seats() {
            if is_extension_due(room, before, response.status.queue_number) {
                // If this one is lost, the next one will do.
                let _ = self.store.extend_claim_window(name, epoch, position).await;
            }
            return ClaimWindow::default();
        }
        if is_known {
            return ClaimWindow::default();
        }
        match self.store.position_expiry(name, epoch, &ticket.waiter.place, position).await {
            Ok(PositionExpiry::Claimable { seconds_left }) => {
                ClaimWindow { seconds: Some(seconds_left), is_over: false }
            }
            Ok(PositionExpiry::Expired) => ClaimWindow { seconds: None, is_over: true },
            Ok(_) | Err(_) => ClaimWindow::default(),
        }
    }
}

// === impl RoomContext ===

impl RoomContext {
    /// Whether somebody could enter now, as far as this instance knows.
    pub(crate) fn has_free_seats(&self) -> bool {
        let room = &self.snapshot;
        let settings = &room.settings;
        let seats =
            settings.total_active_users.is_none_or(|most| room.active + room.unconfirmed < most);
        let rate =
            settings.new_users_per_minute.is_none_or(|most| room.admitted_last_minute < most);
        room.is_open() || (seats && rate)
    }
}

/// Whether the visitor's turn to extend has come: once in a while, spread over all of them by their
/// `number`.
fn is_extension_due(room: &RoomContext, before: Option<&Ticket>, number: u64) -> bool {
    let now_ms = room.known.now_ms();
    let seen_at = before.map_or(0, |ticket| ticket.waiter.checked_in_at);
    let unseen = now_ms.saturating_sub(seen_at) / 1000;
    (now_ms / 1000 + number) % EXTEND_SECONDS <= unseen
}
