//! What came of a run: what visitors saw, and what the judge says of the histories.

mod late;
mod table;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs::{self, File},
    io::BufReader,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};
use vestibule_history::{Bounds, Event, Figures, Report, lines};

pub(crate) use self::{late::resets_heard_late, table::Table};
use crate::{
    chance::Seed,
    crowd::{Book, Times},
    faults::{Fault, FaultKind},
    scenario::Scenario,
    stage::Topology,
};

/// How many of a kind of mistakes are kept in words, and how many are told.
const QUOTED: usize = 100;
const TOLD: usize = 3;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) seed: Seed,
    pub(crate) ground: &'static str,
    pub(crate) topology: Topology,
    pub(crate) kinds: Vec<FaultKind>,
    /// Faults, and when each began, unix ms.
    pub(crate) faults: Vec<(u64, Fault)>,
    pub(crate) book: Book,
    /// How many lost their places to an operator's reset.
    pub(crate) by_resets: u64,
    pub(crate) figures: Figures,
    /// Violations by name: the judge's invariants, and what the run itself sees.
    pub(crate) violations: BTreeMap<String, u64>,
    /// The same in words, each beginning with the name.
    pub(crate) stories: Vec<String>,
}

/// The machine's time, unix ms: what histories are written in, as long as nobody sets Redis's clock.
#[expect(clippy::disallowed_methods, reason = "to name the faults next to what histories show")]
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

/// All histories in a folder, in order of time.
pub(crate) fn histories_in(folder: &Path) -> Result<Vec<Event>> {
    let mut readers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        readers.push(lines::Reader::new(path.display().to_string(), BufReader::new(file)));
    }
    ensure!(!readers.is_empty(), "nobody wrote a history in {}", folder.display());
    Ok(lines::merge(readers).collect::<Result<_, _>>()?)
}

// === impl Outcome ===

impl Outcome {
    /// Nothing is known yet but what happened.
    pub(crate) fn of(scenario: &Scenario, ground: &'static str, faults: Vec<(u64, Fault)>) -> Self {
        let mut kinds: Vec<_> = faults.iter().map(|(_, fault)| fault.kind).collect();
        kinds.sort();
        kinds.dedup();
        Self {
            seed: scenario.seed,
            ground,
            topology: scenario.topology,
            kinds,
            faults,
            book: Book::default(),
            by_resets: 0,
            figures: Figures::default(),
            violations: BTreeMap::new(),
            stories: Vec::new(),
        }
    }

    /// What visitors and operators saw while servers were split then, how many were not served in the end, which
    /// instances ended by themselves, and which did not stop in order.
    pub(crate) fn take_in(
        &mut self,
        book: Book,
        splits: &[Times],
        unserved: u64,
        ended: &[String],
        stopped: &[String],
    ) {
        self.add("wrong-answer", &book.mistakes);
        let (by_resets, lost) = book.losses.judge(splits);
        let lost: Vec<_> = lost.iter().map(ToString::to_string).collect();
        self.by_resets = by_resets;
        self.add("place-lost", &lost);
        self.add("overfull", &book.inside.overfull());
        self.add("ended-by-itself", ended);
        self.add("did-not-stop", stopped);
        if unserved > 0 {
            self.stories.push(format!("not-served: {unserved} visitors, in the end"));
            self.violations.insert("not-served".to_owned(), unserved);
        }
        self.book = book;
    }

    /// Has the histories judged.
    pub(crate) fn judge(&mut self, histories: Vec<Event>) -> Result<()> {
        let report =
            Report::judge(Bounds::default(), histories.into_iter().map(Ok::<_, Infallible>))?;
        for violation in &report.violations {
            let after = self.faults.iter().rev().find(|(at_ms, _)| *at_ms <= violation.at_ms);
            let after = after.map_or("before any fault".to_owned(), |(at_ms, fault)| {
                format!("{} ms after {fault}", violation.at_ms - at_ms)
            });
            self.stories.push(format!("{violation}  ({after})"));
        }
        let found = report.figures.violations.iter();
        self.violations.extend(found.map(|(code, count)| ((*code).to_owned(), *count)));
        self.figures = report.figures;
        Ok(())
    }

    /// Whether nothing was lost, nothing happened twice, and nobody was answered wrongly.
    pub(crate) fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// The first few of each name: one mistake often shows in hundreds of events.
    pub(crate) fn first_stories(&self) -> Vec<&String> {
        let mut told = BTreeMap::new();
        let first = self.stories.iter().filter(|story| {
            let name = story.split([' ', ':']).next().unwrap_or_default();
            let times = told.entry(name).or_insert(0);
            *times += 1;
            *times <= TOLD
        });
        first.collect()
    }

    fn add(&mut self, name: &str, stories: &[String]) {
        if stories.is_empty() {
            return;
        }
        *self.violations.entry(name.to_owned()).or_default() += stories.len() as u64;
        let quoted = stories.iter().take(QUOTED).map(|story| format!("{name}: {story}"));
        self.stories.extend(quoted);
    }
}

#[cfg(test)]
mod tests;
