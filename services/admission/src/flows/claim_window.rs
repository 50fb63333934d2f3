//! The claim window: how long a visitor whose turn it is may still claim. The waiting page counts it
//! down.

use vestibule_store::PositionExpiry;
use vestibule_token::Ticket;

use super::{Flows, RoomContext, Status, VisitorResponse};
use crate::batching::Served;

/// About how often a visitor's claim window is extended while no seat is free, in seconds.
const EXTEND_SECONDS: u64 = 15;

/// How long a visitor whose turn it is may still claim.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClaimWindow {
    /// Seconds left; `None`: there is no limit now, or it was not asked for.
    pub(crate) seconds: Option<u64>,
    /// The window is over. The visitor may still claim, and enters if a seat is free.
    pub(crate) is_over: bool,
}

// === impl Flows ===

impl Flows {
    /// The claim window of a visitor who was answered `response`. While no seat is free the window is
    /// extended every [`EXTEND_SECONDS`], so it does not run out.
    ///
    /// `before`: the ticket that the visitor sent. `is_known`: the page already counts the window down
    /// by itself, so Redis is not asked again.
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
        let served = Served {
            room: snapshot.room.clone(),
            reset_epoch: snapshot.reset_epoch,
            place: ticket.waiter.place,
            position,
        };
        if !room.has_free_seats() {
            if is_extension_due(room, before, response.status.queue_number) {
                self.claim_windows.keep_open(served).await;
            }
            return ClaimWindow::default();
        }
        if is_known {
            return ClaimWindow::default();
        }
        match self.claim_windows.expiry(served).await {
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
    /// Whether a visitor could enter now, as far as this instance knows.
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

/// Whether the claim window of the visitor with `number` is due for an extension: once in
/// [`EXTEND_SECONDS`], at a time that differs by number.
fn is_extension_due(room: &RoomContext, before: Option<&Ticket>, number: u64) -> bool {
    let now_ms = room.known.now_ms();
    let seen_at = before.map_or(0, |ticket| ticket.waiter.heard_at);
    let unseen = now_ms.saturating_sub(seen_at) / 1000;
    (now_ms / 1000 + number) % EXTEND_SECONDS <= unseen
}
