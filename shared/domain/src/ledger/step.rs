//! The steps in which a history is told, and those in which it is kept.

use std::collections::BTreeMap;

use super::Figures;

/// Minutes of what is kept for longer than two days.
pub const COARSE_MINUTES: u64 = 5;

/// How long a stretch of time is of which figures are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Step {
    /// As it is kept: of old times [`COARSE_MINUTES`].
    #[default]
    Minute,
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
    /// A day, of UTC.
    Day,
}

// === impl Step ===

impl Step {
    /// In minutes.
    #[must_use]
    pub fn minutes(self) -> u64 {
        match self {
            Self::Minute => 1,
            Self::FiveMinutes => COARSE_MINUTES,
            Self::Hour => 60,
            Self::Day => 24 * 60,
        }
    }

    /// Stretches of time of this step, by their first minute since 1970, each with its length in minutes. `minutes` and
    /// `coarse` are the same times, the latter by [`COARSE_MINUTES`]; of each the one or the other may be lost.
    #[must_use]
    pub fn of(
        self,
        minutes: BTreeMap<u64, Figures>,
        coarse: BTreeMap<u64, Figures>,
    ) -> BTreeMap<u64, (u64, Figures)> {
        if self == Self::Minute {
            return fine(minutes, coarse);
        }
        let mut fives = coarse;
        for (at, sum) in summed(minutes, COARSE_MINUTES) {
            fives.entry(at).or_default().join(&sum);
        }
        let stretch = |(at, figures)| (at, (self.minutes(), figures));
        summed(fives, self.minutes()).into_iter().map(stretch).collect()
    }
}

/// Minutes where there are any, and else what is kept for longer.
fn fine(
    minutes: BTreeMap<u64, Figures>,
    coarse: BTreeMap<u64, Figures>,
) -> BTreeMap<u64, (u64, Figures)> {
    let is_fine = |at: u64| minutes.range(at..at + COARSE_MINUTES).next().is_some();
    let old = coarse.into_iter().filter(|(at, _)| !is_fine(*at));
    let old: Vec<_> = old.map(|(at, figures)| (at, (COARSE_MINUTES, figures))).collect();
    minutes.into_iter().map(|(at, figures)| (at, (1, figures))).chain(old).collect()
}

fn summed(all: BTreeMap<u64, Figures>, minutes: u64) -> BTreeMap<u64, Figures> {
    let mut sums: BTreeMap<u64, Figures> = BTreeMap::new();
    for (at, figures) in all {
        sums.entry(at - at % minutes).or_default().add_all(&figures);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::{super::Figure, *};

    fn arrived(counts: &[(u64, u64)]) -> BTreeMap<u64, Figures> {
        let one = |&(at, count): &(u64, u64)| {
            let mut figures = Figures::default();
            figures.add("eu", Figure::Arrived, count);
            (at, figures)
        };
        counts.iter().map(one).collect()
    }

    fn told(step: Step, minutes: &[(u64, u64)], coarse: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
        let stretches = step.of(arrived(minutes), arrived(coarse));
        let one = |(at, (length, figures)): (u64, (u64, Figures))| {
            (at, length, figures.total(Figure::Arrived))
        };
        stretches.into_iter().map(one).collect()
    }

    #[test]
    fn old_minutes_are_told_by_the_step_that_there_is() {
        let (minutes, coarse) = ([(61, 2), (64, 1)], [(5, 7), (60, 3)]);
        assert_eq!(told(Step::Minute, &minutes, &coarse), [(5, 5, 7), (61, 1, 2), (64, 1, 1)]);
        assert_eq!(told(Step::FiveMinutes, &minutes, &coarse), [(5, 5, 7), (60, 5, 3)]);
        assert_eq!(told(Step::Hour, &minutes, &coarse), [(0, 60, 7), (60, 60, 3)]);
        assert_eq!(told(Step::Day, &minutes, &coarse), [(0, 1_440, 10)]);
    }

    #[test]
    fn what_one_of_both_lacks_the_other_has() {
        assert_eq!(told(Step::FiveMinutes, &[(0, 2), (1, 2)], &[(0, 3)]), [(0, 5, 4)]);
        assert_eq!(told(Step::FiveMinutes, &[(0, 2)], &[(0, 3)]), [(0, 5, 3)]);
    }
}
