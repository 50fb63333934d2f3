//! What of a room's settings bears on what may happen in it, and when which of them is in force.

use serde::{Deserialize, Serialize};
use vestibule_domain::{
    QueueingMethod, RoomSnapshot,
    schedule::{InForce, RoomConfig},
};

/// The most phases that a programme is written with; later ones are left out.
const MAX_PHASES: usize = 64;

/// The settings in force that checks need.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Rules {
    /// The order in which people enter.
    pub method: QueueingMethod,
    /// The ceiling on live sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<u64>,
    /// The most admissions in any 60 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u64>,
    /// For how long a visitor's session lives unused, seconds.
    pub session_seconds: u64,
    /// How long AWS-style tokens are valid, seconds.
    pub token_seconds: u64,
    /// Within which time a served visitor has to claim, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_expiry_seconds: Option<u64>,
    /// After which absence a place is lost, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<u64>,
    /// Nobody enters: everyone is held, or waits for a start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Everyone enters, whatever the limits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// Newcomers are turned away and nobody enters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rejects: bool,
    /// The room is off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspended: bool,
}

/// Which rules are in force when, by one config of a room.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Programme(Vec<Stretch>);

/// Rules, and since when they are in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    from_ms: u64,
    rules: Rules,
}

// === impl Rules ===

impl Rules {
    /// The rules of a phase.
    #[must_use]
    pub fn of(in_force: &InForce) -> Self {
        let settings = &in_force.settings;
        let method = settings.queueing_method.rules();
        let prequeueing = in_force.event.as_ref().is_some_and(|event| event.prequeueing);
        let held = settings.queue_all || prequeueing;
        Self {
            method: settings.queueing_method,
            ceiling: settings.total_active_users,
            per_minute: settings.new_users_per_minute,
            session_seconds: settings.session_duration_seconds,
            token_seconds: settings.token_validity_seconds,
            position_expiry_seconds: settings.position_expiry_seconds,
            grace_seconds: settings.presence_grace_seconds,
            held,
            open: settings.suspended || (!held && method.is_open()),
            rejects: !settings.suspended && (settings.sold_out || !held && method.rejects()),
            suspended: settings.suspended,
        }
    }

    /// The rules in force in a snapshot.
    #[must_use]
    pub fn of_snapshot(room: &RoomSnapshot) -> Self {
        let in_force = InForce { settings: room.settings.clone(), event: room.event.clone() };
        Self { held: room.is_held(), open: room.is_open(), ..Self::of(&in_force) }
    }

    /// Whether people enter in order of their positions.
    #[must_use]
    pub fn is_fifo(&self) -> bool {
        self.method == QueueingMethod::Fifo && !self.open
    }
}

// === impl Programme ===

impl Programme {
    /// The same rules for ever.
    #[must_use]
    pub fn always(rules: Rules) -> Self {
        Self(vec![Stretch { from_ms: 0, rules }])
    }

    /// That of `config`, from `now_ms` on. What was in force before does not matter any more.
    #[must_use]
    pub fn of(config: &RoomConfig, now_ms: u64) -> Self {
        let mut stretches = Vec::new();
        let mut from_ms = now_ms;
        while stretches.len() < MAX_PHASES {
            let phase = config.phase_at(from_ms);
            let rules = Rules::of(&phase.in_force);
            let from = if stretches.is_empty() { 0 } else { from_ms };
            stretches.push(Stretch { from_ms: from, rules });
            match phase.until_ms {
                Some(until) if until > from_ms => from_ms = until,
                _ => break,
            }
        }
        Self(stretches)
    }

    /// The rules in force at some moment of the span, the earliest first.
    pub fn during(&self, from_ms: u64, to_ms: u64) -> impl Iterator<Item = &Rules> {
        let first = self.0.partition_point(|stretch| stretch.from_ms <= from_ms).saturating_sub(1);
        let rest = &self.0[first.min(self.0.len())..];
        rest.iter()
            .take_while(move |stretch| stretch.from_ms <= to_ms)
            .map(|stretch| &stretch.rules)
    }
}

impl Programme {
    /// Whether both say the same from `from_ms` on, as far as both are written down.
    #[must_use]
    pub fn agrees(&self, other: &Self, from_ms: u64) -> bool {
        let mut pairs = self.from(from_ms).zip(other.from(from_ms));
        pairs.all(|(own, theirs)| own == theirs)
    }

    /// The stretches that end after `from_ms`, cut to begin with it.
    fn from(&self, from_ms: u64) -> impl Iterator<Item = (u64, &Rules)> {
        let first = self.0.partition_point(|stretch| stretch.from_ms <= from_ms).saturating_sub(1);
        self.0[first.min(self.0.len())..]
            .iter()
            .map(move |stretch| (stretch.from_ms.max(from_ms), &stretch.rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> RoomConfig {
        serde_json::from_str(
            r#"{"settings":{"total_active_users":5},"events":[{"name":"sale",
            "prequeue_start_time":1000,"event_start_time":2000,"event_end_time":3000}]}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_programme_says_what_is_in_force_when() {
        let programme = Programme::of(&config(), 500_000);
        let held = |from, to| programme.during(from, to).map(|r| r.held).collect::<Vec<_>>();
        assert_eq!(held(600_000, 700_000), [false]);
        assert_eq!(held(999_999, 1_000_000), [false, true]);
        assert_eq!(held(1_500_000, 2_500_000), [true, false]);
        assert_eq!(held(9_000_000, 9_000_000), [false]);
        assert!(Programme::default().during(0, 9).next().is_none());
    }

    #[test]
    fn programmes_written_at_different_times_agree_on_what_is_to_come() {
        let early = Programme::of(&config(), 500_000);
        let late = Programme::of(&config(), 1_200_000);
        assert!(early.agrees(&late, 1_200_000) && late.agrees(&early, 5_000_000));
        assert!(!early.agrees(&late, 600_000), "one was written when the pre-queue was open");
        let other = RoomConfig::default();
        assert!(!early.agrees(&Programme::of(&other, 500_000), 500_000));
    }
}
