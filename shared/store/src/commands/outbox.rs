//! What webhooks are told: the events, a bounded stream, and what the leader has noted of them.
//!
//! Whoever has an event writes it ([`Store::post_events`]); what the leader sees by itself is written together with what
//! it has seen ([`Store::note_observed`]), so that an event follows once, whoever leads. How far each webhook was told is
//! a text of the leader's ([`Store::note_delivery`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    keys::{DELIVERIES, EPOCH, OBSERVED, OUTBOX},
    scripts,
};

/// The most events that are kept: those that no webhook was told yet are forgotten, too, if so many came later.
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
struct Last {
    last: String,
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
    state: Option<&'a str>,
}

#[derive(Deserialize)]
struct Fenced {
    fenced_by: Option<u64>,
}

impl Store {
    /// Writes events down, the oldest first, and forgets the oldest of all beyond `most`. Returns where the stream ends.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn post_events(
        &self,
        events: &[OutgoingEvent],
        most: u64,
    ) -> Result<Option<String>, StoreError> {
        let posted: Last =
            self.call_on(&scripts::POST_EVENTS, &[OUTBOX], &Posted { events, most }).await?;
        Ok(Some(posted.last).filter(|last| !last.is_empty()))
    }

    /// Events after `cursor`, the oldest first, each with its place; and whether the event at `cursor` is there still.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_events(
        &self,
        cursor: &str,
        limit: usize,
    ) -> Result<(Vec<(String, OutgoingEvent)>, bool), StoreError> {
        let mut read = redis::cmd("XRANGE");
        // One more, since the one at the cursor may be there.
        read.arg(OUTBOX).arg(cursor).arg("+").arg("COUNT").arg(limit + 1);
        let entries: Vec<(String, Vec<String>)> = self.query(&read).await?;
        let is_there = entries.first().is_some_and(|(place, _)| place == cursor);
        let after = entries.into_iter().filter(|(place, _)| place != cursor).take(limit);
        Ok((after.map(|(place, fields)| (place, event(&fields))).collect(), is_there))
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

    /// Notes how far a webhook was told, as the leader of term `epoch`; `None`: there is no such webhook any more.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a later leader has begun; otherwise see [`StoreError`].
    pub async fn note_delivery(
        &self,
        epoch: u64,
        name: &str,
        state: Option<&str>,
    ) -> Result<(), StoreError> {
        let delivered = Delivered { epoch, name, state };
        let keys = [EPOCH, DELIVERIES];
        unfenced(self.call_on(&scripts::NOTE_DELIVERY, &keys, &delivered).await?)
    }
}

fn unfenced(Fenced { fenced_by }: Fenced) -> Result<(), StoreError> {
    fenced_by.map_or(Ok(()), |epoch| Err(StoreError::Fenced { epoch }))
}

/// Fields that a later release has added do not count.
fn event(fields: &[String]) -> OutgoingEvent {
    let field = |name: &str| {
        let at = fields.iter().step_by(2).position(|field| field == name);
        at.and_then(|at| fields.get(2 * at + 1)).cloned().unwrap_or_default()
    };
    OutgoingEvent { id: field("id"), kind: field("kind"), room: field("room"), body: field("body") }
}
