//! A room's config: reading it, changing it, and starting over when someone else's change came
//! in between. What is in force now is not here: the room's snapshot has it.

use vestibule_domain::{
    RoomId, draw,
    schedule::{Beacon, Event, RoomConfig},
};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_store::{PutOutcome, StoreError};

use crate::{
    api_types::{invalid_event, invalid_room, refuse, take_commitment},
    beacon::{BeaconClient, BeaconReply},
    rooms::RoomError,
    state::Controller,
};

/// How often a change starts over because someone else's came in between.
const ATTEMPTS: usize = 5;

// === impl Controller ===

impl Controller {
    /// What operators have planned for the room, as Redis holds it this moment.
    ///
    /// # Errors
    /// [`RoomError`].
    pub async fn read_config(&self, room: &RoomId) -> Result<RoomConfig, RoomError> {
        match self.store.read_config(room).await? {
            Some(config) => Ok(config),
            None => Err(self.explain(room, StoreError::RoomMissing).await),
        }
    }

    /// Changes the config of a room that is there.
    ///
    /// # Errors
    /// What `change` refuses, 404 without the room, and 409 when others keep changing it.
    pub async fn change_config<T>(
        &self,
        room: &RoomId,
        mut change: impl FnMut(&mut RoomConfig) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        for _ in 0..ATTEMPTS {
            let before = self.read_config(room).await?;
            let mut config = before.clone();
            let outcome = change(&mut config)?;
            if self.put_config(room, &before, &config).await? != PutOutcome::Conflict {
                return Ok(outcome);
            }
        }
        Err(busy())
    }

    /// Changes the config of a room, which is created if it is not there.
    ///
    /// # Errors
    /// As [`Self::change_config`], but for the 404.
    pub async fn make_config(
        &self,
        room: &RoomId,
        change: impl Fn(&mut RoomConfig) -> Result<(), Problem>,
    ) -> Result<PutOutcome, Problem> {
        for _ in 0..ATTEMPTS {
            let before = self.store.read_config(room).await;
            let before = before.map_err(|error| problem_of(&error))?.unwrap_or_default();
            let mut config = before.clone();
            change(&mut config)?;
            let put = self.put_config(room, &before, &config).await?;
            if put != PutOutcome::Conflict {
                return Ok(put);
            }
        }
        Err(busy())
    }

    /// Changes one event, by `place`, as [`Self::change_config`] does. A beacon's round that is known
    /// already is refused: whoever knows it could choose among rounds.
    ///
    /// # Errors
    /// As [`Self::change_config`].
    pub async fn change_event(
        &self,
        room: &RoomId,
        mut place: impl FnMut(&mut RoomConfig) -> Result<(Event, bool), Problem>,
    ) -> Result<(Event, bool), Problem> {
        let mut draft = self.read_config(room).await?;
        let before = draft.clone();
        let (event, _) = place(&mut draft)?;
        // Of this very event: another one may have been bound to the round before it was known.
        let bound = before.event(event.name.as_str()).and_then(|event| event.beacon.as_ref());
        if let Some(beacon) = event.beacon.as_ref().filter(|beacon| Some(*beacon) != bound) {
            require_future_round(beacon).await?;
        }
        self.change_config(room, place).await
    }

    /// Puts `event` into the config of `room`, in the place of the one of its name; tells it as it
    /// is there, and whether it is new.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn place_event(
        &self,
        room: &RoomId,
        config: &mut RoomConfig,
        mut event: Event,
        now_s: u64,
    ) -> Result<(Event, bool), Problem> {
        let place = config.events.iter().position(|other| other.name == event.name);
        let before = place.map(|place| &config.events[place]);
        take_commitment(&mut event, before)?;
        refuse(invalid_event(), config.errors_of_change(&event, before, now_s))?;
        self.settle_draw(room, &mut event, before);
        match place {
            Some(place) => config.events[place] = event.clone(),
            None => config.events.push(event.clone()),
        }
        Ok((event, place.is_none()))
    }

    /// Redis's time, unix ms.
    ///
    /// # Errors
    /// 503 while Redis cannot tell.
    pub async fn now_ms(&self) -> Result<u64, Problem> {
        self.store.now_ms().await.map_err(|error| problem_of(&error))
    }

    async fn put_config(
        &self,
        room: &RoomId,
        before: &RoomConfig,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        let (now, was) = (&config.binding, &before.binding);
        if now.routes == was.routes && now.cookie.suffix == was.cookie.suffix {
            self.put_as_it_is(room, config).await
        } else {
            self.put_routes(room, config).await
        }
    }

    /// Puts a config without looking at other rooms.
    pub(crate) async fn put_as_it_is(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        let put = self.store.put_config(room, config).await;
        let put = put.map_err(|error| problem_of(&error))?;
        if put != PutOutcome::Conflict {
            self.take_in(room).await;
        }
        Ok(put)
    }

    /// Gives an event with a draw its seed, and keeps the one that it has.
    fn settle_draw(&self, room: &RoomId, event: &mut Event, before: Option<&Event>) {
        if !event.draw {
            return;
        }
        if let Some(before) = before.filter(|before| before.draw) {
            event.draw_id.clone_from(&before.draw_id);
            event.commitment.clone_from(&before.commitment);
            return;
        }
        event.draw_id = format!("{:032x}", rand::random::<u128>());
        let seed = self.secret.draw_seed(room, &event.draw_id);
        event.commitment = Some(draw::commitment(&seed));
    }
}

/// Refuses a round that the beacon has published already. A beacon that cannot be reached is no
/// reason to refuse: what the draw does without it is stated.
async fn require_future_round(beacon: &Beacon) -> Result<(), Problem> {
    match BeaconClient::default().ask(beacon).await {
        BeaconReply::Verified(_) => Err(invalid_event()
            .field("beacon.round", "is known already; name one that is published after the start")),
        BeaconReply::NotYet => Ok(()),
        BeaconReply::Wrong(reason) => {
            tracing::warn!(%reason, url = %beacon.url, "the beacon of an event did not answer");
            Ok(())
        }
    }
}

/// Refuses settings of a room that are wrong in themselves or with one of its events.
///
/// # Errors
/// A 400 that names each wrong field, the reason and the event.
pub(crate) fn check_settings(config: &RoomConfig) -> Result<(), Problem> {
    refuse(invalid_room(), config.errors_of_settings())
}

/// A 409: the change was begun anew too often.
pub(crate) fn busy() -> Problem {
    Problem::new(ProblemType::Conflict).detail("others keep changing this room")
}

#[cfg(test)]
mod tests;
