//! The counts of a room's last day, small: about 100 kB of a room in which somebody came in every minute, in two
//! regions. A count only rises: what was seen once was there.

use std::collections::{BTreeMap, btree_map::Entry};

use vestibule_store::MinuteTraffic;

use super::Minutes;

/// Newcomers by minute and region, and admissions by minute.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The regions, by the column of their counts less one.
    regions: Vec<String>,
    /// By minute since 1970, and column.
    cells: BTreeMap<(u32, u16), u64>,
    sum: u64,
}

/// The column of admissions.
const ADMITTED: u16 = 0;

// === impl Counts ===

impl Counts {
    /// Takes in what was counted.
    pub(super) fn take(&mut self, minutes: &Minutes) {
        for (minute, MinuteTraffic { arrivals, admitted }) in minutes {
            let Ok(minute) = u32::try_from(*minute) else { continue };
            for (region, count) in arrivals {
                if let Some(column) = self.column(region) {
                    self.raise((minute, column), *count);
                }
            }
            self.raise((minute, ADMITTED), *admitted);
        }
    }

    /// What was counted from this minute on.
    pub(super) fn since(&self, minute: u64) -> Minutes {
        let mut minutes = Minutes::new();
        let Ok(first) = u32::try_from(minute) else { return minutes };
        for ((minute, column), count) in self.cells.range((first, ADMITTED)..) {
            let traffic = minutes.entry(u64::from(*minute)).or_default();
            match usize::from(*column).checked_sub(1) {
                Some(region) => drop(traffic.arrivals.insert(self.regions[region].clone(), *count)),
                None => traffic.admitted = *count,
            }
        }
        minutes
    }

    /// Forgets what was counted before this minute.
    pub(super) fn forget_before(&mut self, minute: u64) {
        let Ok(first) = u32::try_from(minute) else { return };
        while let Some(cell) = self.cells.first_entry().filter(|cell| cell.key().0 < first) {
            self.sum -= cell.remove();
        }
    }

    /// How many were counted.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// That of a region; `None`: there are too many.
    fn column(&mut self, region: &str) -> Option<u16> {
        let known = self.regions.iter().position(|known| known == region);
        let index = known.unwrap_or_else(|| {
            self.regions.push(region.to_owned());
            self.regions.len() - 1
        });
        u16::try_from(index + 1).ok()
    }

    fn raise(&mut self, at: (u32, u16), count: u64) {
        match self.cells.entry(at) {
            Entry::Vacant(cell) if count > 0 => {
                cell.insert(count);
                self.sum += count;
            }
            Entry::Occupied(mut cell) if *cell.get() < count => {
                self.sum += count - cell.insert(count);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(counts: &[(u64, u64, u64)]) -> Minutes {
        let minute = |&(minute, count, admitted): &(u64, u64, u64)| {
            let arrivals = BTreeMap::from([("eu".to_owned(), count), ("us".to_owned(), 2 * count)]);
            (minute, MinuteTraffic { arrivals, admitted })
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
