//! How far a webhook was told: what the leader notes, so that the next one goes on from there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Retry, Webhook, after_failure};

/// How far a webhook was told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// When the webhook was made, ms: another one of the same name begins anew.
    created_at_ms: u64,
    /// The webhook's revision that failures were of.
    revision: u64,
    /// Up to which place in the stream of events it was told all.
    pub cursor: String,
    /// Places after it that it was told, too.
    pub told: BTreeSet<String>,
    /// How many attempts in a row have failed.
    pub failures: u32,
    /// When the first of these was, ms.
    pub failing_since_ms: u64,
    /// When it is tried again, ms.
    pub next_at_ms: u64,
    /// The last failure.
    pub last_failure: Option<Failure>,
    /// When it was last told something, ms; 0: never.
    pub last_told_ms: u64,
    /// When it was noticed last that events were forgotten before it was told, ms; 0: never.
    pub missed_at_ms: u64,
}

/// Why a webhook could not be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When, ms.
    pub at_ms: u64,
    /// What was answered, or why nothing was.
    pub why: String,
}

// === impl Delivery ===

impl Delivery {
    /// Of a webhook of which nothing was noted: it is told what happens from when it was made.
    #[must_use]
    pub fn begin(webhook: &Webhook) -> Self {
        let &Webhook { created_at_ms, revision, .. } = webhook;
        let cursor = format!("{created_at_ms}-0");
        Self { created_at_ms, revision, cursor, ..Self::default() }
    }

    /// What was noted, for the webhook as it is now: one that was changed since is tried at once, and has not failed.
    #[must_use]
    pub fn go_on(self, webhook: &Webhook) -> Self {
        if self.created_at_ms != webhook.created_at_ms {
            return Self::begin(webhook);
        }
        if self.revision == webhook.revision {
            return self;
        }
        Self { revision: webhook.revision, failures: 0, failing_since_ms: 0, next_at_ms: 0, ..self }
    }

    /// Whether it was told something, so that the place of its cursor is that of an event.
    #[must_use]
    pub fn has_read(&self) -> bool {
        self.cursor != format!("{}-0", self.created_at_ms)
    }

    /// Notes that it was told these `places`, in order those that were read, `told`.
    pub fn note_told(&mut self, places: &[String], told: impl IntoIterator<Item = String>) {
        self.told.extend(told);
        for place in places {
            if !self.told.remove(place) {
                return;
            }
            self.cursor.clone_from(place);
        }
    }

    /// Notes at `now_ms` that nothing has failed, and whether something was sent.
    pub fn succeed(&mut self, now_ms: u64, has_sent: bool) {
        (self.failures, self.failing_since_ms, self.next_at_ms) = (0, 0, 0);
        if has_sent {
            self.last_told_ms = now_ms;
        }
    }

    /// Notes a failure at `now_ms`; returns when it is tried again. See [`after_failure`].
    pub fn fail(&mut self, now_ms: u64, why: String, asked_s: Option<u64>, chance: u64) -> Retry {
        if self.failures == 0 {
            self.failing_since_ms = now_ms;
        }
        self.failures += 1;
        self.last_failure = Some(Failure { at_ms: now_ms, why });
        let retry = after_failure(self.failures, asked_s, chance);
        if let Retry::In(ms) = retry {
            self.next_at_ms = now_ms + ms;
        }
        retry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::RoomScope;

    fn webhook() -> Webhook {
        Webhook {
            url: String::new(),
            allow_http: false,
            events: BTreeSet::new(),
            rooms: RoomScope::default(),
            enabled: true,
            disabled: None,
            secret: String::new(),
            old_secret: None,
            created_at_ms: 500,
            created_by: String::new(),
            revision: 3,
        }
    }

    fn places(places: &[&str]) -> Vec<String> {
        places.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_cursor_stands_before_the_first_that_was_not_told() {
        let mut delivery = Delivery::begin(&webhook());
        assert!(!delivery.has_read());
        let read = places(&["600-0", "600-1", "700-0"]);
        delivery.note_told(&read, places(&["600-0", "700-0"]));
        assert_eq!((&*delivery.cursor, delivery.told.len()), ("600-0", 1));
        assert!(delivery.has_read());
        delivery.note_told(&read[1..], places(&["600-1"]));
        assert_eq!((&*delivery.cursor, delivery.told.len()), ("700-0", 0));
    }

    #[test]
    fn failures_are_counted_until_one_succeeds() {
        let mut delivery = Delivery::begin(&webhook());
        assert_eq!(delivery.fail(1_000, "500".into(), None, 0), Retry::In(800));
        assert_eq!(delivery.fail(2_000, "502".into(), None, 0), Retry::In(4_000));
        assert_eq!((delivery.failing_since_ms, delivery.next_at_ms), (1_000, 6_000));
        delivery.succeed(6_000, true);
        assert_eq!((delivery.failures, delivery.next_at_ms, delivery.last_told_ms), (0, 0, 6_000));
        assert_eq!(delivery.last_failure.unwrap().why, "502");
    }

    #[test]
    fn a_changed_webhook_has_not_failed_and_another_one_begins_anew() {
        let mut delivery = Delivery::begin(&webhook());
        delivery.note_told(&places(&["600-0"]), places(&["600-0"]));
        let _ = delivery.fail(1_000, "500".into(), None, 0);
        assert_eq!(delivery.clone().go_on(&webhook()), delivery);
        let changed = delivery.clone().go_on(&Webhook { revision: 4, ..webhook() });
        assert_eq!((&*changed.cursor, changed.failures, changed.next_at_ms), ("600-0", 0, 0));
        let other = Webhook { created_at_ms: 900, ..webhook() };
        assert_eq!(delivery.go_on(&other), Delivery::begin(&other));
    }
}
