//! What webhooks are told: the events, a bounded stream, and what the leader has noted of them.
//!
//! Whoever has an event writes it ([`Store::post_events`]); what the leader sees by itself is written together with what
//! it has seen ([`Store::note_observed`]), so that an event follows once, whoever leads. How far each webhook was told is
//! a text of the leader's ([`Store::note_delivery`]). It forgets what is old ([`Store::tidy_outbox`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::webhook::{EventStream, Place};

use crate::{
    Store, StoreError,
    keys::{DELIVERIES, EPOCH, OBSERVED, OUTBOX, VISITS_OUTBOX, WEBHOOKS},
    scripts,
};

/// The most events of a stream that are kept: those that no webhook was told yet are forgotten, too, if so many came later.
pub const MOST_EVENTS: u64 = 50_000;

/// An event that webhooks are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingEvent {
    /// Names it, however often it is sent.
    pub id: String,
    /// What happened, by its name.
    pub kind: String,
    /// The room; empty: it is of no room.
    pub room: String,
    /// What is sent: JSON.
    pub body: String,
}

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvent {
    /// Where.
    pub place: Place,
    /// The event.
    pub event: OutgoingEvent,
}

/// What the leader writes in one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// What was seen, by a name for each thing.
    pub seen: BTreeMap<String, String>,
    /// The names of things that are no more.
    pub forgotten: Vec<String>,
    /// What follows.
    pub events: Vec<OutgoingEvent>,
}

#[derive(Serialize)]
struct Posted<'a> {
    events: &'a [OutgoingEvent],
    most: u64,
}

#[derive(Deserialize)]
struct Nothing {}

#[derive(Serialize)]
struct Tidied<'a> {
    epoch: u64,
    read: Option<&'a str>,
    names: &'a [String],
    kept_ms: u64,
}

#[derive(Serialize)]
struct Noted<'a> {
    epoch: u64,
    seen: Vec<(&'a str, &'a str)>,
    forgotten: &'a [String],
    events: &'a [OutgoingEvent],
    most: u64,
}

#[derive(Serialize)]
struct Delivered<'a> {
    epoch: u64,
    name: &'a str,
    state: &'a str,
}

#[derive(Deserialize)]
struct Fenced {
    fenced_by: Option<u64>,
}

impl Store {
    /// Writes events down, the oldest first, and forgets the oldest of all beyond `most`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn post_events(
        &self,
        stream: EventStream,
        events: &[OutgoingEvent],
        most: u64,
    ) -> Result<(), StoreError> {
        let (keys, posted) = ([key(stream)], Posted { events, most });
        let Nothing {} = self.call_on(&scripts::POST_EVENTS, &keys, &posted).await?;
        Ok(())
    }

    /// Events after `place`, the oldest first; and whether the one at `place` is there still.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_events(
        &self,
        stream: EventStream,
        place: &Place,
        limit: usize,
    ) -> Result<(Vec<KeptEvent>, bool), StoreError> {
        let mut read = redis::cmd("XRANGE");
        // One more, since the one at the place may be there.
        read.arg(key(stream)).arg(&place.id).arg("+").arg("COUNT").arg(limit + 1);
        let entries: Vec<(String, Vec<String>)> = self.query(&read).await?;
        let mut events: Vec<_> = entries.into_iter().map(kept).collect();
        let is_there = events.first().is_some_and(|first| first.place == *place);
        events.drain(..usize::from(is_there));
        events.truncate(limit);
        Ok((events, is_there))
    }

    /// Where a stream ends; `None`: it is empty.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn last_event(&self, stream: EventStream) -> Result<Option<Place>, StoreError> {
        let mut read = redis::cmd("XREVRANGE");
        read.arg(key(stream)).arg("+").arg("-").arg("COUNT").arg(1);
        let entries: Vec<(String, Vec<String>)> = self.query(&read).await?;
        Ok(entries.into_iter().next().map(|entry| kept(entry).place))
    }

    /// Forgets events that are older than `kept_ms`, and how far webhooks were told that are not noted under one of
    /// `names`; without names all of it. It is as if nothing was asked if the webhooks' text is no longer `read`.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a later leader than that of term `epoch` has begun; otherwise see [`StoreError`].
    pub async fn tidy_outbox(
        &self,
        epoch: u64,
        stream: EventStream,
        (read, names): (Option<&str>, &[String]),
        kept_ms: u64,
    ) -> Result<(), StoreError> {
        let tidied = Tidied { epoch, read, names, kept_ms };
        let keys = [EPOCH, WEBHOOKS, DELIVERIES, key(stream)];
        unfenced(self.call_on(&scripts::TIDY_OUTBOX, &keys, &tidied).await?)
    }

    /// What leaders have seen, by the name of each thing.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn observed(&self) -> Result<BTreeMap<String, String>, StoreError> {
        self.query(redis::cmd("HGETALL").arg(OBSERVED)).await
    }

    /// Writes what the leader of term `epoch` has seen, and what follows.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a later leader has begun; otherwise see [`StoreError`].
    pub async fn note_observed(
        &self,
        epoch: u64,
        observed: &Observed,
        most: u64,
    ) -> Result<(), StoreError> {
        let seen = observed.seen.iter().map(|(name, text)| (&**name, &**text)).collect();
        let (forgotten, events) = (&observed.forgotten, &observed.events);
        let noted = Noted { epoch, seen, forgotten, events, most };
        let keys = [EPOCH, OBSERVED, OUTBOX];
        unfenced(self.call_on(&scripts::NOTE_OBSERVED, &keys, &noted).await?)
    }

    /// How far each webhook was told, by its name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn deliveries(&self) -> Result<BTreeMap<String, String>, StoreError> {
        self.query(redis::cmd("HGETALL").arg(DELIVERIES)).await
    }

    /// Notes how far a webhook was told, as the leader of term `epoch`.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a later leader has begun; otherwise see [`StoreError`].
    pub async fn note_delivery(
        &self,
        epoch: u64,
        name: &str,
        state: &str,
    ) -> Result<(), StoreError> {
        let delivered = Delivered { epoch, name, state };
        let keys = [EPOCH, DELIVERIES];
        unfenced(self.call_on(&scripts::NOTE_DELIVERY, &keys, &delivered).await?)
    }
}

fn unfenced(Fenced { fenced_by }: Fenced) -> Result<(), StoreError> {
    fenced_by.map_or(Ok(()), |epoch| Err(StoreError::Fenced { epoch }))
}

fn key(stream: EventStream) -> &'static str {
    match stream {
        EventStream::Main => OUTBOX,
        EventStream::Visitors => VISITS_OUTBOX,
    }
}

/// Fields that a later release has added do not count.
fn kept((id, fields): (String, Vec<String>)) -> KeptEvent {
    let field = |name: &str| {
        let at = fields.iter().step_by(2).position(|field| field == name);
        at.and_then(|at| fields.get(2 * at + 1)).cloned().unwrap_or_default()
    };
    let place = Place { id, nth: field("nth").parse().unwrap_or(0) };
    let (kind, room, body) = (field("kind"), field("room"), field("body"));
    KeptEvent { place, event: OutgoingEvent { id: field("id"), kind, room, body } }
}
