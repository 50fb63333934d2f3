//! Touching: sessions of visitors inside live on while they are seen.

use vestibule_domain::RoomId;

use super::{TokenRecord, claim::Answer, keys};
use crate::{Store, StoreError, keys::Part, scripts};

/// One visitor inside who was seen, and what its ticket says of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The reset epoch that its request id was sealed for.
    pub reset_epoch: u64,
    /// Its queue number.
    pub number: u64,
    /// Where the number stands in the line.
    pub position: u64,
    /// The room's generation when the session began.
    pub generation: u32,
    /// Unix seconds.
    pub issued_at: u64,
    /// Unix seconds.
    pub expires_at: u64,
}

/// What became of one touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's generation.
    pub generation: u32,
    /// The session's token as it now is; `None`: the session has ended.
    pub session: Option<TokenRecord>,
}

impl Store {
    /// Renews a batch of sessions. `key_id` and `issuer` are for tokens that are due for renewal.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn touch(
        &self,
        room: &RoomId,
        key_id: &str,
        issuer: &str,
        touches: &[Touch],
    ) -> Result<Vec<Touched>, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Sessions, Part::Records, Part::Entered];
        let mut call = self.timed(&scripts::TOUCH, &keys(room, parts));
        call.arg(key_id).arg(issuer);
        for touch in touches {
            call.arg(touch.reset_epoch).arg(touch.number).arg(touch.position).arg(touch.generation);
            call.arg(touch.issued_at).arg(touch.expires_at);
        }
        let (now_ms, generation, answers): (u64, u32, Vec<Vec<redis::Value>>) =
            self.run(&call).await?;
        let one = |answer| Ok(Touched { now_ms, generation, session: session(answer)? });
        answers.into_iter().map(one).collect()
    }
}

fn session(mut answer: Vec<redis::Value>) -> Result<Option<TokenRecord>, StoreError> {
    answer.resize(5, redis::Value::Nil);
    let answer: Answer =
        redis::from_redis_value(redis::Value::Array(answer)).map_err(StoreError::unexpected)?;
    Ok(TokenRecord::from_reply(answer))
}
