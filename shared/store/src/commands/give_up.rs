//! Giving places in line back.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, recording::answers, scripts};

/// A place that is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GivenUp {
    /// The visitor's queue number.
    pub number: u64,
    /// Where it stands in the line; `None`: it waits for its draw.
    pub position: Option<u64>,
    /// The digest of its visitor's network; `None` where nothing is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<u64>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    reset_epoch: u64,
    region: &'a str,
    draws: usize,
    places: &'a [GivenUp],
}

#[derive(Deserialize)]
struct Reply {
    given_up: Vec<bool>,
}

impl Store {
    /// Gives places back, of this reset epoch, whose positions take so many draws into account; returns for
    /// each whether this call did. A place that is over stays as it is.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn give_up(
        &self,
        room: &RoomId,
        (reset_epoch, draws): (u64, usize),
        places: &[GivenUp],
    ) -> Result<Vec<bool>, StoreError> {
        let arguments = Arguments { reset_epoch, region: self.region(), draws, places };
        let call = || vec![answers::give_up_call(reset_epoch, places)];
        let noting = self.noting(Some(room), call).await;
        let reply: Result<Reply, _> =
            self.replicated().call(&scripts::GIVE_UP, room, &arguments).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| answers::given_up(reset_epoch, places, &reply.given_up));
        }
        Ok(reply?.given_up)
    }
}
