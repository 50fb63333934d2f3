//! How far a webhook was told of one stream of events: what the leader notes, so that the next one goes on from there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::{EventStream, Parked, Place, PutAside, Retry, Webhook, after_failure};

/// How far a webhook was told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// Where the webhook begins: with another place it begins anew.
    pub(super) from: Place,
    /// The webhook's revision that failures were of.
    revision: u64,
    /// Up to where nothing is left to be told, but for what is parked.
    pub cursor: Place,
    /// Of the events after it, by their number, those of which the same is true.
    pub passed: BTreeSet<u64>,
    /// The lanes that wait to be tried again, by name.
    pub parked: BTreeMap<String, Parked>,
    /// The last events that were given up.
    pub put_aside: VecDeque<PutAside>,
    /// How often in a row nobody was there.
    pub failures: u32,
    /// Since when nothing was taken, ms; 0: nothing has failed since something was.
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
    /// Of a webhook of which nothing was noted, in one of the streams.
    #[must_use]
    pub fn begin(webhook: &Webhook, stream: EventStream) -> Self {
        let from = webhook.begins(stream).clone();
        let cursor = from.clone();
        Self { from, cursor, revision: webhook.revision, ..Self::default() }
    }

    /// What was noted, for the webhook as it is now: one that was changed since is tried at once, and has not failed.
    #[must_use]
    pub fn go_on(self, webhook: &Webhook, stream: EventStream) -> Self {
        if self.from != *webhook.begins(stream) {
            return Self::begin(webhook, stream);
        }
        if self.revision == webhook.revision {
            return self;
        }
        let mut parked = self.parked;
        parked.values_mut().for_each(Parked::forgive);
        let revision = webhook.revision;
        Self { revision, parked, failures: 0, failing_since_ms: 0, next_at_ms: 0, ..self }
    }

    /// Up to which event, by its number, all that were parked have been passed over.
    #[must_use]
    pub fn reach(&self) -> u64 {
        self.passed.last().copied().unwrap_or(0).max(self.cursor.nth)
    }

    /// Moves the cursor over what was passed of these `places`, which follow it in order.
    pub fn advance(&mut self, places: &[Place]) {
        for place in places {
            if !self.passed.remove(&place.nth) {
                return;
            }
            self.cursor.clone_from(place);
        }
    }

    /// Notes at `now_ms` that events were forgotten before it was told.
    pub fn miss(&mut self, now_ms: u64) {
        self.missed_at_ms = now_ms;
    }

    /// Begins with all that is there: the stream is another one than it was told from. What is told twice has its id.
    pub fn rewind(&mut self, now_ms: u64) {
        if self.cursor.nth > 0 {
            self.miss(now_ms);
        }
        self.cursor = Place::start();
        self.passed.clear();
        self.parked.clear();
    }

    /// Leaves out, at `now_ms`, all up to where the stream ends.
    pub fn skip(&mut self, end: Place, now_ms: u64) {
        self.miss(now_ms);
        self.cursor = end;
        self.passed.clear();
        self.parked.clear();
        (self.failures, self.failing_since_ms, self.next_at_ms) = (0, 0, 0);
    }

    /// Notes at `now_ms` that something was taken.
    pub fn succeed(&mut self, now_ms: u64) {
        (self.failures, self.failing_since_ms, self.next_at_ms) = (0, 0, 0);
        self.last_told_ms = now_ms;
    }

    /// Notes at `now_ms` that nobody was there; returns when it is tried again. See [`after_failure`].
    pub fn fail(&mut self, now_ms: u64, why: &str, asked_s: Option<u64>, chance: u64) -> Retry {
        self.note_failure(now_ms, why);
        self.failures += 1;
        let retry = after_failure(self.failures, asked_s, chance);
        if let Retry::In(ms) = retry {
            self.next_at_ms = now_ms + ms;
        }
        retry
    }

    pub(super) fn note_failure(&mut self, now_ms: u64, why: &str) {
        if self.failing_since_ms == 0 {
            self.failing_since_ms = now_ms;
        }
        self.last_failure = Some(Failure { at_ms: now_ms, why: why.to_owned() });
    }

    /// How many attempts in a row have failed: of it, or of what is parked.
    #[must_use]
    pub fn failed(&self) -> u32 {
        let parked = self.parked.values().map(|parked| parked.failures);
        parked.max().unwrap_or(0).max(self.failures)
    }

    /// When something is tried again, ms; 0: nothing waits for that.
    #[must_use]
    pub fn tried_again_ms(&self) -> u64 {
        let parked = self.parked.values().map(|parked| parked.next_at_ms);
        parked.min().unwrap_or(0).max(self.next_at_ms)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{EventStream::Main, *};
    use crate::access::RoomScope;

    pub(in crate::webhook) fn webhook() -> Webhook {
        Webhook {
            url: String::new(),
            allow_http: false,
            events: BTreeSet::new(),
            rooms: RoomScope::default(),
            enabled: true,
            disabled: None,
            secret: String::new(),
            old_secrets: Vec::new(),
            created_at_ms: 500,
            created_by: String::new(),
            from: place(4),
            visitors_from: place(2),
            revision: 3,
        }
    }

    pub(in crate::webhook) fn place(nth: u64) -> Place {
        Place { id: format!("{}-0", 100 * nth), nth }
    }

    #[test]
    fn the_cursor_stands_before_the_first_that_was_not_passed() {
        let mut delivery = Delivery::begin(&webhook(), Main);
        let read = [place(5), place(6), place(7)];
        delivery.passed.extend([5, 7]);
        delivery.advance(&read);
        assert_eq!((delivery.cursor.nth, delivery.passed.len(), delivery.reach()), (5, 1, 7));
        delivery.passed.insert(6);
        delivery.advance(&read[1..]);
        assert_eq!((&delivery.cursor, delivery.passed.len()), (&place(7), 0));
    }

    #[test]
    fn failures_are_counted_until_something_is_taken() {
        let mut delivery = Delivery::begin(&webhook(), Main);
        assert_eq!(delivery.fail(1_000, "503", None, 0), Retry::In(800));
        assert_eq!(delivery.fail(2_000, "502", None, 0), Retry::In(4_000));
        assert_eq!((delivery.failing_since_ms, delivery.next_at_ms), (1_000, 6_000));
        delivery.succeed(6_000);
        assert_eq!((delivery.failures, delivery.next_at_ms, delivery.last_told_ms), (0, 0, 6_000));
        assert_eq!(delivery.last_failure.unwrap().why, "502");
    }

    #[test]
    fn a_changed_webhook_has_not_failed_and_another_one_begins_anew() {
        let mut delivery = Delivery::begin(&webhook(), Main);
        delivery.passed.insert(5);
        delivery.advance(&[place(5)]);
        let _ = delivery.fail(1_000, "500", None, 0);
        assert_eq!(delivery.clone().go_on(&webhook(), Main), delivery);
        let changed = delivery.clone().go_on(&Webhook { revision: 4, ..webhook() }, Main);
        assert_eq!((changed.cursor.nth, changed.failures, changed.next_at_ms), (5, 0, 0));
        let other = Webhook { from: place(9), ..webhook() };
        assert_eq!(delivery.go_on(&other, Main), Delivery::begin(&other, Main));
    }

    #[test]
    fn where_the_stream_is_another_one_it_begins_with_what_is_there() {
        let mut delivery = Delivery::begin(&webhook(), Main);
        delivery.passed.insert(6);
        delivery.rewind(9_000);
        assert_eq!((&delivery.cursor, delivery.missed_at_ms), (&Place::start(), 9_000));
        assert!(delivery.passed.is_empty());
    }
}
