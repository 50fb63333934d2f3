//! Redis's time at moments of this host: not a value but two bounds, from the answers that named a
//! time.
//!
//! An answer that says `t` was made between the sending of its call and its arrival. So Redis's clock
//! is ahead of this host's by at least `t − arrival` and at most `t − sending`; the best of many
//! answers are within a fraction of a millisecond. A history takes the lower bound for the
//! beginning of a call and the upper one for its end, so that no two services' events are ever said to be
//! in an order that they were not in.

use std::time::Duration;

use tokio::time::Instant;

/// Bounds are made anew so often, because clocks drift.
const WINDOW: Duration = Duration::from_secs(30);
/// Between two attempts to learn the time.
const PAUSE: Duration = Duration::from_secs(1);

/// Between which times a call took effect, ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) began_ms: u64,
    pub(super) at_ms: u64,
}

/// What is known of Redis's clock.
#[derive(Debug, Default)]
pub(super) struct ServerTime {
    /// Moments count from here.
    base: Option<Instant>,
    asked: Option<Instant>,
    /// Of this window, since when it is, and of the one before it.
    current: Option<(Instant, Ahead)>,
    before: Option<Ahead>,
}

/// By how much Redis's clock is ahead of the moments of this host: at least and at most, µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ahead {
    least: i64,
    most: i64,
}

// === impl ServerTime ===

impl ServerTime {
    /// Whether the time should be asked for. Then that counts as done.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let fresh = self.current.as_ref().is_some_and(|(since, _)| now < *since + WINDOW);
        let asked = self.asked.is_some_and(|asked| now < asked + PAUSE);
        if fresh || asked {
            return false;
        }
        self.asked = Some(now);
        true
    }

    /// Takes in an answer that arrived at `arrived` and says `redis_ms`, rounded down.
    pub(super) fn learn(&mut self, sent: Instant, arrived: Instant, redis_ms: u64) {
        let micros = i64::try_from(redis_ms).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        let least = micros - self.micros(arrived);
        let seen = Ahead { least, most: micros + 999 - self.micros(sent) };
        match &mut self.current {
            Some((since, ahead)) if arrived < *since + WINDOW => *ahead = ahead.and(seen),
            current => {
                self.before = current.take().map(|(_, ahead)| ahead);
                self.current = Some((arrived, seen));
            }
        }
        // A clock was set: what was learnt before is wrong.
        if self.ahead().is_some_and(|ahead| ahead.least > ahead.most) {
            (self.before, self.current) = (None, Some((arrived, seen)));
        }
    }

    /// The span from one moment to another, by Redis's clock, widened by what is not known.
    pub(super) fn span(&mut self, from: Instant, to: Instant) -> Option<Span> {
        let ahead = self.ahead()?;
        let began = self.micros(from) + ahead.least;
        let at = self.micros(to) + ahead.most;
        let ms = |micros: i64| u64::try_from(micros).unwrap_or(0);
        Some(Span { began_ms: ms(began) / 1000, at_ms: ms(at).div_ceil(1000) })
    }

    fn ahead(&self) -> Option<Ahead> {
        let (_, current) = self.current.as_ref()?;
        Some(self.before.map_or(*current, |before| before.and(*current)))
    }

    fn micros(&mut self, moment: Instant) -> i64 {
        let base = *self.base.get_or_insert(moment);
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        match moment.checked_duration_since(base) {
            Some(after) => micros(after),
            None => -micros(base.duration_since(moment)),
        }
    }
}

// === impl Ahead ===

impl Ahead {
    fn and(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), most: self.most.min(other.most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn after(base: Instant, micros: u64) -> Instant {
        base + Duration::from_micros(micros)
    }

    #[tokio::test]
    async fn bounds_are_as_narrow_as_the_fastest_ways_there_and_back() {
        let base = Instant::now();
        let mut time = ServerTime::default();
        assert!(time.span(base, base).is_none() && time.is_due(base));
        time.learn(base, after(base, 10_000), NOW + 5);
        let span = time.span(base, after(base, 10_000)).unwrap();
        assert_eq!(span, Span { began_ms: NOW - 5, at_ms: NOW + 16 });
        // Sent late, and answered at once: 20 ms is NOW + 20 then, to 0.2 ms.
        time.learn(after(base, 20_000), after(base, 20_200), NOW + 20);
        let span = time.span(after(base, 30_000), after(base, 30_000)).unwrap();
        assert_eq!(span, Span { began_ms: NOW + 29, at_ms: NOW + 31 });
        assert!(!time.is_due(after(base, 30_000)));
    }

    #[tokio::test]
    async fn a_clock_that_was_set_is_learnt_anew() {
        let base = Instant::now();
        let mut time = ServerTime::default();
        time.learn(base, after(base, 200), NOW);
        time.learn(after(base, 1_000), after(base, 1_200), NOW - 60_000);
        let span = time.span(after(base, 1_000), after(base, 1_200)).unwrap();
        assert_eq!(span, Span { began_ms: NOW - 60_001, at_ms: NOW - 59_998 });
    }

    #[tokio::test]
    async fn what_was_learnt_long_ago_is_forgotten() {
        let base = Instant::now();
        let mut time = ServerTime::default();
        // Every 20 s, with a clock that loses a millisecond a second.
        for step in 0..100_u64 {
            let moment = after(base, step * 20_000_000);
            time.learn(moment, moment, NOW + step * 19_980);
        }
        let last = after(base, 99 * 20_000_000);
        let span = time.span(last, last).unwrap();
        assert!(span.began_ms.abs_diff(NOW + 99 * 19_980) < 50, "{span:?}");
        assert!(span.at_ms.abs_diff(span.began_ms) < 50, "{span:?}");
    }
}
