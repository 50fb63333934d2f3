//! What the leader sees by itself: what changes in rooms, and which alarms fire. How it saw them last is in Redis,
//! written together with the events that follow, so that a change of leaders neither repeats nor loses one. Means of some
//! minutes begin anew with each leader.

use std::{collections::BTreeMap, sync::Arc};

use vestibule_domain::{
    RoomId, RoomSnapshot,
    alarm::{Alarm, Alarms, deployment_conditions, room_conditions},
    room_news::{RoomWatch, ServingWatch},
    webhook::EventKind,
};
use vestibule_store::{KnownRoom, MOST_EVENTS, Observed, OutgoingEvent, ServerCheck, StoreError};

use super::{
    metrics, serving,
    sight::{Sight, deployment},
};
use crate::{state::Controller, webhooks::news};

const ROOM: &str = "room:";
const ALARM: &str = "alarm:";
const SERVING: &str = "serving:";
const MINUTE: &str = "minute";

/// What it has seen.
#[derive(Debug)]
pub(super) struct Observer {
    /// What Redis has of it; `None`: it was not read yet, or nobody wants to be told.
    written: Option<BTreeMap<String, String>>,
    rooms: BTreeMap<RoomId, RoomWatch>,
    alarms: Alarms,
    serving: BTreeMap<RoomId, ServingWatch>,
    /// In which minute figures were told last.
    minute: Option<u64>,
    sight: Sight,
}

// === impl Observer ===

impl Observer {
    /// Sees nothing yet.
    pub(super) fn new() -> Self {
        Self {
            written: None,
            rooms: BTreeMap::new(),
            alarms: Alarms::default(),
            serving: BTreeMap::new(),
            minute: None,
            sight: Sight::default(),
        }
    }

    /// Looks once, if somebody wants to be told, as the leader of term `epoch`.
    pub(super) async fn look(&mut self, controller: &Controller, check: &ServerCheck, epoch: u64) {
        let looked = if controller.outbox.known().set.webhooks.is_empty() {
            self.forget(controller, epoch).await
        } else {
            self.observe(controller, check, epoch).await
        };
        match looked {
            Err(StoreError::Fenced { epoch: by }) => {
                controller.leadership.overtaken(epoch, by);
                // It was not written; the next term may be its own.
                self.written = None;
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
        epoch: u64,
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
        events.extend(serving::see(controller, &mut self.serving, &snapshots, now_ms).await);
        let figures = metrics::of_the_minute(controller, &mut self.minute, &snapshots, now_ms);
        events.extend(figures.await);
        self.write(controller, epoch, events).await
    }

    /// Takes in what an earlier leader has seen. What a later release has written stays.
    fn read(&mut self, written: BTreeMap<String, String>) {
        (self.rooms, self.alarms) = (BTreeMap::new(), Alarms::default());
        self.serving.clear();
        self.minute = written.get(MINUTE).and_then(|text| text.parse().ok());
        for (name, text) in &written {
            if let Some(room) = name.strip_prefix(ROOM) {
                let watch = serde_json::from_str(text).ok();
                self.rooms.extend(RoomId::new(room).ok().zip(watch));
            } else if let Some(room) = name.strip_prefix(SERVING) {
                let watch = serde_json::from_str(text).ok();
                self.serving.extend(RoomId::new(room).ok().zip(watch));
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
        let seen = deployment(controller, check, known, now_ms);
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
        epoch: u64,
        events: Vec<OutgoingEvent>,
    ) -> Result<(), StoreError> {
        let now = self.texts();
        let Some(written) = &mut self.written else { return Ok(()) };
        let mut seen = now.clone();
        seen.retain(|name, text| written.get(name) != Some(text));
        let gone = written.keys().filter(|name| !now.contains_key(*name) && is_ours(name));
        let forgotten: Vec<String> = gone.cloned().collect();
        if seen.is_empty() && forgotten.is_empty() && events.is_empty() {
            return Ok(());
        }
        let observed = Observed { seen, forgotten, events };
        controller.store.note_observed(epoch, &observed, MOST_EVENTS).await?;
        *written = now;
        Ok(())
    }

    /// What is written of what it has seen.
    fn texts(&self) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (room, watch) in &self.rooms {
            texts.extend(serde_json::to_string(watch).ok().map(|it| (format!("{ROOM}{room}"), it)));
        }
        for (room, watch) in &self.serving {
            let text = serde_json::to_string(watch).ok();
            texts.extend(text.map(|it| (format!("{SERVING}{room}"), it)));
        }
        for ((alarm, subject), pending) in &self.alarms.pending {
            let name = format!("{ALARM}{}:{subject}", alarm.name());
            texts.extend(serde_json::to_string(pending).ok().map(|text| (name, text)));
        }
        texts.extend(self.minute.map(|minute| (MINUTE.to_owned(), minute.to_string())));
        texts
    }

    /// Nobody wants to be told: what was seen says nothing to whoever wants it one day.
    async fn forget(&mut self, controller: &Controller, epoch: u64) -> Result<(), StoreError> {
        if self.written.as_ref().is_some_and(BTreeMap::is_empty) {
            return Ok(());
        }
        let forgotten: Vec<_> = controller.store.observed().await?.into_keys().collect();
        if !forgotten.is_empty() {
            let observed = Observed { forgotten, ..Observed::default() };
            controller.store.note_observed(epoch, &observed, MOST_EVENTS).await?;
        }
        *self = Self { written: Some(BTreeMap::new()), ..Self::new() };
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

/// Whether this release knows what is written under this name.
fn is_ours(name: &str) -> bool {
    let is_of_a_room = name.starts_with(ROOM) || name.starts_with(SERVING);
    is_of_a_room || name == MINUTE || alarm_named(name).is_some()
}

/// The alarm and the subject that are written under this name.
fn alarm_named(name: &str) -> Option<(Alarm, &str)> {
    let (alarm, subject) = name.strip_prefix(ALARM)?.split_once(':')?;
    Some((Alarm::of_name(alarm)?, subject))
}
