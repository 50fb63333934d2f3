//! Calls whose clients send again, up to ten times, whatever is answered by 5xx or 429. Sent again they would do it again, so
//! once something may have been done neither is answered any more.

use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::{Instant, sleep};
use vestibule_issuance::aws::AwsError;
use vestibule_store::StoreError;

use crate::{audit::Trail, rooms::RoomError};

/// For how long it is tried to learn whether it was done. Clients wait for longer.
const LEARN_FOR: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(200);

const UNKNOWN: &str = "Redis does not answer, so it is not known whether this was done. Look at serving_num before you \
    send it again.";

/// The attempts of one call, which takes effect once however often it is tried.
#[derive(Debug)]
pub(super) struct Attempts {
    begun: Instant,
    may_be_done: bool,
    trail: Trail,
}

// === impl Attempts ===

impl Attempts {
    /// Before the first. A call that may be done is noted on its `trail` as such, whatever it is answered.
    pub(super) fn begin(trail: &Trail) -> Self {
        Self { begun: Instant::now(), may_be_done: false, trail: trail.clone() }
    }

    /// What is to be answered after an attempt that ended like this: what it brought, what is certain to have failed, or
    /// 409 if that cannot be learnt. `None`, after a pause: it is to be tried again.
    pub(super) async fn judge<T>(
        &mut self,
        done: Result<T, RoomError>,
    ) -> Option<Result<T, AwsError>> {
        if done.as_ref().is_err_and(is_unknown) {
            self.may_be_done = true;
            self.trail.perhaps_done();
        }
        // Another failure after an unknown one says nothing of that.
        if done.is_ok() || !self.may_be_done {
            return Some(done.map_err(AwsError::from));
        }
        if self.begun.elapsed() >= LEARN_FOR {
            return Some(Err(AwsError::Message(StatusCode::CONFLICT, UNKNOWN.to_owned())));
        }
        sleep(AGAIN).await;
        None
    }
}

fn is_unknown(error: &RoomError) -> bool {
    matches!(error, RoomError::Store(StoreError::Unavailable(_) | StoreError::Rewound))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use serde_json::{Value, json};

    use super::*;

    fn away() -> RoomError {
        StoreError::Unavailable("no answer".into()).into()
    }

    /// The number that is answered, or the status. After these attempts the room is missing.
    async fn answer(attempts: Vec<Result<i64, RoomError>>) -> Result<i64, u16> {
        answer_on(&Trail::default(), attempts).await
    }

    async fn answer_on(trail: &Trail, attempts: Vec<Result<i64, RoomError>>) -> Result<i64, u16> {
        let missing = || Some(Err(StoreError::RoomMissing.into()));
        let (mut left, mut attempts) = (attempts.into_iter(), Attempts::begin(trail));
        loop {
            let done = left.next().or_else(missing).unwrap();
            if let Some(known) = attempts.judge(done).await {
                return known.map_err(|error| error.into_response().status().as_u16());
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_have_been_done_is_not_answered_as_if_it_were_not() {
        assert_eq!(answer(vec![Ok(3)]).await, Ok(3));
        assert_eq!(answer(vec![Err(away()), Err(away()), Ok(3)]).await, Ok(3));
        // The answer and the room are lost together; the room may come back with what was done.
        assert_eq!(answer(vec![Err(away())]).await, Err(409));
        assert_eq!(
            answer(vec![Err(RoomError::Unknown), Ok(3)]).await,
            Err(400),
            "nothing was done"
        );
        assert_eq!(answer(vec![]).await, Err(503), "nothing was done");
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_have_been_done_is_in_the_audit_log() {
        for (attempts, is_told) in
            [(vec![Err(away())], true), (vec![Err(RoomError::Unknown)], false)]
        {
            let trail = Trail::default();
            trail.change(&Value::Null, &json!({ "increment_by": 3 }));
            let status = answer_on(&trail, attempts).await.unwrap_err().try_into().unwrap();
            assert_eq!(trail.noted()[0].is_to_be_told(status), is_told, "{status}");
        }
    }
}
