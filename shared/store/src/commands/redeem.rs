//! Exchanges the token of a session, once.

use serde::{Deserialize, Serialize};
use vestibule_domain::{Redemption, RoomId};

use crate::{Store, StoreError, memory::Seat, scripts, store::Sealed};

/// What a redemption came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedeemOutcome {
    /// The session is redeemed: by this call, perhaps when it was sent before.
    Redeemed,
    /// Another call has redeemed it.
    Already(Redemption),
    /// There is no such session, or it has ended.
    NoSession,
}

#[derive(Serialize)]
struct Arguments<'a> {
    reset_epoch: u64,
    number: u64,
    calls: &'a [String],
}

#[derive(Deserialize)]
struct Reply {
    outcome: Outcome,
    at: Option<u64>,
    call: Option<String>,
    record: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Redeemed,
    Already,
    NoSession,
}

impl Store {
    /// Redeems the session of `number`. `calls`: the digests of what its caller calls it, so that it may be sent again,
    /// under each secret of the deployment, the current one first; none: it has no name.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn redeem(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        number: u64,
        calls: &[u64],
    ) -> Result<RedeemOutcome, StoreError> {
        let calls: Vec<String> = calls.iter().map(|call| format!("{call:016x}")).collect();
        let arguments = Arguments { reset_epoch, number, calls: &calls };
        let Sealed { answer, seal, memory, era } =
            self.replicated().call_sealed::<Reply>(&scripts::REDEEM, room, &arguments).await?;
        let Reply { outcome, at, call, record } = answer;
        // Should Redis forget, it is told that the session was redeemed.
        let seat = record.and_then(|record| {
            let expires_at = record.split('|').nth(1)?.parse().ok()?;
            let seen_at = (seal.stamp.generation, seal.stamp.seq);
            Some(Seat { number, record, expires_at, seen_at })
        });
        memory.take_seats(reset_epoch, seat);
        memory.confirm(era)?;
        Ok(match outcome {
            Outcome::Redeemed => RedeemOutcome::Redeemed,
            Outcome::Already => {
                let call = call.and_then(|call| u64::from_str_radix(&call, 16).ok());
                let (at, call) = (at.unwrap_or_default(), call.unwrap_or_default());
                RedeemOutcome::Already(Redemption { at, call })
            }
            Outcome::NoSession => RedeemOutcome::NoSession,
        })
    }
}
