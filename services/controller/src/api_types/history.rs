//! The history as operators read it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vestibule_domain::{
    RoomId,
    ledger::{BUCKETS, COARSE_MINUTES, Figure, Figures, LeftAs, RefusedFor, Step, WAIT_BOUNDS},
};
use vestibule_store::MinuteTraffic;

/// How long the stretches of time are that a history tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub enum HistoryStep {
    /// A minute; five of what is older than two days.
    #[default]
    #[serde(rename = "1m")]
    Minute,
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour.
    #[serde(rename = "1h")]
    Hour,
    /// A day, of UTC.
    #[serde(rename = "1d")]
    Day,
}

/// What happened in a room.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct History {
    /// Its name.
    #[schema(value_type = String, example = "on-sale")]
    pub room: RoomId,
    /// What was asked for.
    pub step: HistoryStep,
    /// The longest wait of each bucket of `told` and `waited`, seconds. The bucket after them has all longer ones; of
    /// `told` there is one more, of newcomers who were told that the wait is unknown.
    pub wait_buckets: [u64; WAIT_BOUNDS.len()],
    /// Stretches of time in which anything happened, in order; others are left out.
    pub minutes: Vec<Minute>,
}

/// A stretch of time: a minute, or what `step` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Minute {
    /// When it began, unix seconds.
    pub minute: u64,
    /// How long it lasts, seconds. Longer than `step` where only that is kept.
    pub seconds: u64,
    /// Newcomers by region.
    pub arrivals: BTreeMap<String, u64>,
    /// Sessions that began.
    pub admitted: u64,
    /// People waiting who were there at a time, at most.
    pub waiting: u64,
    /// Seats taken at a time, at most.
    pub inside: u64,
    /// The room and all its regions together.
    #[serde(flatten)]
    pub people: PeopleCounts,
    /// The same of each region, as far as it is known where it happened.
    pub regions: BTreeMap<String, PeopleCounts>,
}

/// What people did, and what was done with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct PeopleCounts {
    /// Who left, by reason: `completed`, `abandoned` and `revoked` sessions, `session_expired` (it ran out),
    /// `place_given_up` and `place_revoked` in line, `turn_missed` (its turn came, and it did not), `reset` (the room
    /// was).
    #[schema(value_type = BTreeMap<String, u64>)]
    pub left: BTreeMap<&'static str, u64>,
    /// Calls that turned somebody away, by reason: `network_joins`, `network_places` and `network_seats` (limits per
    /// network), `challenge`, `endless_line`, `challenge_unavailable`, `closed` (the room lets nobody in), `overloaded`,
    /// `unavailable`. What an instance refuses before it knows the room is not among them.
    #[schema(value_type = BTreeMap<String, u64>)]
    pub refused: BTreeMap<&'static str, u64>,
    /// Newcomers by the first wait that they were told, in buckets; whoever entered at once was told none.
    pub told: Vec<u64>,
    /// People who entered, by how long ago they had come, in buckets.
    pub waited: Vec<u64>,
}

// === impl History ===

impl History {
    /// What is read of these minutes: whole ones of what is kept for longer.
    #[must_use]
    pub fn read_span((from, to): (u64, u64)) -> (u64, u64) {
        (from - from % COARSE_MINUTES, to - to % COARSE_MINUTES + COARSE_MINUTES - 1)
    }

    /// The history of `room` in these minutes since 1970, from minutes and from what is kept for longer, both as far as
    /// [`Self::read_span`] says.
    #[must_use]
    pub fn new(
        room: RoomId,
        (step, (from, to)): (HistoryStep, (u64, u64)),
        traffic: BTreeMap<u64, MinuteTraffic>,
        ledger: BTreeMap<u64, Figures>,
    ) -> Self {
        let minutes = traffic.into_iter().map(|(minute, traffic)| (minute, all_of(traffic)));
        let stretches = Step::from(step).of(minutes.collect(), ledger);
        let minutes = stretches.into_iter().filter(|(at, (length, figures))| {
            at + length > from && *at <= to && !figures.is_empty()
        });
        let minutes = minutes.map(|(at, (length, figures))| Minute::new(at, length, &figures));
        Self { room, step, wait_buckets: WAIT_BOUNDS, minutes: minutes.collect() }
    }
}

/// The figures of a minute, newcomers and admissions included.
fn all_of(traffic: MinuteTraffic) -> Figures {
    let MinuteTraffic { arrivals, admitted, mut figures } = traffic;
    for (region, count) in arrivals {
        figures.add(&region, Figure::Arrived, count);
    }
    if admitted > 0 {
        figures.add("", Figure::Admitted, admitted);
    }
    figures
}

// === impl Minute ===

impl Minute {
    fn new(at: u64, minutes: u64, figures: &Figures) -> Self {
        let arrivals = figures.iter().filter(|(_, figure, _)| *figure == Figure::Arrived);
        let of_region = |region| PeopleCounts::new(|figure| figures.of(region, figure));
        let regions = figures.regions().into_iter();
        Self {
            minute: at * 60,
            seconds: minutes * 60,
            arrivals: arrivals.map(|(region, _, count)| (region.to_owned(), count)).collect(),
            admitted: figures.total(Figure::Admitted),
            waiting: figures.total(Figure::Waiting),
            inside: figures.total(Figure::Inside),
            people: PeopleCounts::new(|figure| figures.total(figure)),
            regions: regions.map(|region| (region.to_owned(), of_region(region))).collect(),
        }
    }
}

// === impl PeopleCounts ===

impl PeopleCounts {
    fn new(count: impl Fn(Figure) -> u64) -> Self {
        let left = LeftAs::ALL.iter().map(|reason| (reason.name(), count(Figure::Left(*reason))));
        let refused =
            RefusedFor::ALL.iter().map(|reason| (reason.name(), count(Figure::Refused(*reason))));
        Self {
            left: left.filter(|(_, count)| *count > 0).collect(),
            refused: refused.filter(|(_, count)| *count > 0).collect(),
            told: (0..BUCKETS).map(|bucket| count(Figure::Told(bucket))).collect(),
            waited: (0..BUCKETS - 1).map(|bucket| count(Figure::Waited(bucket))).collect(),
        }
    }
}

// === impl Step ===

impl From<HistoryStep> for Step {
    fn from(step: HistoryStep) -> Self {
        match step {
            HistoryStep::Minute => Self::Minute,
            HistoryStep::FiveMinutes => Self::FiveMinutes,
            HistoryStep::Hour => Self::Hour,
            HistoryStep::Day => Self::Day,
        }
    }
}
