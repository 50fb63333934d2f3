//! The webhooks of a deployment, as Redis has them. Their secrets are sealed; what seals them is not here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{EventKind, EventStream, Place};
use crate::{RoomId, access::RoomScope};

/// The most webhooks of a deployment.
pub const MAX_WEBHOOKS: usize = 16;

/// For how long the secret before signs, too, after another one has come, in seconds: a day.
pub const OVERLAP_SECONDS: u64 = 24 * 60 * 60;

/// The most secrets that sign beside the current one.
pub const MOST_OLD_SECRETS: usize = 3;

/// Somebody who is told of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Where it is told.
    pub url: String,
    /// Whether it may be told in the clear, within a private network.
    #[serde(default)]
    pub allow_http: bool,
    /// Of what, by the names of [`EventKind`]. One of a later release may be among them.
    pub events: BTreeSet<String>,
    /// Of which rooms. One for some rooms is not told what is of no room.
    #[serde(default)]
    pub rooms: RoomScope,
    /// Whether the operator wants it to be told.
    pub enabled: bool,
    /// Why it is not told all the same.
    #[serde(default)]
    pub disabled: Option<Disabled>,
    /// What its events are signed with, sealed.
    pub secret: String,
    /// What they were signed with before, the latest last.
    #[serde(default)]
    pub old_secrets: Vec<OldSecret>,
    /// When it was made, ms.
    pub created_at_ms: u64,
    /// The token by which it was made.
    pub created_by: String,
    /// Where the streams of events ended then, or when an operator said that it goes on with what is new: that of
    /// visitors, and the other one. What is before that is not its.
    #[serde(default)]
    pub from: Place,
    /// See there.
    #[serde(default)]
    pub visitors_from: Place,
    /// The set's revision in which it was changed last.
    #[serde(default)]
    pub revision: u64,
}

/// A webhook was switched off by the services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// When, unix seconds.
    pub at: u64,
    /// What its receiver said last.
    pub why: String,
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldSecret {
    /// Sealed.
    pub secret: String,
    /// Until when it signs, too, unix seconds.
    pub until: u64,
}

/// All webhooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhooks {
    /// Rises with every change: of two states the one with more is the later.
    pub revision: u64,
    /// By their names.
    pub webhooks: BTreeMap<String, Webhook>,
}

// === impl Webhook ===

impl Webhook {
    /// Whether it is told anything.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.enabled && self.disabled.is_none()
    }

    /// Where it begins in a stream.
    #[must_use]
    pub fn begins(&self, stream: EventStream) -> &Place {
        match stream {
            EventStream::Main => &self.from,
            EventStream::Visitors => &self.visitors_from,
        }
    }

    /// Whether it is told of an event by this name, of this room; empty: of none.
    #[must_use]
    pub fn wants(&self, kind: &str, room: &str) -> bool {
        let is_its_room =
            if room.is_empty() { self.rooms.is_whole() } else { self.rooms.covers(room) };
        is_its_room && self.events.contains(kind)
    }
}

// === impl Webhooks ===

impl Webhooks {
    /// Whether somebody wants to be told of such an event: now, or once it is switched on again.
    #[must_use]
    pub fn wants(&self, kind: EventKind, room: &str) -> bool {
        self.webhooks.values().any(|webhook| webhook.wants(kind.name(), room))
    }

    /// Those that are told something, by name.
    pub fn on(&self) -> impl Iterator<Item = (&String, &Webhook)> {
        self.webhooks.iter().filter(|(_, webhook)| webhook.is_on())
    }
}

/// Refuses what is no name of a webhook.
///
/// # Errors
/// Why it is none.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    RoomId::check(name).map_err(|_| "a name has 1 to 64 letters, digits, `_` and `-`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(events: &[EventKind], rooms: &[&str]) -> Webhook {
        Webhook {
            url: "https://a.example".to_owned(),
            allow_http: false,
            events: events.iter().map(|kind| kind.name().to_owned()).collect(),
            rooms: RoomScope::new(rooms.iter().map(|room| room.parse().unwrap()).collect()),
            enabled: true,
            disabled: None,
            secret: String::new(),
            old_secrets: Vec::new(),
            created_at_ms: 5,
            created_by: "root".to_owned(),
            from: Place::start(),
            visitors_from: Place::start(),
            revision: 1,
        }
    }

    #[test]
    fn a_webhook_is_told_what_it_wants_of_its_rooms() {
        let all = webhook(&[EventKind::AlarmFiring, EventKind::QueueingBegan], &[]);
        assert!(all.wants("alarm.firing", "") && all.wants("room.queueing_began", "sale"));
        assert!(!all.wants("alarm.resolved", ""));
        let sales = webhook(&[EventKind::AlarmFiring, EventKind::QueueingBegan], &["sale-*"]);
        assert!(sales.wants("room.queueing_began", "sale-1"));
        assert!(!sales.wants("room.queueing_began", "vip") && !sales.wants("alarm.firing", ""));
    }

    #[test]
    fn what_happens_while_one_is_off_is_kept_for_it() {
        let mut set = Webhooks::default();
        assert!(!set.wants(EventKind::AlarmFiring, ""));
        set.webhooks.insert("ops".to_owned(), webhook(&[EventKind::AlarmFiring], &[]));
        assert_eq!(set.on().count(), 1);
        let ops = set.webhooks.get_mut("ops").unwrap();
        ops.disabled = Some(Disabled { at: 9, why: "gone".to_owned() });
        assert!(set.on().count() == 0 && set.wants(EventKind::AlarmFiring, ""));
        let ops = set.webhooks.get_mut("ops").unwrap();
        (ops.disabled, ops.enabled) = (None, false);
        assert!(set.on().count() == 0 && set.wants(EventKind::AlarmFiring, ""));
        assert!(!set.wants(EventKind::AlarmResolved, ""));
    }
}
