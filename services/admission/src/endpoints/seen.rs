//! A visitor inside was seen: its session lives on, and its token is renewed when it is due.
//! What joining, asking and claiming share for those who are inside already; no endpoint itself.

use std::sync::Arc;

use vestibule_runtime::problem::Problem;
use vestibule_store::Touch;
use vestibule_token::{Seat, Ticket};

use crate::{
    state::Admission,
    visit::{Answer, Carrier, Journey, Status, Visit, ended_as, problem_or_stale},
};

/// Answers a visitor whose ticket says that it is inside.
pub(super) async fn seen(
    admission: &Arc<Admission>,
    visit: &Visit,
    carrier: Carrier,
    ticket: Ticket,
    seat: Seat,
) -> Result<Answer, Problem> {
    let journey = Journey::new(admission, visit, carrier);
    if let Some(status) = ended_as(&seat) {
        return journey.over(ticket, status);
    }
    if visit.snapshot.settings.suspended {
        let record = journey.uncounted(&seat)?;
        return journey.inside(ticket, &record, seat.generation).await;
    }
    let number = ticket.waiter.place.number;
    let touch = Touch {
        reset_epoch: visit.snapshot.reset_epoch,
        number,
        position: visit.snapshot.position(number).unwrap_or(number),
        generation: seat.generation,
        issued_at: seat.issued_at,
        expires_at: seat.expires_at,
    };
    match admission.touches.touch(&visit.snapshot.room, touch).await {
        Ok(touched) => {
            let journey = journey.at(touched.now_ms);
            match touched.session {
                Some(record) => journey.inside(ticket, &record, touched.generation).await,
                None if seat.expires_at <= touched.now_ms / 1000 => {
                    journey.over(ticket, Status::Expired)
                }
                None => journey.over(ticket, Status::Closed),
            }
        }
        Err(error) => {
            problem_or_stale(&error, &seat, journey.now_ms())?;
            let record = journey.record(seat.issued_at, seat.expires_at)?;
            journey.inside(ticket, &record, seat.generation).await
        }
    }
}
