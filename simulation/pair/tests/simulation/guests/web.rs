//! A guest with a browser, who asks in a rhythm of its own instead of when it is told to: so that two
//! nights can be compared answer by answer.

use vestibule_simulation::{Answer, Carried, NewTicket, Status};

use super::{Hall, Rhythm, Told, hall::AGAIN_MS};

/// After how long it claims again whose claim was held and found no seat, ms: as such a claim is answered.
const CLAIMS_AGAIN_MS: u64 = 100;

/// Joins, asks, claims when its turn has come, stays, and leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WebGuest {
    pub(crate) number: u64,
    pub(crate) comes_ms: u64,
    /// About how often it asks, ms.
    pub(crate) asks_every_ms: u64,
    /// For how long it stays inside, ms.
    pub(crate) stays_ms: u64,
}

// === impl WebGuest ===

impl WebGuest {
    /// Its whole visit.
    pub(crate) async fn visit(self, hall: Hall) {
        hall.until(self.comes_ms).await;
        let ticket = self.wait_for_a_seat(&hall).await;
        let entered_ms = hall.now_ms();
        hall.diary.write(self.number, |page| page.entered_ms = Some(entered_ms));
        hall.stay(self.number, ticket, self.stays_ms).await;
        let left_ms = hall.now_ms();
        hall.diary.write(self.number, |page| page.left_ms = Some(left_ms));
    }

    /// Asks until it is inside, and returns its ticket.
    async fn wait_for_a_seat(self, hall: &Hall) -> Carried {
        let (mut carried, mut has_turn) = (None, false);
        let mut rhythm = Rhythm::new(hall.seed, self.number, self.comes_ms, self.asks_every_ms);
        loop {
            let answer = self.ask(hall, carried, has_turn).await;
            if let Some(ticket) = answer.as_ref().and_then(ticket_of) {
                carried = Some(ticket);
            }
            let status = answer.as_ref().map(|answer| answer.status.status);
            match (status, carried) {
                (Some(Status::Admitted), Some(ticket)) => return ticket,
                // It claims at once, and if there was no seat, as soon as it is told to.
                (Some(Status::YourTurn), _) if !has_turn => has_turn = true,
                (Some(Status::YourTurn), _) => hall.wait(CLAIMS_AGAIN_MS).await,
                (None, _) => hall.wait(AGAIN_MS).await,
                _ => hall.until(rhythm.after(hall.now_ms())).await,
            }
        }
    }

    /// Joins, asks where it stands, or claims.
    async fn ask(self, hall: &Hall, carried: Option<Carried>, has_turn: bool) -> Option<Answer> {
        let (room, asked_ms) = (hall.room.as_str(), hall.now_ms());
        let answer = hall
            .visit(self.number, async |admission| match carried {
                None => admission.join(room, None).await,
                Some(ticket) if has_turn => admission.claim(room, ticket).await,
                Some(ticket) => admission.status(room, ticket).await,
            })
            .await?;
        let (status, wait_s) = (answer.status.status, answer.status.wait_seconds);
        hall.diary.write(self.number, |page| {
            page.came_ms.get_or_insert(asked_ms);
            page.position = answer.status.position.or(page.position);
            match status {
                Status::Waiting => page.told.push(Told { at_ms: asked_ms, wait_s }),
                Status::YourTurn => {
                    page.turn_ms.get_or_insert(asked_ms);
                }
                _ => {}
            }
        });
        Some(answer)
    }
}

/// The ticket that comes with an answer, whatever it is worth.
pub(crate) fn ticket_of(answer: &Answer) -> Option<Carried> {
    match answer.ticket {
        NewTicket::Carry(ticket) | NewTicket::Drop(Some(ticket)) => Some(ticket),
        NewTicket::Keep | NewTicket::Drop(None) => None,
    }
}
