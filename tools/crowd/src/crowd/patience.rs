//! When somebody who will not wait to the end closes the tab. Such a visitor has patience for a part
//! of its wait, and guesses how long that is by what it was told, else by the limits.

use super::Setting;

/// How the visitors of a run guess their wait when nobody tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Admissions per second to expect from the limits.
    pub(crate) expected_pace: Option<f64>,
    /// The wait to guess when there is nothing to go by, in seconds.
    pub(crate) fallback_wait: f64,
}

/// What a visitor knows of its wait at a check-in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownWait {
    /// Seconds waited so far.
    pub(crate) waited: f64,
    /// Seconds still to wait, if told.
    pub(crate) wait: Option<f64>,
    /// People ahead, if told.
    pub(crate) people_ahead: Option<f64>,
}

// === impl Patience ===

impl Patience {
    /// That of a run with this setting.
    pub(crate) fn new(setting: &Setting) -> Self {
        let held = if setting.leave_silently { setting.session_seconds } else { None };
        let held = held.unwrap_or(setting.stay_seconds).max(1.0);
        let by_ceiling = setting.ceiling.map(|ceiling| f64::from(ceiling) / held);
        let by_rate = setting.rate_per_minute.map(|rate| f64::from(rate) / 60.0);
        Self {
            expected_pace: [by_ceiling, by_rate].into_iter().flatten().min_by(f64::total_cmp),
            fallback_wait: setting.arrive_seconds + setting.stay_seconds,
        }
    }

    /// Seconds until a visitor closes the tab who has patience for `part` of its wait, going by what
    /// it now knows. The guess is made anew at each check-in, so that a wrong first estimate does
    /// no harm.
    pub(crate) fn closes_tab_in(&self, part: f64, known: &KnownWait) -> f64 {
        let by_pace = |pace: f64| known.people_ahead.map(|people| people / pace);
        let guess = || self.expected_pace.and_then(by_pace);
        let left = known.wait.or_else(guess).unwrap_or(self.fallback_wait);
        part * (known.waited + left) - known.waited
    }
}
