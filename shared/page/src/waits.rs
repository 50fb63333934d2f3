//! Waits in words: rounded to steps that grow with the length, so that they do not seem more exact
//! than they are and rarely change. They are rounded up, because a turn that comes early
//! disappoints nobody.

/// A wait in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitPhrase {
    /// Less than a minute.
    Moment,
    /// About so many minutes.
    Minutes(u64),
    /// More than so many hours.
    OverHours(u64),
    /// More than a day.
    OverDay,
    /// From so many to so many minutes.
    BetweenMinutes(u64, u64),
    /// From so many to so many hours.
    BetweenHours(u64, u64),
    /// Up to so many hours.
    UpToHours(u64),
}

/// The steps, in minutes.
const STEPS: [u64; 11] = [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60];
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// The latest end of a range in minutes; ranges that end later are in hours.
const LONGEST_IN_MINUTES: u64 = 120;

// === impl WaitPhrase ===

impl WaitPhrase {
    /// One expected wait, in seconds.
    pub(crate) fn expected(seconds: u64) -> Self {
        match seconds {
            0..60 => Self::Moment,
            DAY.. => Self::OverDay,
            seconds if seconds > HOUR => Self::OverHours(seconds / HOUR),
            seconds => Self::Minutes(step(seconds.div_ceil(60))),
        }
    }

    /// The wait in a random room, from the lower to the upper quartile, in seconds.
    pub(crate) fn spread(low: u64, high: u64) -> Self {
        let (from, to) = (low / 60, high.div_ceil(60));
        match (from, to) {
            _ if high < 60 => Self::Moment,
            _ if high > DAY => Self::OverDay,
            (from, to) if to > LONGEST_IN_MINUTES => {
                let (from, to) = (from / 60, to.div_ceil(60));
                if from == 0 { Self::UpToHours(to) } else { Self::BetweenHours(from, to) }
            }
            (from, to) if step(to) <= step(from) => Self::Minutes(step(to)),
            (from, to) => Self::BetweenMinutes(step_down(from).max(1), step_in_range(to)),
        }
    }

    /// The message, and the numbers in it.
    pub(crate) fn message(self) -> (&'static str, Vec<(&'static str, u64)>) {
        match self {
            Self::Moment => ("wait-moment", Vec::new()),
            Self::Minutes(minutes) => ("wait-minutes", vec![("minutes", minutes)]),
            Self::OverHours(hours) => ("wait-over-hours", vec![("hours", hours)]),
            Self::OverDay => ("wait-over-day", Vec::new()),
            Self::BetweenMinutes(from, to) => {
                ("wait-between-minutes", vec![("from", from), ("to", to)])
            }
            Self::BetweenHours(from, to) => {
                ("wait-between-hours", vec![("from", from), ("to", to)])
            }
            Self::UpToHours(hours) => ("wait-up-to-hours", vec![("hours", hours)]),
        }
    }
}

/// The step that `minutes` are rounded up to.
fn step(minutes: u64) -> u64 {
    STEPS.into_iter().find(|step| *step >= minutes).unwrap_or(60)
}

/// The same for the end of a range, which may be above an hour.
fn step_in_range(minutes: u64) -> u64 {
    if minutes > 60 { minutes.div_ceil(30) * 30 } else { step(minutes) }
}

fn step_down(minutes: u64) -> u64 {
    if minutes > 60 {
        return minutes / 30 * 30;
    }
    STEPS.into_iter().rev().find(|step| *step <= minutes).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_rounded_up_to_a_step() {
        let phrase = WaitPhrase::expected;
        assert_eq!((phrase(0), phrase(59)), (WaitPhrase::Moment, WaitPhrase::Moment));
        assert_eq!((phrase(60), phrase(61), phrase(240)), minutes(1, 2, 5));
        assert_eq!((phrase(601), phrase(1_801), phrase(3_600)), minutes(15, 45, 60));
        assert_eq!(
            (phrase(3_601), phrase(7_300)),
            (WaitPhrase::OverHours(1), WaitPhrase::OverHours(2))
        );
        assert_eq!(
            (phrase(86_399), phrase(86_400)),
            (WaitPhrase::OverHours(23), WaitPhrase::OverDay)
        );
        assert_eq!(phrase(u64::MAX), WaitPhrase::OverDay);
    }

    #[test]
    fn the_steps_never_go_down_as_the_wait_grows() {
        let mut last = 0;
        for seconds in 60..=3_600 {
            let WaitPhrase::Minutes(minutes) = WaitPhrase::expected(seconds) else {
                panic!("{seconds}")
            };
            assert!(minutes >= last && minutes * 60 >= seconds, "{seconds}: {minutes}");
            last = minutes;
        }
    }

    #[test]
    fn what_chance_decides_is_a_range() {
        let phrase = WaitPhrase::spread;
        assert_eq!(phrase(300, 900), WaitPhrase::BetweenMinutes(5, 15));
        assert_eq!(phrase(20, 50), WaitPhrase::Moment);
        assert_eq!(phrase(20, 130), WaitPhrase::BetweenMinutes(1, 3));
        assert_eq!(phrase(250, 290), WaitPhrase::Minutes(5));
        assert_eq!(phrase(1_300, 5_000), WaitPhrase::BetweenMinutes(20, 90));
        assert_eq!(phrase(1_300, 9_000), WaitPhrase::UpToHours(3));
        assert_eq!(phrase(4_000, 9_000), WaitPhrase::BetweenHours(1, 3));
        assert_eq!(phrase(4_000, 90_000), WaitPhrase::OverDay);
    }

    fn minutes(a: u64, b: u64, c: u64) -> (WaitPhrase, WaitPhrase, WaitPhrase) {
        (WaitPhrase::Minutes(a), WaitPhrase::Minutes(b), WaitPhrase::Minutes(c))
    }
}
