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
    /// An older release does not keep it.
    #[serde(default)]
    before: Option<i64>,
    serving_counter: i64,
    by: i64,
    again: bool,
}

/// What an increment did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Where the counter stood before; `None`: an older release answered the call, and did not keep it.
    pub from: Option<i64>,
    /// Where it stands.
    pub to: i64,
    /// An earlier call of this name did it, and this one nothing.
    pub again: bool,
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

/// What a reset did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// The new reset epoch.
    pub reset_epoch: u64,
    /// An earlier call of this name did it, and this one nothing.
    pub again: bool,
}

impl Store {
    /// Moves the serving counter by `by`, which may be negative or 0; returns where it stands.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn increment(&self, room: &RoomId, by: i64) -> Result<i64, StoreError> {
        let moved = self.increment_once(room, &self.call_name(), by).await?;
        let moved = moved.ok_or_else(|| StoreError::unexpected("a name that was given before"))?;
        Ok(moved.to)
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
    ) -> Result<Option<Moved>, StoreError> {
        let call = Increment { room, call, by };
        let mut done = self.send_increment(&call).await;
        let is_sent_again = is_unknown(&done);
        if is_sent_again {
            done = self.send_increment(&call).await.or(done);
        }
        let Incremented { before: from, serving_counter: to, by: moved_by, again, .. } = done?;
        // That it was done before may be known from the first of the two.
        let moved = Moved { from, to, again: again && !is_sent_again };
        Ok((moved_by == by).then_some(moved))
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
                    let &Incremented { reset_epoch, serving_counter, by, again, .. } = reply;
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
        Ok(self.reset_once(room, &self.call_name()).await?.reset_epoch)
    }

    /// As [`Self::reset`], once for all calls of this name, which consists of letters, digits and `-._`.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn reset_once(&self, room: &RoomId, call: &str) -> Result<Begun, StoreError> {
        let call = ToReset { room, call };
        let mut done = self.send_reset(&call).await;
        let is_sent_again = is_unknown(&done);
        if is_sent_again {
            done = self.send_reset(&call).await.or(done);
        }
        let Reset { reset_epoch, again } = done?;
        Ok(Begun { reset_epoch, again: again && !is_sent_again })
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
