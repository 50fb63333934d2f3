//! The counts of a room's last day, small: some 24 bytes each, so about 100 kB of a room in which somebody came in every
//! minute, in two regions, and six times as much of one in which there was everything in every minute. A count only
//! rises, and so does a level within its minute: what was seen once was there.

use std::collections::{BTreeMap, btree_map::Entry};

use vestibule_domain::ledger::Figure;
use vestibule_store::MinuteTraffic;

use super::Minutes;

/// What was counted, by minute.
#[derive(Debug, Default)]
pub(super) struct Counts {
    columns: Vec<Column>,
    /// By minute since 1970, and column.
    cells: BTreeMap<(u32, u16), u64>,
    /// How many came and entered.
    sum: u64,
}

/// What is counted in one column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Admitted,
    Arrived(String),
    Other(String, Figure),
}

// === impl Counts ===

impl Counts {
    /// Takes in what was counted.
    pub(super) fn take(&mut self, minutes: &Minutes) {
        for (minute, MinuteTraffic { arrivals, admitted, figures }) in minutes {
            let Ok(minute) = u32::try_from(*minute) else { continue };
            for (region, count) in arrivals {
                self.raise(minute, &Column::Arrived(region.clone()), *count);
            }
            self.raise(minute, &Column::Admitted, *admitted);
            for (region, figure, count) in figures.iter() {
                self.raise(minute, &Column::Other(region.to_owned(), figure), count);
            }
        }
    }

    /// What was counted from this minute on.
    pub(super) fn since(&self, minute: u64) -> Minutes {
        let mut minutes = Minutes::new();
        let Ok(first) = u32::try_from(minute) else { return minutes };
        for ((minute, column), count) in self.cells.range((first, 0)..) {
            let traffic = minutes.entry(u64::from(*minute)).or_default();
            match &self.columns[usize::from(*column)] {
                Column::Admitted => traffic.admitted = *count,
                Column::Arrived(region) => drop(traffic.arrivals.insert(region.clone(), *count)),
                Column::Other(region, figure) => traffic.figures.add(region, *figure, *count),
            }
        }
        minutes
    }

    /// Forgets what was counted before this minute.
    pub(super) fn forget_before(&mut self, minute: u64) {
        let Ok(first) = u32::try_from(minute) else { return };
        while let Some(cell) = self.cells.first_entry().filter(|cell| cell.key().0 < first) {
            let ((_, column), count) = cell.remove_entry();
            if self.columns[usize::from(column)].is_of_people() {
                self.sum -= count;
            }
        }
    }

    /// How many came and entered.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// Whether nothing was counted.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The place of a column; `None`: there are too many.
    fn column(&mut self, column: &Column) -> Option<u16> {
        let known = self.columns.iter().position(|known| known == column);
        let index = known.unwrap_or_else(|| {
            self.columns.push(column.clone());
            self.columns.len() - 1
        });
        u16::try_from(index).ok()
    }

    fn raise(&mut self, minute: u32, column: &Column, count: u64) {
        let is_of_people = column.is_of_people();
        let Some(at) = self.column(column) else { return };
        let before = match self.cells.entry((minute, at)) {
            Entry::Vacant(cell) if count > 0 => {
                cell.insert(count);
                0
            }
            Entry::Occupied(mut cell) if *cell.get() < count => cell.insert(count),
            _ => return,
        };
        if is_of_people {
            self.sum += count - before;
        }
    }
}

// === impl Column ===

impl Column {
    /// Whether it counts newcomers or admissions.
    fn is_of_people(&self) -> bool {
        matches!(self, Self::Admitted | Self::Arrived(_))
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::ledger::Figures;

    use super::*;

    fn minutes(counts: &[(u64, u64, u64)]) -> Minutes {
        let minute = |&(minute, count, admitted): &(u64, u64, u64)| {
            let arrivals = BTreeMap::from([("eu".to_owned(), count), ("us".to_owned(), 2 * count)]);
            let mut figures = Figures::default();
            figures.add("", Figure::Waiting, 2 * count);
            (minute, MinuteTraffic { arrivals, admitted, figures })
        };
        counts.iter().map(minute).collect()
    }

    #[test]
    fn a_count_only_rises_and_old_ones_are_forgotten() {
        let mut counts = Counts::default();
        counts.take(&minutes(&[(5, 10, 3), (6, 4, 0)]));
        counts.take(&minutes(&[(5, 7, 4), (7, 1, 1)]));
        assert_eq!(counts.since(0), minutes(&[(5, 10, 4), (6, 4, 0), (7, 1, 1)]));
        assert_eq!(counts.since(6), minutes(&[(6, 4, 0), (7, 1, 1)]));
        assert_eq!(counts.sum(), 34 + 12 + 4);
        counts.forget_before(6);
        assert_eq!((counts.since(0), counts.sum()), (minutes(&[(6, 4, 0), (7, 1, 1)]), 16));
    }
}
