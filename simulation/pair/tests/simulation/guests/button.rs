//! A guest of a room that is entered by a button: it presses it a while after it was shown.

use std::time::Duration;

use vestibule_simulation::{Admission, Answer, Carried, Status};

use super::{Hall, hall::AGAIN_MS, ticket_of};

/// Joins, asks when it is told to, presses the button once it has seen it, stays, and leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ButtonGuest {
    pub(crate) number: u64,
    pub(crate) comes_ms: u64,
    /// How long after it was shown it presses the button, ms.
    pub(crate) presses_after_ms: u64,
    /// For how long it stays inside, ms.
    pub(crate) stays_ms: u64,
}

// === impl ButtonGuest ===

impl ButtonGuest {
    /// Its whole visit.
    pub(crate) async fn visit(self, hall: Hall) {
        hall.until(self.comes_ms).await;
        let ticket = self.wait_for_a_seat(&hall).await;
        hall.stay(self.number, ticket, self.stays_ms).await;
    }

    /// Asks until it is inside, and returns its ticket.
    async fn wait_for_a_seat(self, hall: &Hall) -> Carried {
        let (mut carried, mut shown_ms) = (None, None);
        loop {
            let presses_ms = shown_ms.map(|shown_ms| shown_ms + self.presses_after_ms);
            let has_pressed = presses_ms.is_some_and(|at_ms| hall.now_ms() >= at_ms);
            let Some(answer) = self.ask(hall, carried, (shown_ms.is_some(), has_pressed)).await
            else {
                hall.wait(AGAIN_MS).await;
                continue;
            };
            carried = ticket_of(&answer).or(carried);
            let now_ms = hall.now_ms();
            hall.diary.write(self.number, |page| {
                page.came_ms.get_or_insert(now_ms);
                page.position = answer.status.position.or(page.position);
            });
            match (answer.status.status, carried) {
                (Status::Admitted, Some(ticket)) => {
                    hall.diary.write(self.number, |page| page.entered_ms = Some(now_ms));
                    return ticket;
                }
                (Status::YourTurn, _) => {
                    shown_ms.get_or_insert(now_ms);
                    hall.diary.write(self.number, |page| {
                        page.turn_ms.get_or_insert(now_ms);
                    });
                }
                _ => shown_ms = None,
            }
            let next = Duration::from_secs_f64(answer.status.next_check_in_seconds);
            hall.until(now_ms + u64::try_from(next.as_millis()).unwrap_or(AGAIN_MS)).await;
        }
    }

    /// Joins, asks where it stands, lets a seat be held, or claims.
    async fn ask(
        self,
        hall: &Hall,
        carried: Option<Carried>,
        (is_shown, has_pressed): (bool, bool),
    ) -> Option<Answer> {
        let room = hall.room.as_str();
        let call = async |admission: &Admission| match carried {
            None => admission.join(room, None).await,
            Some(ticket) if has_pressed => admission.claim(room, ticket).await,
            Some(ticket) if is_shown => admission.hold(room, ticket).await,
            Some(ticket) => admission.status(room, ticket).await,
        };
        hall.visit(self.number, call).await
    }
}
