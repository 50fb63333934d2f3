//! What became of each guest, as it saw it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The diary of everybody in a hall, by the number of the guest. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diary(Arc<Mutex<BTreeMap<u64, Page>>>);

/// What became of one guest. Times are ms since the begin of the night.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Page {
    /// When it came.
    pub(crate) came_ms: Option<u64>,
    /// Where it stands in line.
    pub(crate) position: Option<u64>,
    /// When it first heard that its turn has come.
    pub(crate) turn_ms: Option<u64>,
    /// When it last asked.
    pub(crate) asked_ms: Option<u64>,
    /// When it entered.
    pub(crate) entered_ms: Option<u64>,
    /// When it left.
    pub(crate) left_ms: Option<u64>,
    /// What it was told while it waited.
    pub(crate) told: Vec<Told>,
}

/// What a waiting guest was told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Told {
    pub(crate) at_ms: u64,
    /// `None`: that it is unknown.
    pub(crate) wait_s: Option<u64>,
}

// === impl Diary ===

impl Diary {
    /// Writes on the page of `guest`.
    pub(crate) fn write(&self, guest: u64, write: impl FnOnce(&mut Page)) {
        write(self.lock().entry(guest).or_default());
    }

    /// Whether all of these have left.
    pub(crate) fn have_left(&self, mut guests: impl Iterator<Item = u64>) -> bool {
        let pages = self.lock();
        guests.all(|guest| pages.get(&guest).is_some_and(|page| page.left_ms.is_some()))
    }

    /// How many wait.
    pub(crate) fn waiting(&self, at_ms: u64) -> usize {
        self.lock().values().filter(|page| page.waits(at_ms)).count()
    }

    /// Everything.
    pub(crate) fn read(&self) -> BTreeMap<u64, Page> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Page>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Page ===

impl Page {
    /// Whether it waits at this moment.
    pub(crate) fn waits(&self, at_ms: u64) -> bool {
        self.came_ms.is_some_and(|came_ms| came_ms <= at_ms)
            && self.entered_ms.is_none_or(|entered_ms| at_ms < entered_ms)
            && self.left_ms.is_none_or(|left_ms| at_ms < left_ms)
    }
}

/// The longest by which somebody with a lower position, who had come before, entered after somebody with a
/// higher one, ms; and who. Who never entered counts until `end_ms`.
pub(crate) fn longest_overtaking<'a>(
    pages: impl Iterator<Item = (&'a u64, &'a Page)>,
    end_ms: u64,
) -> (u64, Option<u64>) {
    let mut waited: Vec<_> = pages
        .filter_map(|(guest, page)| {
            let until_ms = page.entered_ms.or(page.left_ms).unwrap_or(end_ms);
            Some((page.position?, page.came_ms?, until_ms, page.entered_ms, *guest))
        })
        .collect();
    waited.sort_unstable();
    let mut longest = (0, None);
    // From the end of the line: who entered first of those behind.
    let mut behind: Vec<u64> = Vec::new();
    for (_, came_ms, until_ms, entered_ms, guest) in waited.into_iter().rev() {
        let first = behind.iter().filter(|at_ms| **at_ms >= came_ms).min().copied();
        if let Some(by_ms) = first.map(|first| until_ms.saturating_sub(first))
            && by_ms > longest.0
        {
            longest = (by_ms, Some(guest));
        }
        behind.extend(entered_ms);
    }
    longest
}

/// How many who stood ahead of somebody, at most, had not even asked for their seat when it had its own.
pub(crate) fn most_overtaken(pages: &BTreeMap<u64, Page>) -> usize {
    let entered: Vec<_> = pages
        .values()
        .map(|page| (page.position.unwrap(), page.asked_ms.unwrap(), page.entered_ms.unwrap()))
        .collect();
    let overtaken = |position: u64, entered_ms: u64| {
        let ahead = entered
            .iter()
            .filter(|(other, asked_ms, _)| *other < position && *asked_ms > entered_ms);
        ahead.count()
    };
    entered.iter().map(|(position, _, at_ms)| overtaken(*position, *at_ms)).max().unwrap_or(0)
}
