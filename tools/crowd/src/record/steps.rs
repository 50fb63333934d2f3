//! A level that changes in steps over time: how many are inside, how many wait. Built from
//! intervals or from samples; everything the report and the pictures say about shares of time comes from here.

use crate::crowd::number::level;

/// A step function of time, zero before its first step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    /// From each moment on, the level; in order of time, no moment twice.
    points: Vec<(f64, i64)>,
}

impl Steps {
    /// How many of these `[from, until)` intervals cover each moment.
    pub(crate) fn covering(intervals: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut changes: Vec<(f64, i64)> = intervals
            .filter(|(from, until)| from < until)
            .flat_map(|(from, until)| [(from, 1), (until, -1)])
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut level = 0;
        let levels = changes.into_iter().map(|(at, change)| {
            level += change;
            (at, level)
        });
        Self::of(levels)
    }

    /// A level that holds from each sample until the next. Samples must be in order of time.
    pub(crate) fn of(samples: impl Iterator<Item = (f64, i64)>) -> Self {
        let mut points: Vec<(f64, i64)> = Vec::new();
        for (at, level) in samples {
            match points.last_mut() {
                // What changes at the same moment changes together.
                Some(last) if last.0 >= at => last.1 = level,
                _ => points.push((at, level)),
            }
        }
        Self { points }
    }

    /// The highest level; 0 when there never was any.
    pub(crate) fn peak(&self) -> i64 {
        self.points.iter().map(|p| p.1).max().unwrap_or(0)
    }

    /// The level at a moment.
    pub(crate) fn at(&self, moment: f64) -> i64 {
        let after = self.points.partition_point(|p| p.0 <= moment);
        after.checked_sub(1).map_or(0, |last| self.points[last].1)
    }

    /// First and last moment of a level above zero.
    pub(crate) fn span(&self) -> Option<(f64, f64)> {
        let first = self.points.iter().find(|p| p.1 > 0)?.0;
        let last = self.points.iter().rposition(|p| p.1 > 0)?;
        let until = self.points.get(last + 1).unwrap_or(&self.points[last]);
        Some((first, until.0))
    }

    /// The time-weighted mean of this level over the moments in `[from, until)` at which all of
    /// `busy` are above zero, and how many seconds those were. `None` when there were none.
    pub(crate) fn mean_while(&self, busy: &[&Self], from: f64, until: f64) -> Option<(f64, f64)> {
        let mut moments: Vec<f64> =
            busy.iter().chain([&self]).flat_map(|of| &of.points).map(|p| p.0).collect();
        moments.extend([from, until]);
        moments.retain(|at| (from..=until).contains(at));
        moments.sort_by(f64::total_cmp);
        let (mut area, mut time) = (0.0, 0.0);
        for pair in moments.windows(2) {
            if busy.iter().all(|of| of.at(pair[0]) > 0) {
                area += level(self.at(pair[0])) * (pair[1] - pair[0]);
                time += pair[1] - pair[0];
            }
        }
        (time > 0.0).then(|| (area / time, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(intervals: &[(f64, f64)]) -> Steps {
        Steps::covering(intervals.iter().copied())
    }

    #[test]
    fn a_seat_handed_over_at_once_is_one_seat() {
        let inside = steps(&[(0.0, 10.0), (10.0, 20.0), (5.0, 10.0), (30.0, 30.0)]);
        assert_eq!(inside.peak(), 2);
        let levels = [-1.0, 0.0, 7.0, 10.0, 19.9, 20.0].map(|at| inside.at(at));
        assert_eq!(levels, [0, 1, 2, 1, 1, 0]);
        assert_eq!(inside.span(), Some((0.0, 20.0)));
    }

    #[test]
    fn the_mean_counts_only_busy_time() {
        // Two inside for 10 s, one for 10 s; somebody waits in the last 4 s of the first half and
        // the first second of the other.
        let inside = steps(&[(0.0, 20.0), (0.0, 10.0)]);
        let waiting = steps(&[(6.0, 11.0), (6.5, 8.0)]);
        let (mean, time) = inside.mean_while(&[&waiting], 0.0, 100.0).expect("somebody waits");
        assert!((time - 5.0).abs() < 1e-9);
        assert!((mean - 9.0 / 5.0).abs() < 1e-9);
        let (mean, time) = inside.mean_while(&[&waiting], 9.0, 10.5).expect("somebody waits");
        assert!((time - 1.5).abs() < 1e-9 && (mean - 2.5 / 1.5).abs() < 1e-9);
        assert_eq!(inside.mean_while(&[&waiting], 11.0, 100.0), None);
    }

    #[test]
    fn an_empty_site_while_people_wait_counts_as_empty() {
        let waiting = steps(&[(0.0, 10.0)]);
        assert_eq!(steps(&[(5.0, 10.0)]).mean_while(&[&waiting], 0.0, 10.0), Some((0.5, 10.0)));
    }

    #[test]
    fn the_mean_counts_where_all_are_busy() {
        let busy = [&steps(&[(0.0, 4.0), (0.0, 4.0)]), &steps(&[(3.0, 9.0)])];
        assert_eq!(steps(&[(3.5, 9.0)]).mean_while(&busy, 0.0, 10.0), Some((0.5, 1.0)));
    }

    #[test]
    fn samples_hold_until_the_next() {
        let seen = Steps::of([(0.5, 3), (1.0, 8), (1.0, 5)].into_iter());
        assert_eq!([0.0, 0.7, 1.0, 9.0].map(|at| seen.at(at)), [0, 3, 5, 5]);
    }
}
