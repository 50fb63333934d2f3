//! From conditions to alarms: one fires once its condition has held for long enough, and is over when it has
//! not for a while.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Alarm, OVER_AFTER_MS};
use crate::RoomId;

/// What is so that an alarm is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Which alarm.
    pub alarm: Alarm,
    /// Of what: a room, a key, a token; empty: of the deployment.
    pub subject: String,
    /// The room, if it is of one.
    pub room: Option<RoomId>,
    /// What is so, in a sentence.
    pub summary: String,
}

/// A condition that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Since when, ms.
    pub since_ms: u64,
    /// Whether its alarm fires.
    pub firing: bool,
    /// Since when it holds no more, though its alarm fires, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_since_ms: Option<u64>,
    /// What was so when it began to fire.
    #[serde(default)]
    pub summary: String,
    /// The room, if it is of one.
    #[serde(default)]
    pub room: Option<RoomId>,
}

/// An alarm begins or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which alarm.
    pub alarm: Alarm,
    /// Of what; empty: of the deployment.
    pub subject: String,
    /// Whether it begins.
    pub firing: bool,
    /// What is so, or was when it began to fire; and since when the condition holds or held.
    pub about: Pending,
}

/// The conditions that hold, by alarm and subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alarms {
    /// All of them.
    pub pending: BTreeMap<(Alarm, String), Pending>,
}

// === impl Alarms ===

impl Alarms {
    /// Takes in all conditions that hold at `now_ms`; returns the alarms that begin or end.
    pub fn see(&mut self, now_ms: u64, conditions: Vec<Condition>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut before = std::mem::take(&mut self.pending);
        for Condition { alarm, subject, room, summary } in conditions {
            let key = (alarm, subject);
            let known = before.remove(&key);
            let mut pending = known.unwrap_or(Pending {
                since_ms: now_ms,
                firing: false,
                over_since_ms: None,
                summary: String::new(),
                room,
            });
            pending.over_since_ms = None;
            let held_ms = now_ms.saturating_sub(pending.since_ms);
            if !pending.firing && held_ms >= alarm.holds_for_ms() {
                (pending.firing, pending.summary) = (true, summary);
                changes.push(Change::new(&key, &pending, true));
            }
            self.pending.insert(key, pending);
        }
        for (key, mut pending) in before.into_iter().filter(|(_, pending)| pending.firing) {
            let over_since_ms = *pending.over_since_ms.get_or_insert(now_ms);
            if now_ms.saturating_sub(over_since_ms) < OVER_AFTER_MS {
                self.pending.insert(key, pending);
            } else {
                changes.push(Change::new(&key, &pending, false));
            }
        }
        changes
    }
}

// === impl Change ===

impl Change {
    fn new((alarm, subject): &(Alarm, String), about: &Pending, firing: bool) -> Self {
        Self { alarm: *alarm, subject: subject.clone(), firing, about: about.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(alarm: Alarm) -> Condition {
        let summary = "it is so".to_owned();
        Condition { alarm, subject: "sale".to_owned(), room: None, summary }
    }

    fn see(alarms: &mut Alarms, now_ms: u64, alarm: Alarm, holds: bool) -> Option<bool> {
        let conditions = if holds { vec![condition(alarm)] } else { vec![] };
        alarms.see(now_ms, conditions).first().map(|change| change.firing)
    }

    #[test]
    fn each_fires_after_its_time_and_is_over_with_its_condition() {
        for alarm in Alarm::ALL.iter().copied() {
            let (mut alarms, holds_for) = (Alarms::default(), alarm.holds_for_ms());
            if holds_for > 0 {
                assert_eq!(see(&mut alarms, 1_000, alarm, true), None);
                assert_eq!(see(&mut alarms, 1_000 + holds_for - 1, alarm, true), None);
                assert_eq!(see(&mut alarms, 1_000 + holds_for - 1, alarm, false), None, "a moment");
                assert_eq!(see(&mut alarms, 1_000 + holds_for, alarm, true), None, "anew");
            }
            let end = 1_000 + 2 * holds_for;
            assert_eq!(see(&mut alarms, end, alarm, true), Some(true), "{alarm:?}");
            assert_eq!(see(&mut alarms, end + 1, alarm, true), None, "once");
            assert_eq!(see(&mut alarms, end + 2, alarm, false), None);
            assert_eq!(see(&mut alarms, end + 1 + OVER_AFTER_MS, alarm, false), None);
            assert_eq!(see(&mut alarms, end + 1 + OVER_AFTER_MS, alarm, true), None, "a moment");
            let over = end + 2 + OVER_AFTER_MS;
            assert_eq!(see(&mut alarms, over, alarm, false), None);
            assert_eq!(see(&mut alarms, over + OVER_AFTER_MS, alarm, false), Some(false));
            assert_eq!(see(&mut alarms, over + 2 * OVER_AFTER_MS, alarm, false), None);
        }
    }

    #[test]
    fn what_one_leader_has_noted_another_goes_on_from() {
        let mut first = Alarms::default();
        assert!(first.see(0, vec![condition(Alarm::OldSecretStays)]).is_empty());
        let mut second = Alarms { pending: first.pending };
        let changes = second.see(7 * 86_400_000, vec![condition(Alarm::OldSecretStays)]);
        assert_eq!((changes[0].firing, changes[0].about.since_ms), (true, 0));
        assert_eq!(changes[0].about.summary, "it is so");
    }

    #[test]
    fn each_subject_has_an_alarm_of_its_own() {
        let mut alarms = Alarms::default();
        let of = |subject: &str| Condition {
            subject: subject.to_owned(),
            ..condition(Alarm::RedisRewound)
        };
        assert_eq!(alarms.see(0, vec![of("a"), of("b")]).len(), 2);
        let mut changes = alarms.see(1, vec![of("b"), of("c")]);
        changes.extend(alarms.see(1 + OVER_AFTER_MS, vec![of("b"), of("c")]));
        let told = changes.iter().map(|change| (&*change.subject, change.firing));
        assert_eq!(told.collect::<Vec<_>>(), [("c", true), ("a", false)]);
    }
}
