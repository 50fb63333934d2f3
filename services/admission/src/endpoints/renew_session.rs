//! A visitor inside was seen: its session lives on, and its token is renewed when it is due.
//! What joining, asking and claiming share for those who are inside already; no endpoint itself.

use std::sync::Arc;

use vestibule_runtime::problem::Problem;
use vestibule_store::Touch;
use vestibule_token::{Seat, Ticket};

use crate::{
    state::Admission,
    visitor::{
        Carrier, RoomContext, Status, VisitorResponder, VisitorResponse, end_of, problem_or_stale,
    },
};

/// Answers a visitor whose ticket says that it is inside.
pub(super) async fn renew_session(
    admission: &Arc<Admission>,
    context: &RoomContext,
    carrier: Carrier,
    ticket: Ticket,
    seat: Seat,
) -> Result<VisitorResponse, Problem> {
    let responder = VisitorResponder::new(admission, context, carrier);
    if let Some(status) = end_of(&seat) {
        return responder.over(ticket, status);
    }
    if context.snapshot.settings.suspended {
        let record = responder.uncounted(&seat)?;
        return responder.inside(ticket, &record, seat.generation).await;
    }
    let number = ticket.waiter.place.number;
    let touch = Touch {
        reset_epoch: context.snapshot.reset_epoch,
        number,
        position: context.snapshot.position(number).unwrap_or(number),
        generation: seat.generation,
        issued_at: seat.issued_at,
        expires_at: seat.expires_at,
    };
    match admission.touches.touch(&context.snapshot.room, touch).await {
        Ok(touched) => {
            let responder = responder.at(touched.now_ms);
            match touched.session {
                Some(record) => responder.inside(ticket, &record, touched.generation).await,
                None if seat.expires_at <= touched.now_ms / 1000 => {
                    responder.over(ticket, Status::Expired)
                }
                None => responder.over(ticket, Status::Closed),
            }
        }
        Err(error) => {
            problem_or_stale(&error, &seat, responder.now_ms())?;
            let record = responder.record(seat.issued_at, seat.expires_at)?;
            responder.inside(ticket, &record, seat.generation).await
        }
    }
}
