//! Giving places in line back.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, recording::answers, scripts, store::Sealed};

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
    over: Vec<OverIn>,
}

/// Where a place is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OverIn {
    Line,
    Pool,
    Nowhere,
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
        let sealed = self.replicated().call_sealed(&scripts::GIVE_UP, room, &arguments).await;
        let reply = sealed.and_then(|sealed| read((reset_epoch, places), sealed));
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| answers::given_up(reset_epoch, places, &reply.given_up));
        }
        Ok(reply?.given_up)
    }
}

/// The reply, after the store has taken in what it may have to tell one day.
fn read(
    (reset_epoch, places): (u64, &[GivenUp]),
    sealed: Sealed<Reply>,
) -> Result<Reply, StoreError> {
    let Sealed { answer, memory, era, .. } = sealed;
    let of = |over: OverIn| {
        let places = places.iter().zip(&answer.over).filter(move |(_, it)| **it == over);
        places.map(|(place, _)| place)
    };
    let positions = of(OverIn::Line).filter_map(|place| place.position);
    memory.take_entered(reset_epoch, positions);
    memory.take_gone_from_pools(reset_epoch, of(OverIn::Pool).map(|place| place.number));
    memory.confirm(era)?;
    Ok(answer)
}
