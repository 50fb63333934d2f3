//! A guest who asks exactly when it is told to.

use std::time::Duration;

use vestibule_simulation::{Answer, Carried, Status};

use super::{Hall, hall::AGAIN_MS, ticket_of};

/// Joins, asks when it is told to, claims when its turn has come, stays, and leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PunctualGuest {
    pub(crate) number: u64,
    pub(crate) comes_ms: u64,
    /// For how long it stays inside, ms.
    pub(crate) stays_ms: u64,
}

// === impl PunctualGuest ===

impl PunctualGuest {
    /// Its whole visit.
    pub(crate) async fn visit(self, hall: Hall) {
        hall.until(self.comes_ms).await;
        let ticket = self.wait_for_a_seat(&hall).await;
        hall.stay(self.number, ticket, self.stays_ms).await;
    }

    /// Asks until it is inside, and returns its ticket.
    async fn wait_for_a_seat(self, hall: &Hall) -> Carried {
        let (mut carried, mut has_turn) = (None, false);
        loop {
            let asked_ms = hall.now_ms();
            let Some(answer) = self.ask(hall, carried, has_turn).await else {
                hall.wait(AGAIN_MS).await;
                continue;
            };
            carried = ticket_of(&answer).or(carried);
            let now_ms = hall.now_ms();
            hall.diary.write(self.number, |page| {
                page.came_ms.get_or_insert(asked_ms);
                page.position = answer.status.position.or(page.position);
                page.asked_ms = Some(asked_ms);
            });
            let claimed = has_turn;
            match (answer.status.status, carried) {
                (Status::Admitted, Some(ticket)) => {
                    hall.diary.write(self.number, |page| page.entered_ms = Some(now_ms));
                    return ticket;
                }
                (status, _) => has_turn = status == Status::YourTurn,
            }
            // It claims at once, and if there was no seat, when it is told to.
            if claimed || !has_turn {
                let next = Duration::from_secs_f64(answer.status.next_check_in_seconds);
                hall.until(now_ms + u64::try_from(next.as_millis()).unwrap_or(AGAIN_MS)).await;
            }
        }
    }

    /// Joins, asks where it stands, or claims.
    async fn ask(self, hall: &Hall, carried: Option<Carried>, has_turn: bool) -> Option<Answer> {
        let room = hall.room.as_str();
        let call = async |admission: &vestibule_simulation::Admission| match carried {
            None => admission.join(room, None).await,
            Some(ticket) if has_turn => admission.claim(room, ticket).await,
            Some(ticket) => admission.status(room, ticket).await,
        };
        hall.visit(self.number, call).await
    }
}
