//! What all visitors of a run have in common, and how they guess their wait when nobody tells.

use std::time::Duration;

use crate::report::Setting;

/// What all visitors of a run have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HouseRules {
    /// Those inside never say that they leave.
    pub(crate) leave_silently: bool,
    /// How long a session lasts when the answer `admitted` does not say.
    pub(crate) session: Option<Duration>,
    /// Admissions per second to expect from the limits, to guess a wait that nobody told.
    pub(crate) expected_pace: Option<f64>,
    /// The wait to guess when there is nothing to go by, in seconds.
    pub(crate) fallback_wait: f64,
}

/// What a visitor knows of its wait at a check-in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outlook {
    /// Seconds waited so far.
    pub(crate) waited: f64,
    /// Seconds still to wait, if told.
    pub(crate) wait: Option<f64>,
    /// People ahead, if told.
    pub(crate) people_ahead: Option<f64>,
}

// === impl HouseRules ===

impl HouseRules {
    /// The rules of a run with this setting.
    pub(crate) fn of(setting: &Setting) -> Self {
        let held = if setting.leave_silently { setting.session_seconds } else { None };
        let held = held.unwrap_or(setting.stay_seconds).max(1.0);
        let by_ceiling = setting.ceiling.map(|ceiling| f64::from(ceiling) / held);
        let by_rate = setting.rate_per_minute.map(|rate| f64::from(rate) / 60.0);
        Self {
            leave_silently: setting.leave_silently,
            session: setting.session_seconds.map(Duration::from_secs_f64),
            expected_pace: [by_ceiling, by_rate].into_iter().flatten().min_by(f64::total_cmp),
            fallback_wait: setting.arrive_seconds + setting.stay_seconds,
        }
    }

    /// Seconds until a visitor closes the tab who has `patience` for that part of its wait, going
    /// by what it now knows. The guess is made anew at each check-in, so that a wrong first
    /// estimate does no harm.
    pub(crate) fn closes_tab_in(&self, patience: f64, outlook: &Outlook) -> f64 {
        let by_pace = |pace: f64| outlook.people_ahead.map(|people| people / pace);
        let guess = || self.expected_pace.and_then(by_pace);
        let left = outlook.wait.or_else(guess).unwrap_or(self.fallback_wait);
        patience * (outlook.waited + left) - outlook.waited
    }
}
