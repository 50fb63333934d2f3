//! How often something may happen: so many times a second, and two seconds' worth at once. All that is remembered of it is
//! one time, until when what has happened is paid for. Where that is kept is the caller's.

/// How many seconds' worth may come at once.
const BURST_SECONDS: u64 = 2;

const SECOND_US: u64 = 1_000_000;

/// It happens too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooOften {
    /// After how long it may happen again, ms.
    pub wait_ms: u64,
}

/// Until when it is paid for, unix µs, if it happens once more at `now_ms`, where it may happen `per_second` times;
/// `paid_until_us`: until when it was before, 0 at first.
///
/// # Errors
/// [`TooOften`], which changes nothing.
pub fn once_more(paid_until_us: u64, now_ms: u64, per_second: u64) -> Result<u64, TooOften> {
    let (time_us, price_us) = (now_ms * 1000, SECOND_US / per_second.clamp(1, SECOND_US));
    let paid_until = paid_until_us.max(time_us) + price_us;
    // A single one is always allowed, however dear it is.
    let most = time_us + (BURST_SECONDS * SECOND_US).max(price_us);
    if paid_until > most {
        return Err(TooOften { wait_ms: (paid_until - most).div_ceil(1000) });
    }
    Ok(paid_until)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `tries` in each of these ms are allowed.
    fn allowed(per_second: u64, times: impl IntoIterator<Item = u64>, tries: u64) -> u64 {
        let (mut paid, mut count) = (0, 0);
        for now_ms in times {
            for _ in 0..tries {
                if let Ok(until) = once_more(paid, now_ms, per_second) {
                    (paid, count) = (until, count + 1);
                }
            }
        }
        count
    }

    #[test]
    fn two_seconds_worth_comes_at_once_and_then_the_rate() {
        for rate in [1, 5, 50, 1_000] {
            assert_eq!(allowed(rate, [9_000], 3 * rate), 2 * rate, "{rate} a second");
            let for_ten_seconds = (0..10_000).map(|ms| 9_000 + ms);
            let count = allowed(rate, for_ten_seconds, 2);
            assert!((11 * rate..=12 * rate).contains(&count), "{count} at {rate} a second");
        }
    }

    #[test]
    fn whoever_is_refused_is_told_when_it_is_allowed() {
        let paid = once_more(once_more(0, 5_000, 1).unwrap(), 5_000, 1).unwrap();
        let TooOften { wait_ms } = once_more(paid, 5_400, 1).unwrap_err();
        assert_eq!(wait_ms, 600);
        assert!(once_more(paid, 5_400 + wait_ms - 1, 1).is_err());
        assert!(once_more(paid, 5_400 + wait_ms, 1).is_ok());
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let paid = once_more(0, 60_000, 1).unwrap();
        assert!(once_more(paid, 1_000, 1).is_err());
    }
}
