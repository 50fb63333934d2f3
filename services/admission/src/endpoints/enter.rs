//! A visitor who wants to get in, in one call: a newcomer joins, and whoever's turn it is claims.
//! What clients share that only ever ask for the site itself; no endpoint itself.

use std::sync::Arc;

use vestibule_runtime::problem::Problem;

use super::{claim_seat::claim, join_room::join};
use crate::{
    state::Admission,
    visitor::{CookieChange, Status, VisitorRequest, VisitorResponse},
};

/// Lets the visitor in if that can be; else tells where it stands.
///
/// # Errors
/// When the store is away or too much is to do.
pub(crate) async fn enter(
    admission: &Arc<Admission>,
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    let (context, carrier) = (caller.context.clone(), caller.carrier);
    let answer = join(admission, caller).await?;
    if answer.body.status != Status::YourTurn {
        return Ok(answer);
    }
    let CookieChange::Newest(text) = &answer.ticket else { return Ok(answer) };
    let Ok(ticket) = context.ciphers.tickets.open(text) else { return Ok(answer) };
    claim(admission, &context, carrier, (ticket, Some(text.clone()))).await
}
