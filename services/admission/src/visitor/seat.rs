//! What a ticket says of a seat: whether it is over, and how; and what that is worth while the store
//! is away.

use vestibule_issuance::problem_of;
use vestibule_runtime::problem::Problem;
use vestibule_store::StoreError;
use vestibule_token::Seat;

use super::Status;

/// A seat that is over, as a ticket notes it: it has no life left, and is of no generation that
/// could be restored.
pub(super) fn spent(status: Status) -> Seat {
    let issued_at = u64::from(status == Status::Closed);
    Seat { issued_at, expires_at: 0, generation: u32::MAX }
}

/// How a seat ended, if the ticket says that it did.
pub(crate) fn end_of(seat: &Seat) -> Option<Status> {
    let status = if seat.issued_at == 1 { Status::Closed } else { Status::Expired };
    (seat.expires_at == 0).then_some(status)
}

/// What to tell a visitor inside when the store is away: nothing, if its session must still be
/// alive by its ticket (those inside stay inside); else the problem.
///
/// # Errors
/// The problem of `error`, when the ticket does not help.
pub(crate) fn problem_or_stale(
    error: &StoreError,
    seat: &Seat,
    now_ms: u64,
) -> Result<(), Problem> {
    let away = matches!(
        error,
        StoreError::Unavailable(_) | StoreError::RoomMissing | StoreError::Overloaded
    );
    if away && seat.expires_at > now_ms / 1000 { Ok(()) } else { Err(problem_of(error)) }
}
