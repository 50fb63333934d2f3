//! What an operator does to a room's line: moves the serving counter, or starts the room afresh.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;
use vestibule_history::{Call, What};

use super::answered_calls::{KEPT_SECONDS, remember};
use crate::{Store, StoreError, scripts, store::Sealed};

#[derive(Debug, Serialize)]
struct Increment<'a> {
    room: &'a RoomId,
    call: &'a str,
    by: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Incremented {
    reset_epoch: u64,
    serving_counter: i64,
    by: i64,
    again: bool,
}

#[derive(Debug, Serialize)]
struct ToReset<'a> {
    room: &'a RoomId,
    call: &'a str,
}

#[derive(Debug, Serialize, Deserialize)]
struct Reset {
    reset_epoch: u64,
    again: bool,
}

impl Store {
    /// Moves the serving counter by `by`, which may be negative or 0; returns where it stands.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn increment(&self, room: &RoomId, by: i64) -> Result<i64, StoreError> {
        let stands = self.increment_once(room, &self.call_name(), by).await?;
        stands.ok_or_else(|| StoreError::unexpected("a name that was given before"))
    }

    /// As [`Self::increment`], once for all calls of this name, which consists of letters, digits and `-._`. `None`:
    /// under this name, the counter was moved by another number.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn increment_once(
        &self,
        room: &RoomId,
        call: &str,
        by: i64,
    ) -> Result<Option<i64>, StoreError> {
        let call = Increment { room, call, by };
        let mut done = self.send_increment(&call).await;
        if is_unknown(&done) {
            done = self.send_increment(&call).await.or(done);
        }
        let done = done?;
        Ok((done.by == by).then_some(done.serving_counter))
    }

    async fn send_increment(&self, call: &Increment<'_>) -> Result<Incremented, StoreError> {
        let &Increment { room, call: name, by } = call;
        let noting = self.noting(Some(room), || vec![Call::Increment { by }]).await;
        let sealed = self.call_sealed(&scripts::INCREMENT, room, call).await;
        let reply = sealed.and_then(|sealed| incremented(name, sealed));
        if let Some(noting) = noting {
            // What was answered before tells nothing of now.
            noting.settle(
                &reply,
                |_| None,
                |reply| {
                    let &Incremented { reset_epoch, serving_counter, by, again } = reply;
                    let done = What::Incremented { reset_epoch, by, serving_counter };
                    if again { Vec::new() } else { vec![done] }
                },
            );
        }
        reply
    }

    /// Starts a room afresh, atomically: numbers begin at 1, every earlier request id, ticket and
    /// session is void; the settings stay. Returns the new reset epoch.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn reset(&self, room: &RoomId) -> Result<u64, StoreError> {
        self.reset_once(room, &self.call_name()).await
    }

    /// As [`Self::reset`], once for all calls of this name, which consists of letters, digits and `-._`.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn reset_once(&self, room: &RoomId, call: &str) -> Result<u64, StoreError> {
        let call = ToReset { room, call };
        let mut done = self.send_reset(&call).await;
        if is_unknown(&done) {
            done = self.send_reset(&call).await.or(done);
        }
        let done = done?;
        Ok(done.reset_epoch)
    }

    async fn send_reset(&self, call: &ToReset<'_>) -> Result<Reset, StoreError> {
        let noting = self.noting(Some(call.room), || vec![Call::Reset]).await;
        let sealed = self.replicated().call_sealed(&scripts::RESET, call.room, call).await;
        let reply = sealed.and_then(|sealed| begun(call.call, sealed));
        if let Some(noting) = noting {
            noting.settle(
                &reply,
                |_| None,
                |&Reset { reset_epoch, again }| {
                    if again { Vec::new() } else { vec![What::Reset { reset_epoch }] }
                },
            );
        }
        reply
    }
}

/// Whether the call may have taken effect or not. It takes effect once, so it can be sent again; that it fails in another way
/// then says nothing of the first time.
fn is_unknown<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

/// The reply, after the store has taken in what it may have to tell one day.
fn incremented(name: &str, sealed: Sealed<Incremented>) -> Result<Incremented, StoreError> {
    let Sealed { seal, answer, memory, era } = sealed;
    if !answer.again {
        memory.take_serving(answer.serving_counter, &seal);
    }
    remember(&memory, ("increment", name), KEPT_SECONDS, &answer)?;
    memory.confirm(era)?;
    Ok(answer)
}

/// The same, of a reset.
fn begun(name: &str, sealed: Sealed<Reset>) -> Result<Reset, StoreError> {
    let Sealed { answer, memory, era, .. } = sealed;
    remember(&memory, ("reset", name), KEPT_SECONDS, &answer)?;
    memory.confirm(era)?;
    Ok(answer)
}
