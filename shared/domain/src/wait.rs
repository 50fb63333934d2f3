//! Estimates of the wait. Unknown is said as unknown (`None`), never guessed.

use crate::{check_in::Standing, slots::Use};

/// How long someone has yet to wait, in seconds, as far as it can be said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The expected wait; `None`: unknown.
    pub seconds: Option<f64>,
    /// Where chance decides: a quarter, half, and three quarters of those who wait like this have
    /// entered after so long.
    pub quartiles: Option<[f64; 3]>,
}

// === impl Estimate ===

impl Estimate {
    /// Nobody can say.
    pub const UNKNOWN: Self = Self { seconds: None, quartiles: None };

    /// So many seconds.
    #[must_use]
    pub fn of(seconds: f64) -> Self {
        Self { seconds: Some(seconds), quartiles: None }
    }

    /// By these quartiles; the middle one is the expected wait.
    #[must_use]
    pub fn spread(quartiles: [f64; 3]) -> Self {
        Self { seconds: Some(quartiles[1]), quartiles: Some(quartiles) }
    }
}

// === impl Standing ===

impl Standing {
    /// The wait in order of positions: people ahead who are still there, divided by the pace, once
    /// the rate lets anyone in.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn wait_seconds(&self) -> Option<f64> {
        let known = self.admissions_per_second > 0.0;
        let behind_others = || self.people_ahead as f64 / self.admissions_per_second;
        known.then(|| self.blocked_seconds + behind_others())
    }

    /// The quartiles of the wait where everyone has the same chance: after `n` minutes a share `p`
    /// has entered, `n = ln(1 - p) / ln(1 - P)`, with `P` the share that enters in a minute. Where
    /// all enter within the minute, they do so evenly.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of people")]
    pub fn quartiles(&self) -> Option<[f64; 3]> {
        let per_minute = self.admissions_per_second * 60.0;
        if per_minute <= 0.0 {
            return None;
        }
        let chance = per_minute / (self.waiting as f64).max(1.0);
        let minutes = |part: f64| {
            if chance < 1.0 { (-part).ln_1p() / (-chance).ln_1p() } else { part / chance }
        };
        Some([0.25, 0.5, 0.75].map(|part| self.blocked_seconds + minutes(part) * 60.0))
    }
}

/// The pace to expect of a room while people wait, in admissions per second: what the rate limit
/// lets through where that is what holds people back, else what was `measured`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
pub fn expected_per_second(usage: &Use, measured: f64) -> f64 {
    let full = usage.ceiling.is_some_and(|ceiling| usage.active >= ceiling);
    match usage.rate {
        Some(rate) if !full => rate as f64 / 60.0,
        _ => measured,
    }
}

/// The pace of a room: admissions, as a mean over the last seconds, and the recent peak of seats
/// that came free.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    per_second: f64,
    peak: f64,
    last: Option<(u64, u64)>,
    second: Option<(u64, u64)>,
}

/// The mean looks back about so long.
const SMOOTHING_SECONDS: f64 = 15.0;
/// The peak of one second fades over about so long.
const PEAK_SECONDS: f64 = 60.0;
/// Seconds' worth of admissions, at the mean pace, that stand by at the door.
const STANDBY_SECONDS: f64 = 4.0;

// === impl Pace ===

impl Pace {
    /// Takes in that by `now_ms` so many sessions had begun, and so many had ended.
    pub fn observe(&mut self, now_ms: u64, admitted: u64, ended: u64) {
        self.observe_peak(now_ms, ended);
        let Some(before) = self.last.replace((now_ms, admitted)) else { return };
        let Some((pace, seconds)) = pace_since(before, now_ms, admitted) else { return };
        self.per_second += (pace - self.per_second) * (1.0 - (-seconds / SMOOTHING_SECONDS).exp());
    }

    /// Admissions per second; 0 before any.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        if self.per_second < 1e-3 { 0.0 } else { self.per_second }
    }

    /// How many should stand by at the door: some seconds' worth of admissions, and never fewer
    /// than seats have lately come free within one second (people who entered together often
    /// leave together).
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    pub fn standby(&self, usage: &Use) -> u64 {
        let expected = expected_per_second(usage, self.per_second());
        (STANDBY_SECONDS * expected).max(self.peak).ceil().max(1.0) as u64
    }

    fn observe_peak(&mut self, now_ms: u64, ended: u64) {
        let Some(begun) = self.second else {
            self.second = Some((now_ms, ended));
            return;
        };
        if now_ms.saturating_sub(begun.0) >= 1_000 {
            self.second = Some((now_ms, ended));
            let Some((pace, seconds)) = pace_since(begun, now_ms, ended) else { return };
            self.peak = pace.max(self.peak * (-seconds / PEAK_SECONDS).exp());
        }
    }
}

/// The pace per second between an earlier count and now, and the seconds between.
#[expect(clippy::cast_precision_loss, reason = "short spans, counts of people")]
fn pace_since((then_ms, before): (u64, u64), now_ms: u64, total: u64) -> Option<(f64, f64)> {
    let seconds = now_ms.saturating_sub(then_ms) as f64 / 1000.0;
    (seconds > 0.0 && total >= before).then(|| ((total - before) as f64 / seconds, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(people_ahead: u64, waiting: u64, per_minute: f64) -> Standing {
        let admissions_per_second = per_minute / 60.0;
        Standing { people_ahead, waiting, admissions_per_second, ..Standing::default() }
    }

    #[test]
    fn people_ahead_divided_by_the_pace() {
        let wait = |ahead, per_minute| standing(ahead, 0, per_minute).wait_seconds();
        assert_eq!(wait(10_000, 1_000.0).map(f64::round), Some(600.0));
        assert_eq!(wait(0, 60.0), Some(0.0));
        assert_eq!(wait(10, 0.0), None);
        let blocked = Standing { blocked_seconds: 45.0, ..standing(60, 60, 60.0) };
        assert_eq!(blocked.wait_seconds(), Some(105.0), "first the window, then those ahead");
    }

    #[test]
    fn quartiles_of_a_random_wait() {
        let minutes = |waiting, per_minute| {
            standing(0, waiting, per_minute).quartiles().map(|all| all.map(|n| n / 60.0))
        };
        let [low, middle, high] = minutes(100, 10.0).unwrap();
        assert!((low - 2.7305).abs() < 1e-4, "{low}");
        assert!((middle - 6.5788).abs() < 1e-4, "6 minutes 35 seconds: {middle}");
        assert!((high - 13.1576).abs() < 1e-4, "{high}");
        assert_eq!(minutes(100, 200.0), Some([0.125, 0.25, 0.375]), "all within half a minute");
        assert_eq!(minutes(100, 0.0), None);
    }

    #[test]
    fn as_many_stand_by_as_seats_come_free_in_four_seconds_or_in_one_burst() {
        let mut steady = Pace::default();
        let mut bursts = Pace::default();
        for tick in 0..400_u64 {
            steady.observe(tick * 250, tick * 5 + 900, tick * 5);
            bursts.observe(tick * 250, tick / 40 * 500, tick / 40 * 500);
        }
        assert_eq!(Pace::default().standby(&Use::default()), 1);
        assert_eq!(steady.standby(&Use::default()), 80);
        assert!((400..=500).contains(&bursts.standby(&Use::default())), "{bursts:?}");
    }

    #[test]
    fn a_rate_limit_is_the_pace_to_expect_where_it_is_what_holds_people_back() {
        let rated = Use { rate: Some(1_200), ..Use::default() };
        assert!((expected_per_second(&rated, 0.0) - 20.0).abs() < 1e-9);
        assert_eq!(Pace::default().standby(&rated), 80, "also before the first has entered");
        let full = Use { ceiling: Some(5), active: 5, ..rated };
        assert!((expected_per_second(&full, 0.5) - 0.5).abs() < 1e-9);
        assert!((expected_per_second(&Use::default(), 0.5) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_pace_settles_at_what_happens_and_falls_when_it_stops() {
        let mut pace = Pace::default();
        for tick in 0..400_u64 {
            pace.observe(tick * 250, tick * 5, 0);
        }
        assert!((pace.per_second() - 20.0).abs() < 0.1, "{pace:?}");
        for tick in 400..1200_u64 {
            pace.observe(tick * 250, 400 * 5, 0);
        }
        assert!(pace.per_second() < 0.1, "{pace:?}");
    }
}
