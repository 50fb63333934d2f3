//! When a webhook that could not be told is tried again: soon at first, then seldom, for a day; never at a time that many
//! have in common.

/// How long after each failure, in seconds. Together a day.
const DELAYS_S: [u64; 12] = [1, 5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800];
/// The longest wait that a receiver may ask for, in seconds.
const MOST_ASKED_S: u64 = 3_600;
/// A wait is longer or shorter by up to a fifth.
const JITTER: u128 = 5;

/// What follows from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It is tried again after so many ms.
    In(u64),
    /// It has failed for a day: nobody is there.
    GiveUp,
}

/// What a failure says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Nobody is there, or has too much to do: whatever is sent.
    Away,
    /// This event is not wanted, whenever it is sent.
    Refused,
    /// It may be the event or the receiver.
    Other,
}

// === impl Cause ===

impl Cause {
    /// What an answer of this status says; `None`: there was none.
    #[must_use]
    pub const fn of(status: Option<u16>) -> Self {
        match status {
            None | Some(429 | 502..=504) => Self::Away,
            Some(401 | 403 | 404 | 408 | 410 | 425) => Self::Other,
            Some(400..=499) => Self::Refused,
            Some(_) => Self::Other,
        }
    }
}

/// What follows from the `failures`th failure in a row. `asked_s`: how long the receiver asks to be left alone;
/// `chance`: uniform over all of `u64`.
#[must_use]
pub fn after_failure(failures: u32, asked_s: Option<u64>, chance: u64) -> Retry {
    let nth = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(delay_ms) = DELAYS_S.get(nth).map(|seconds| seconds * 1_000) else {
        return Retry::GiveUp;
    };
    // From 1/5 less to 1/5 more.
    let least = u128::from(delay_ms) * (JITTER - 1) / JITTER;
    let spread = u128::from(delay_ms) * 2 / JITTER;
    let jittered = least + ((spread * u128::from(chance)) >> 64);
    let least = asked_s.unwrap_or(0).min(MOST_ASKED_S) * 1_000;
    Retry::In(u64::try_from(jittered).unwrap_or(delay_ms).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_for_a_day_and_then_no_more() {
        let day: u64 = DELAYS_S.iter().sum();
        assert!((85_000..=86_400).contains(&day), "{day}");
        assert_eq!(after_failure(13, None, 0), Retry::GiveUp);
        assert_eq!(after_failure(u32::MAX, None, 0), Retry::GiveUp);
        assert!(matches!(after_failure(12, None, 0), Retry::In(_)));
    }

    #[test]
    fn a_status_says_whether_the_event_is_to_blame() {
        for status in [None, Some(429), Some(502), Some(503), Some(504)] {
            assert_eq!(Cause::of(status), Cause::Away, "{status:?}");
        }
        for status in [307, 401, 403, 404, 408, 425, 500, 501] {
            assert_eq!(Cause::of(Some(status)), Cause::Other, "{status}");
        }
        for status in [400, 402, 413, 422] {
            assert_eq!(Cause::of(Some(status)), Cause::Refused, "{status}");
        }
    }

    #[test]
    fn waits_differ_by_chance_within_a_fifth() {
        assert_eq!(after_failure(2, None, 0), Retry::In(4_000));
        assert_eq!(after_failure(2, None, u64::MAX / 2), Retry::In(4_999));
        assert_eq!(after_failure(2, None, u64::MAX), Retry::In(5_999));
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_but_not_for_any() {
        assert_eq!(after_failure(1, Some(60), 0), Retry::In(60_000));
        assert_eq!(after_failure(1, Some(1 << 60), 0), Retry::In(3_600_000));
        assert_eq!(after_failure(3, Some(1), 0), Retry::In(24_000), "but not for less");
    }
}
