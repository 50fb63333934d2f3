//! What the leader sees by itself: what changes in rooms, and which alarms fire. How it saw them last is in Redis,
//! written together with the events that follow, so that a change of leaders neither repeats nor loses one. Means of some
//! minutes begin anew with each leader.

use std::{collections::BTreeMap, sync::Arc};

use vestibule_domain::{
    RoomId, RoomSnapshot,
    alarm::{Alarm, Alarms, deployment_conditions, room_conditions},
    room_news::RoomWatch,
    webhook::EventKind,
};
use vestibule_store::{KnownRoom, MOST_EVENTS, Observed, OutgoingEvent, ServerCheck, StoreError};

use super::{metrics::MinuteFigures, sight::Sight};
use crate::{state::Controller, webhooks::news};

const ROOM: &str = "room:";
const ALARM: &str = "alarm:";

/// What it has seen.
#[derive(Debug)]
pub(super) struct Observer {
    epoch: u64,
    /// What Redis has of it; `None`: it was not read yet, or nobody wants to be told.
    written: Option<BTreeMap<String, String>>,
    rooms: BTreeMap<RoomId, RoomWatch>,
    alarms: Alarms,
    sight: Sight,
    minute: MinuteFigures,
}

// === impl Observer ===

impl Observer {
    /// Sees nothing yet.
    pub(super) fn new() -> Self {
        Self {
            epoch: 0,
            written: None,
            rooms: BTreeMap::new(),
            alarms: Alarms::default(),
            sight: Sight::default(),
            minute: MinuteFigures::default(),
        }
    }

    /// Sees everything anew, in term `epoch`.
    pub(super) fn begin(&mut self, epoch: u64) {
        let mut sight = std::mem::take(&mut self.sight);
        sight.begin();
        *self = Self { epoch, sight, ..Self::new() };
    }

    /// Looks once, if somebody wants to be told.
    pub(super) async fn look(&mut self, controller: &Controller, check: &ServerCheck) {
        let is_wanted = controller.outbox.known().set.on().next().is_some();
        let looked = if is_wanted {
            self.observe(controller, check).await
        } else {
            self.forget(controller).await
        };
        match looked {
            Err(StoreError::Fenced { epoch: by }) => {
                controller.leadership.overtaken(self.epoch, by);
            }
            Err(error) => {
                tracing::debug!(%error, "what was seen for webhooks could not be written down");
                // What Redis has now is not known.
                self.written = None;
            }
            Ok(()) => {}
        }
    }

    async fn observe(
        &mut self,
        controller: &Controller,
        check: &ServerCheck,
    ) -> Result<(), StoreError> {
        if !controller.feed.knows_every_room() {
            return Ok(());
        }
        if self.written.is_none() {
            self.read(controller.store.observed().await?);
        }
        let now_ms = controller.store.now_ms().await?;
        let rooms = controller.feed.rooms();
        let snapshots: Vec<_> = rooms.iter().map(|known| known.snapshot()).collect();
        let mut events = self.see_rooms(controller, &snapshots, now_ms);
        events.extend(self.see_alarms(controller, check, (&rooms, &snapshots), now_ms));
        self.write(controller, events).await?;
        self.minute.tell(controller, &snapshots, now_ms).await
    }

    /// Takes in what an earlier leader has seen. What a later release has written stays.
    fn read(&mut self, written: BTreeMap<String, String>) {
        (self.rooms, self.alarms) = (BTreeMap::new(), Alarms::default());
        for (name, text) in &written {
            if let Some(room) = name.strip_prefix(ROOM) {
                let watch = serde_json::from_str(text).ok();
                self.rooms.extend(RoomId::new(room).ok().zip(watch));
            } else if let Some((alarm, subject)) = alarm_named(name) {
                let pending = serde_json::from_str(text).ok();
                let pending = pending.map(|pending| ((alarm, subject.to_owned()), pending));
                self.alarms.pending.extend(pending);
            }
        }
        self.written = Some(written);
    }

    fn see_rooms(
        &mut self,
        controller: &Controller,
        rooms: &[Arc<RoomSnapshot>],
        now_ms: u64,
    ) -> Vec<OutgoingEvent> {
        let mut before = std::mem::take(&mut self.rooms);
        let mut events = Vec::new();
        for room in rooms {
            let known = before.remove(&room.room);
            let mut watch = known.unwrap_or_else(|| RoomWatch::first(room));
            for news in watch.see(room, now_ms) {
                let (kind, data) = news::of_room(room.room.as_str(), &news);
                events.extend(wanted(controller, kind, room.room.as_str(), now_ms, data));
            }
            self.rooms.insert(room.room.clone(), watch);
        }
        events
    }

    fn see_alarms(
        &mut self,
        controller: &Controller,
        check: &ServerCheck,
        (known, rooms): (&[Arc<KnownRoom>], &[Arc<RoomSnapshot>]),
        now_ms: u64,
    ) -> Vec<OutgoingEvent> {
        self.sight.see(rooms);
        let mut conditions = Vec::new();
        for room in rooms {
            conditions.extend(room_conditions(self.sight.room(room, now_ms)));
        }
        let seen = self.sight.deployment(controller, check, known, now_ms);
        conditions.extend(deployment_conditions(&seen));
        let changes = self.alarms.see(now_ms, conditions);
        let event = |change| {
            let (kind, data) = news::of_alarm(change);
            let room = change.about.room.as_ref().map_or("", RoomId::as_str);
            wanted(controller, kind, room, now_ms, data)
        };
        changes.iter().filter_map(event).collect()
    }

    /// Writes what is seen otherwise than it was written, and the events.
    async fn write(
        &mut self,
        controller: &Controller,
        events: Vec<OutgoingEvent>,
    ) -> Result<(), StoreError> {
        let Some(written) = &mut self.written else { return Ok(()) };
        let mut now: BTreeMap<String, String> = BTreeMap::new();
        for (room, watch) in &self.rooms {
            now.extend(
                serde_json::to_string(watch).ok().map(|text| (format!("{ROOM}{room}"), text)),
            );
        }
        for ((alarm, subject), pending) in &self.alarms.pending {
            let name = format!("{ALARM}{}:{subject}", alarm.name());
            now.extend(serde_json::to_string(pending).ok().map(|text| (name, text)));
        }
        let mut seen = now.clone();
        seen.retain(|name, text| written.get(name) != Some(text));
        let is_ours = |name: &&String| name.starts_with(ROOM) || alarm_named(name).is_some();
        let gone = written.keys().filter(|name| !now.contains_key(*name)).filter(is_ours);
        let forgotten: Vec<String> = gone.cloned().collect();
        if seen.is_empty() && forgotten.is_empty() && events.is_empty() {
            return Ok(());
        }
        let observed = Observed { seen, forgotten, events };
        controller.store.note_observed(self.epoch, &observed, MOST_EVENTS).await?;
        *written = now;
        Ok(())
    }

    /// Nobody wants to be told: what was seen says nothing to whoever wants it one day.
    async fn forget(&mut self, controller: &Controller) -> Result<(), StoreError> {
        if self.written.as_ref().is_some_and(BTreeMap::is_empty) {
            return Ok(());
        }
        let forgotten: Vec<_> = controller.store.observed().await?.into_keys().collect();
        if !forgotten.is_empty() {
            let observed = Observed { forgotten, ..Observed::default() };
            controller.store.note_observed(self.epoch, &observed, MOST_EVENTS).await?;
        }
        self.begin(self.epoch);
        self.written = Some(BTreeMap::new());
        Ok(())
    }
}

fn wanted(
    controller: &Controller,
    kind: EventKind,
    room: &str,
    now_ms: u64,
    data: serde_json::Value,
) -> Option<OutgoingEvent> {
    let outbox = &controller.outbox;
    outbox.wants(kind, room).then(|| outbox.event(kind.name(), room, now_ms, data))
}

/// The alarm and the subject that are written under this name.
fn alarm_named(name: &str) -> Option<(Alarm, &str)> {
    let (alarm, subject) = name.strip_prefix(ALARM)?.split_once(':')?;
    Some((Alarm::of_name(alarm)?, subject))
}
