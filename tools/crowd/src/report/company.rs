//! What hostile company did: how many of each kind there were, what they called, and whether they took
//! seats. The visitors' own figures are in the other sections.

use std::{collections::BTreeMap, iter};

use serde::Serialize;

use super::{
    hoarders::{Hoarders, Sharers},
    hostile_kind::{HostileKind, failed},
    layout::{Section, percent},
};
use crate::{
    crowd::{Company, duration::human},
    record::{GhostLog, RunRecord, Steps},
};

/// What hostile company did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct HostileCompany {
    /// The numbers that nobody asked with.
    pub(crate) ghosts: Ghosts,
    /// Those who sent the same tickets again and again.
    pub(crate) replayers: HostileKind,
    /// Those who never claimed.
    pub(crate) idlers: HostileKind,
    /// Those of one network who took what they could get.
    pub(crate) hoarders: Hoarders,
    /// Those who shared one ticket.
    pub(crate) sharers: Sharers,
    /// The most inside at once, visitors and company together, as both saw it.
    pub(crate) highest_inside_with_visitors: i64,
    /// Their part of the ceiling from the first visitor who waited to the last.
    pub(crate) share_of_ceiling: Option<f64>,
}

/// How ghosts took their numbers, before the first visitor came.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Ghosts {
    /// How many were wanted.
    pub(crate) wanted: u32,
    /// How many numbers were taken.
    pub(crate) taken: u64,
    /// Their share of ghosts and visitors together.
    pub(crate) share: f64,
    /// How long that took.
    pub(crate) seconds: f64,
    /// Calls that it took.
    pub(crate) calls: u64,
    /// Calls that failed, by kind.
    pub(crate) errors: BTreeMap<String, u64>,
}

// === impl HostileCompany ===

impl HostileCompany {
    /// Sums it up; `None` if the visitors were alone. Visitors waited in `span`.
    pub(super) fn new(run: &RunRecord, span: Option<(f64, f64)>) -> Option<Self> {
        let (setting, log, end) = (&run.setting, &run.company, run.duration);
        let visitors = run.visitors.iter().filter_map(|visitor| visitor.inside(end));
        let together = Steps::covering(visitors.chain(log.seats(end)));
        let own = Steps::covering(log.seats(end));
        let share = |(from, until): (f64, f64)| {
            // Busy with itself: nothing but the time counts.
            let time = Steps::covering(iter::once((from, until)));
            let (mean, _) = own.mean_while(&[&time], from, until)?;
            Some(mean / f64::from(setting.ceiling?))
        };
        (!setting.company.is_empty()).then(|| Self {
            ghosts: Ghosts::new(&log.ghosts, setting.company, setting.visitors),
            replayers: HostileKind::new(&log.replayers, end),
            idlers: HostileKind::new(&log.idlers, end),
            hoarders: Hoarders::new(&log.hoarders, end),
            sharers: Sharers::new(&log.sharers, end),
            highest_inside_with_visitors: together.peak(),
            share_of_ceiling: span.and_then(share),
        })
    }

    /// The section for people.
    pub(super) fn section(&self) -> Section {
        let mut section = Section::new("Hostile company");
        if self.ghosts.wanted > 0 {
            section = self.ghosts.add_to(section);
        }
        for (name, kind) in [("replayers", &self.replayers), ("idlers", &self.idlers)] {
            if kind.came > 0 {
                section = kind.add_to(section, name);
            }
        }
        if self.hoarders.kind.came > 0 {
            section = self.hoarders.add_to(section);
        }
        if self.sharers.kind.came > 0 {
            section = self.sharers.add_to(section);
        }
        let seats = self.kinds().map(|kind| kind.seats).iter().sum::<usize>();
        let seconds = human(self.kinds().map(|kind| kind.seat_seconds).iter().sum());
        let share = self.share_of_ceiling.map_or(String::new(), |share| {
            format!(", {} of the ceiling while visitors waited", percent(share))
        });
        let took = if seats > 0 {
            format!("for {seconds} in all, by their view{share}")
        } else {
            String::new()
        };
        section.row("seats that hostile ones took", seats, took).row(
            "most inside, visitors and hostile ones",
            self.highest_inside_with_visitors,
            "",
        )
    }

    /// Calls that failed by kind of failure, of all kinds of company.
    pub(super) fn errors(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        let errors = self.kinds().map(|kind| &kind.errors);
        for (kind, count) in errors.into_iter().chain([&self.ghosts.errors]).flatten() {
            *all.entry(kind.as_str()).or_default() += count;
        }
        all
    }

    fn kinds(&self) -> [&HostileKind; 4] {
        [&self.replayers, &self.idlers, &self.hoarders.kind, &self.sharers.kind]
    }
}

// === impl Ghosts ===

impl Ghosts {
    fn new(log: &GhostLog, company: Company, visitors: u32) -> Self {
        let wanted = company.ghosts;
        Self {
            wanted,
            taken: log.taken,
            share: f64::from(wanted) / f64::from((wanted + visitors).max(1)),
            seconds: log.seconds,
            calls: log.calls,
            errors: log.errors.clone(),
        }
    }

    fn add_to(&self, section: Section) -> Section {
        let share = percent(self.share);
        let when = format!(
            "numbers taken within {} before the first visitor came; {share} of ghosts and visitors",
            human(self.seconds)
        );
        let failed = failed(&self.errors);
        section.row("ghosts", self.taken, when).row("  their calls", self.calls, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        crowd::{Call, Hostile, Setting},
        record::{CompanyLog, VisitorRecord},
    };

    /// A visitor inside from 0 to 10 s, and company that has a seat from 2 to 4 s.
    fn run() -> RunRecord {
        let errors = [("503".into(), 1)].into();
        let ghosts = GhostLog { taken: 30, calls: 31, seconds: 0.5, errors };
        let mut company = CompanyLog { ghosts, ..CompanyLog::default() };
        let log = company.of(Hostile::Replayer);
        log.came = 1;
        log.note(Call::Join, None);
        log.note(Call::Status, Some("500".into()));
        let seat = log.takes_a_seat(2.0);
        log.gives_back(seat, 4.0);
        let setting = Setting {
            visitors: 10,
            ceiling: Some(2),
            company: Company { ghosts: 30, replayers: 1, ..Company::default() },
            ..Setting::default()
        };
        let visitor = VisitorRecord {
            admitted: Some(0.0),
            inside_until: Some(10.0),
            ..VisitorRecord::default()
        };
        RunRecord {
            setting,
            company,
            visitors: vec![visitor],
            duration: 20.0,
            ..RunRecord::default()
        }
    }

    #[test]
    fn says_what_they_called_and_that_they_took_a_seat() {
        let seen = HostileCompany::new(&run(), Some((0.0, 5.0))).expect("there is company");
        assert_eq!((seen.ghosts.taken, seen.ghosts.share), (30, 0.75));
        assert_eq!((seen.replayers.seats, seen.replayers.seat_seconds), (1, 2.0));
        assert_eq!(seen.highest_inside_with_visitors, 2);
        // One of two seats for two of five seconds.
        assert!((seen.share_of_ceiling.expect("visitors waited") - 0.2).abs() < 1e-9);
        assert_eq!(seen.errors(), [("500", 1), ("503", 1)].into());
        let text = crate::report::layout::sections(&[seen.section()]);
        for part in ["ghosts", "1 join, 1 status; 1 failed: 500", "75.00%", "20.00% of the ceiling"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("idlers"), "there were none: {text}");
    }

    #[test]
    fn visitors_alone_have_no_company() {
        let run = RunRecord { setting: Setting::default(), ..run() };
        assert_eq!(HostileCompany::new(&run, None), None);
    }
}
