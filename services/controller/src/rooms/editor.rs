//! Changing a room's config: reads it, changes it, checks it, and starts over when another change came
//! in between. The settings in force now are not here but in the room's snapshot.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};
use vestibule_domain::{
    RoomId,
    schedule::{Event, RoomConfig},
};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::SiteBinding;
use vestibule_store::{Deletion, KnownRoom, People, PutOutcome};

use super::{
    directory::RoomDirectory,
    draw_seeds::DrawSeeds,
    future_rounds::{FutureRounds, new_round},
    issuers::ProviderIssuers,
    names::require_event_id,
    one_by_one::OneByOne,
    rollout::Rollout,
    routes::{busy, put_routes},
};
use crate::{
    access::Caller,
    api_types::{invalid_event, invalid_room, refuse, take_commitment},
    audit::{Trail, view_of_config},
    beacon::BeaconClient,
};

/// How often a change is tried when changes by other controllers come in between.
pub(super) const ATTEMPTS: usize = 5;

/// Changes configs. Every change waits until the admissions apply it; see [`Rollout`].
#[derive(Debug)]
pub(crate) struct ConfigEditor {
    pub(super) rooms: RoomDirectory,
    pub(super) draws: DrawSeeds,
    /// Asks the beacons that events name.
    pub(crate) future_rounds: FutureRounds,
    issuers: ProviderIssuers,
    pub(super) instance: Arc<str>,
    one_by_one: OneByOne,
    /// Numbers this instance's changes of routes.
    pub(super) route_changes: AtomicU64,
}

// === impl ConfigEditor ===

impl ConfigEditor {
    /// An editor of the configs of `rooms`, on the controller called `instance`, which asks `beacons`.
    pub(crate) fn new(
        rooms: RoomDirectory,
        draws: DrawSeeds,
        beacons: BeaconClient,
        issuers: ProviderIssuers,
        instance: Arc<str>,
    ) -> Self {
        let future_rounds = FutureRounds::new(beacons);
        let (one_by_one, route_changes) = (OneByOne::new(), AtomicU64::new(0));
        Self { rooms, draws, future_rounds, issuers, instance, one_by_one, route_changes }
    }

    /// Refuses settings of a room that are wrong in themselves or with one of its events that is not over at `now_s`, unix
    /// seconds, and such as the `caller` may not choose; `before`: as it is, `None`: it is new.
    ///
    /// # Errors
    /// A 403, or a 400 that names each wrong field, the reason and the event.
    pub(crate) fn check_settings(
        &self,
        caller: &Caller,
        before: Option<&RoomConfig>,
        config: &RoomConfig,
        now_s: u64,
    ) -> Result<(), Problem> {
        require_event_id(caller, before, config)?;
        let issuer =
            self.issuers.error_of_room(before.map(|before| &before.settings), &config.settings);
        refuse(invalid_room(), config.errors_of_settings(now_s).into_iter().chain(issuer).collect())
    }

    /// Changes the config of a room that exists, for the `caller`.
    ///
    /// # Errors
    /// What `change` refuses, 404 without the room, and 409 when others keep changing it.
    pub(crate) async fn change<T>(
        &self,
        caller: &Caller,
        trail: &Trail,
        room: &RoomId,
        mut change: impl FnMut(&mut RoomConfig) -> Result<T, Problem>,
    ) -> Result<(T, Rollout), Problem> {
        let turn = self.one_by_one.of_room(room).await?;
        for _ in 0..ATTEMPTS {
            let before = self.rooms.read_config(room).await?;
            let mut config = before.clone();
            let outcome = change(&mut config)?;
            trail.change(&view_of_config(room, &before), &view_of_config(room, &config));
            if self.put(caller, room, &before, &config).await? != PutOutcome::Conflict {
                drop(turn);
                return Ok((outcome, self.roll_out(room).await));
            }
        }
        Err(busy())
    }

    /// Changes the config of a room, which is created if it does not exist; `change` is told whether it is new. Returns
    /// the config as it is now, too.
    ///
    /// # Errors
    /// What `change` refuses, and 409 when others keep changing the room.
    pub(crate) async fn create_or_change(
        &self,
        caller: &Caller,
        trail: &Trail,
        room: &RoomId,
        change: impl Fn(&mut RoomConfig, bool) -> Result<(), Problem>,
    ) -> Result<((PutOutcome, RoomConfig), Rollout), Problem> {
        let turn = self.one_by_one.of_room(room).await?;
        for _ in 0..ATTEMPTS {
            let before = self.rooms.store.read_config(room).await;
            let before = before.map_err(|error| problem_of(&error))?;
            let mut config = before.clone().unwrap_or_default();
            change(&mut config, before.is_none())?;
            let view = |config: &RoomConfig| view_of_config(room, config);
            trail.change(&before.as_ref().map(view).into(), &view(&config));
            let put = self.put(caller, room, &before.unwrap_or_default(), &config).await?;
            if put != PutOutcome::Conflict {
                drop(turn);
                return Ok(((put, config), self.roll_out(room).await));
            }
        }
        Err(busy())
    }

    /// Deletes a room with all that belongs to it, if no more than so many `people` are in it.
    ///
    /// # Errors
    /// 404 without the room, 409 if more are in it, 503 while Redis cannot be reached.
    pub(crate) async fn delete(
        &self,
        trail: &Trail,
        room: &RoomId,
        people: u64,
    ) -> Result<Rollout, Problem> {
        let before = self.rooms.store.read_config(room).await;
        let before = before.map_err(|error| problem_of(&error))?;
        let view = before.as_ref().map(|config| view_of_config(room, config));
        trail.change(&view.into(), &Value::Null);
        match self.rooms.delete(room, people).await.map_err(|error| problem_of(&error))? {
            Deletion::Done(_) => Ok(self.roll_out(room).await),
            Deletion::Missing => Err(Problem::new(ProblemType::RoomNotFound)),
            Deletion::Occupied(people) => Err(occupied(people, "people", &[])),
        }
    }

    /// Changes one event, by `place`, as [`Self::change`] does. Refuses a beacon's round that is public
    /// before the start, because an operator could choose among known rounds.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(crate) async fn change_event(
        &self,
        caller: &Caller,
        trail: &Trail,
        room: &RoomId,
        mut place: impl FnMut(&mut RoomConfig) -> Result<(Event, bool), Problem>,
    ) -> Result<((Event, bool), Rollout), Problem> {
        let mut draft = self.rooms.read_config(room).await?;
        let before = draft.clone();
        let (event, _) = place(&mut draft)?;
        // A round that this very event named before, for the same start, is not checked again.
        if let Some(beacon) = new_round(&event, before.event(event.name.as_str())) {
            self.future_rounds.require(beacon, event.start).await?;
        }
        self.change(caller, trail, room, place).await
    }

    /// Puts `event` into the config of `room`, in the place of the one of its name. Returns it as
    /// it is there, and whether it is new.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub(crate) fn place_event(
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
        self.draws.settle(room, &mut event, before);
        match place {
            Some(place) => config.events[place] = event.clone(),
            None => config.events.push(event.clone()),
        }
        Ok((event, place.is_none()))
    }

    /// Seals the seeds of a room's draws that were announced under a secret that is being replaced; returns whether there
    /// were any. Nobody else sees a change.
    ///
    /// # Errors
    /// As [`Self::change`].
    pub(crate) async fn keep_seeds(&self, known: &KnownRoom) -> Result<bool, Problem> {
        let Some(stored) = known.stored_config() else { return Ok(false) };
        let room = &known.snapshot().room;
        if !self.draws.keep(room, &mut stored.config.events.clone(), &stored.draws) {
            return Ok(false);
        }
        let mut config = self.rooms.read_config(room).await?;
        if !self.draws.keep(room, &mut config.events, &stored.draws) {
            return Ok(false);
        }
        Ok(self.rooms.put_config(room, &config).await? != PutOutcome::Conflict)
    }

    async fn put(
        &self,
        caller: &Caller,
        room: &RoomId,
        before: &RoomConfig,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        if concerns_no_others(before, config) {
            return self.rooms.put_config(room, config).await;
        }
        let mut config = config.clone();
        config.note_given_up(before, self.rooms.now_ms_in(room).await? / 1000);
        let number = self.route_changes.fetch_add(1, Ordering::Relaxed);
        let change = format!("{}-{number}", self.instance);
        let _turn = self.one_by_one.of_routes().await?;
        put_routes(&self.rooms, (caller, &change), room, before, &config).await
    }

    async fn roll_out(&self, room: &RoomId) -> Rollout {
        Rollout::of_change(&self.rooms.store, room).await
    }
}

/// Whether nothing has changed that is compared with other rooms.
fn concerns_no_others(before: &RoomConfig, config: &RoomConfig) -> bool {
    let (now, was) = (&config.binding, &before.binding);
    let ids = |binding: &SiteBinding| {
        binding.oidc_clients.iter().map(|client| client.id.clone()).collect::<Vec<_>>()
    };
    let keeps_routes = now.routes == was.routes && now.cookie.has_names_of(&was.cookie);
    let keeps_event_id = config.settings.aws_event_id == before.settings.aws_event_id;
    before.version > 0 && keeps_routes && keeps_event_id && ids(now) == ids(was)
}

/// Refuses to delete a room with these people, unless `option` allows as many. The rooms of `done` were changed before.
pub(super) fn occupied(there: People, option: &str, done: &[RoomId]) -> Problem {
    let People { waiting, inside } = there;
    let people = there.count();
    let changed = match done.len() {
        0 => "Nothing was changed".to_owned(),
        1 => "One other room was changed before, see `done`, and nothing after it".to_owned(),
        count => {
            format!("{count} other rooms were changed before, see `done`, and nothing after them")
        }
    };
    let detail = format!(
        "{waiting} wait in this room and {inside} are inside, so it was not deleted. {changed}. To delete it with them, say \
         how many may be in it at most: `?{option}={people}`"
    );
    Problem::new(ProblemType::RoomOccupied)
        .detail(detail)
        .member("waiting", json!(waiting))
        .member("inside", json!(inside))
        .member("people", json!(people))
}
