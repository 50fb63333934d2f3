//! What hostile company got that services tell apart by where it comes from: hoarders of one network, and those who share
//! one ticket.

use serde::Serialize;

use super::{hostile_kind::HostileKind, layout::Section};
use crate::{
    crowd::Call,
    record::{HostileLog, Steps},
};

/// What hoarders got together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Hoarders {
    /// What any kind is asked.
    #[serde(flatten)]
    pub(crate) kind: HostileKind,
    /// Joins that they tried.
    pub(crate) joins: u64,
    /// Places that they got, seats without a wait included.
    pub(crate) places: u64,
    /// Joins that were turned away with 429.
    pub(crate) turned_away: u64,
    /// The most seats that they held at once, as they saw it.
    pub(crate) highest_seats: i64,
}

/// What those got who share one ticket.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Sharers {
    /// What any kind is asked.
    #[serde(flatten)]
    pub(crate) kind: HostileKind,
    /// How many were let in with the ticket of the one inside.
    pub(crate) let_in: u64,
    /// How many were not.
    pub(crate) kept_out: u64,
}

// === impl Hoarders ===

impl Hoarders {
    pub(super) fn new(log: &HostileLog, end: f64) -> Self {
        Self {
            kind: HostileKind::new(log, end),
            joins: log.calls[Call::Join as usize],
            places: log.places,
            turned_away: log.turned_away,
            highest_seats: Steps::covering(log.seats(end)).peak(),
        }
    }

    pub(super) fn add_to(&self, section: Section) -> Section {
        let places =
            format!("of {} joins; {} were turned away (429)", self.joins, self.turned_away);
        self.kind
            .add_to(section, "hoarders")
            .row("  places that they got", self.places, places)
            .row("  most seats held at once", self.highest_seats, "by their view")
    }
}

// === impl Sharers ===

impl Sharers {
    pub(super) fn new(log: &HostileLog, end: f64) -> Self {
        Self { kind: HostileKind::new(log, end), let_in: log.let_in, kept_out: log.kept_out }
    }

    pub(super) fn add_to(&self, section: Section) -> Section {
        let asked = self.let_in + self.kept_out;
        let asked = format!("of {asked} who asked with the ticket of the one inside");
        self.kind.add_to(section, "sharers").row("  let in with it", self.let_in, asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::layout;

    #[test]
    fn says_what_they_tried_and_what_they_got() {
        let mut log = HostileLog { came: 2, places: 5, turned_away: 30, ..HostileLog::default() };
        for _ in 0..35 {
            log.note(Call::Join, None);
        }
        for (from, until) in [(0.0, 2.0), (1.0, f64::INFINITY), (3.0, f64::INFINITY)] {
            let seat = log.takes_a_seat(from);
            log.holds_until(seat, until);
        }
        let seen = Hoarders::new(&log, 10.0);
        assert_eq!((seen.joins, seen.highest_seats, seen.kind.seats), (35, 2, 3));
        let json = serde_json::to_value(&seen).unwrap();
        assert_eq!((&json["came"], &json["turned_away"]), (&2.into(), &30.into()));
        let log = HostileLog { came: 20, let_in: 4, kept_out: 15, ..HostileLog::default() };
        let sharers = Sharers::new(&log, 10.0);
        let section = sharers.add_to(seen.add_to(Section::new("Hostile company")));
        let text = layout::sections(&[section]);
        for part in ["of 35 joins; 30 were turned away (429)", "most seats", "of 19 who asked"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
