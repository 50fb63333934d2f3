//! Ends sessions before their time, which frees their seats: at once, or when their tokens end.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, SeatEnds};
use vestibule_history::Call;

use crate::{Store, StoreError, memory::Ending, recording::answers, scripts, store::Sealed};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedAs {
    /// The visitor completed its purpose.
    Completed,
    /// The visitor gave up.
    Abandoned,
    /// An operator, or the site, ended it.
    Revoked,
}

/// A session to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Departure {
    /// The visitor's queue number.
    pub number: u64,
    /// How it ended.
    pub ended_as: EndedAs,
    /// Until when its seat counts as taken.
    pub seat: SeatEnds,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    reset_epoch: u64,
    region: &'a str,
    sessions: &'a [Departure],
}

#[derive(Deserialize)]
struct Reply {
    ended: Vec<bool>,
    expires_at: Vec<u64>,
}

// === impl EndedAs ===

impl EndedAs {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
            Self::Revoked => "revoked",
        }
    }
}

impl Store {
    /// Ends sessions; returns for each whether this call ended it. Every service is
    /// notified: see [`crate::KnownRoom::has_ended`].
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn leave(
        &self,
        room: &RoomId,
        reset_epoch: u64,
        departures: &[Departure],
    ) -> Result<Vec<bool>, StoreError> {
        let arguments =
            Arguments { room, reset_epoch, region: self.region(), sessions: departures };
        let numbers = || departures.iter().map(|departure| departure.number).collect();
        let call = || vec![Call::End { reset_epoch, numbers: numbers() }];
        let noting = self.noting(Some(room), call).await;
        let sealed = self.replicated().call_sealed(&scripts::LEAVE, room, &arguments).await;
        let reply = sealed.and_then(|sealed| read((reset_epoch, departures), sealed));
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| answers::ended(reset_epoch, departures, &reply.ended));
        }
        Ok(reply?.ended)
    }
}

/// The reply, after the store has taken in what it may have to tell one day.
fn read(
    (reset_epoch, departures): (u64, &[Departure]),
    sealed: Sealed<Reply>,
) -> Result<Reply, StoreError> {
    let Sealed { answer, memory, era, .. } = sealed;
    let ended = departures.iter().zip(&answer.expires_at).filter(|(_, until)| **until > 0);
    let endings = ended.map(|(one, until)| Ending::of_session(one.number, *until));
    memory.take_endings(reset_epoch, endings);
    memory.confirm(era)?;
    Ok(answer)
}
