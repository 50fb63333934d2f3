//! Turnout: which share of the people who are served come to the door and ask for a seat.
//!
//! Being served is leave to ask, and not everyone uses it: tabs were closed a moment ago, clients gave up,
//! bots took numbers and never come. The share of those who come is learnt, separately for each kind of
//! visitor: so many came of so many who had the time to. An exposure *ripens* while such visitors ask, and
//! until then its people are expected.

use std::collections::VecDeque;

use crate::ripening::Ripening;

/// The share that is assumed before anything is known, as if so many people had come of so many: few, so
/// that a room with few seats learns within a few rounds that most of those it serves never come.
pub const PRIOR: Evidence = Evidence { exposed: 20.0, came: 20.0 };
/// Evidence of this age counts half, ms: a crowd may change from one moment to the next.
pub const HALF_LIFE_MS: f64 = 4_000.0;
/// Where there is less recent evidence than of so many people,
pub const ENOUGH: f64 = 200.0;
/// or than would show so many coming, older evidence makes up for it,
pub const ENOUGH_TO_COME: f64 = 5.0;
/// which counts half at this age, ms.
pub const LONG_HALF_LIFE_MS: f64 = 64_000.0;
/// The least share: one in a million. A room with a thousand seats free then serves a thousand million
/// places to fill them.
pub const LEAST_SHARE: f64 = 1e-6;

/// What was learnt of one kind of visitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Turnout {
    waves: VecDeque<Wave>,
    recent: Evidence,
    older: Evidence,
    seen_ms: u64,
    /// How many should have come a moment ago, and have not.
    late: f64,
}

/// So many came, of so many who had the time to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence {
    /// People who had the time to come.
    pub exposed: f64,
    /// People who came.
    pub came: f64,
}

/// People who were served together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wave {
    at_ms: u64,
    people: f64,
    asks: Ripening,
    /// How many have come before their time.
    early: f64,
}

// === impl Turnout ===

impl Default for Turnout {
    fn default() -> Self {
        Self {
            waves: VecDeque::new(),
            recent: Evidence::default(),
            older: PRIOR,
            seen_ms: 0,
            late: 0.0,
        }
    }
}

impl Turnout {
    /// `people` are served at `now_ms`, and ask by that curve if they are there.
    pub fn expose(&mut self, people: f64, now_ms: u64, asks: Ripening) {
        if people > 0.0 {
            self.waves.push_back(Wave { at_ms: now_ms, people, asks, early: 0.0 });
        }
    }

    /// By `now_ms`, `came` more people have asked for the first time. Gives how many had the time to.
    pub fn observe(&mut self, came: f64, now_ms: u64) -> f64 {
        let before = std::mem::replace(&mut self.seen_ms, now_ms);
        let share = self.share();
        let (mut ripened, mut known) = (0.0, 0.0);
        for wave in &mut self.waves {
            let ripe = wave.unripe(before) - wave.unripe(now_ms);
            ripened += ripe;
            known += wave.have_come(ripe * share);
        }
        let age_ms = millis(before, now_ms);
        let more = self.beyond_the_late(came - (ripened * share - known), age_ms);
        let early = self.come_early(more, now_ms);
        let exposed = ripened - known + early;
        let new = Evidence { exposed, came };
        self.recent = self.recent.faded(age_ms / HALF_LIFE_MS, Evidence::default()).with(new);
        self.older = self.older.faded(age_ms / LONG_HALF_LIFE_MS, PRIOR).with(new);
        self.waves.retain(|wave| wave.unripe(now_ms) > 0.0);
        ripened
    }

    /// So many more have come than were to come since the last time, or fewer. Gives how many more that are but for those
    /// who were late; whoever does not come for long is no longer late, but stays away.
    fn beyond_the_late(&mut self, more: f64, age_ms: f64) -> f64 {
        let late = self.late * (-age_ms / HALF_LIFE_MS).exp2();
        self.late = (late - more).max(0.0);
        (more - late).max(0.0)
    }

    /// So many more have come than had the time to. Those who were served first are taken for them, as far as they are
    /// expected. Gives how many that are.
    fn come_early(&mut self, came: f64, now_ms: u64) -> f64 {
        let (share, mut left) = (self.share(), came);
        for wave in &mut self.waves {
            let more = wave.expected(now_ms, share).min(left);
            wave.early += more;
            left -= more;
        }
        came - left
    }

    /// Forgets who is still to come, but not what was learnt.
    pub fn forget_who_is_to_come(&mut self) {
        self.waves.clear();
        self.late = 0.0;
    }

    /// Nobody is left to come: whoever was served need not be waited for. Gives how many had not had the time to.
    pub fn end(&mut self) -> f64 {
        let unripe = self.waves.drain(..);
        let unripe = unripe.map(|wave| (wave.unripe(self.seen_ms) - wave.early).max(0.0)).sum();
        let new = Evidence { exposed: unripe, came: 0.0 };
        (self.recent, self.older) = (self.recent.with(new), self.older.with(new));
        unripe
    }

    /// The share of those served who came in the last minutes: steadier than [`Self::share`], and later to
    /// learn.
    #[must_use]
    pub fn lasting_share(&self) -> f64 {
        self.older.share().max(LEAST_SHARE)
    }

    /// The share of those served who come.
    #[must_use]
    pub fn share(&self) -> f64 {
        let before = self.lasting_share();
        let missing = (ENOUGH - self.recent.exposed).max(ENOUGH_TO_COME / before);
        let came = self.recent.came + missing * before;
        let share = came / (self.recent.exposed + missing);
        share.clamp(LEAST_SHARE, 1.0)
    }

    /// How many of those served are still to come.
    #[must_use]
    pub fn expected(&self) -> f64 {
        let share = self.share();
        self.waves.iter().map(|wave| wave.expected(self.seen_ms, share)).sum()
    }
}

// === impl Evidence ===

impl Evidence {
    /// What is left of it after so many half-lives, while what was assumed at first comes back.
    fn faded(self, half_lives: f64, at_first: Self) -> Self {
        let left = (-half_lives).exp2();
        let mix = |now: f64, first: f64| now * left + first * (1.0 - left);
        let exposed = mix(self.exposed, at_first.exposed);
        Self { exposed, came: mix(self.came, at_first.came) }
    }

    fn with(self, new: Self) -> Self {
        Self { exposed: self.exposed + new.exposed, came: self.came + new.came }
    }

    /// The share of those who came. Without any evidence, everyone.
    fn share(self) -> f64 {
        let share = self.came / self.exposed;
        if share.is_finite() { share.min(1.0) } else { 1.0 }
    }
}

// === impl Wave ===

impl Wave {
    /// How many of its people have not had the time to come by `now_ms`.
    fn unripe(&self, now_ms: u64) -> f64 {
        self.people * self.asks.left(millis(self.at_ms, now_ms))
    }

    /// How many are still to come, if such a share does.
    fn expected(&self, now_ms: u64, share: f64) -> f64 {
        (self.unripe(now_ms) * share - self.early).max(0.0)
    }

    /// So many should have come by now. Gives how many of them had done so before.
    fn have_come(&mut self, people: f64) -> f64 {
        let known = self.early.min(people);
        self.early -= known;
        known
    }
}

#[expect(clippy::cast_precision_loss, reason = "times of a few seconds")]
fn millis(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_nobody_is_left_to_come_nobody_is_expected() {
        let mut turnout = Turnout::default();
        turnout.expose(50.0, 0, Ripening::evenly(0..2_000));
        turnout.observe(25.0, 1_000);
        assert!(turnout.expected() > 20.0, "as far as it knows");
        assert!((turnout.end() - 25.0).abs() < 1e-9);
        assert!(turnout.expected() < 1e-9);
    }

    #[test]
    fn whoever_has_come_is_expected_no_more_however_early_it_was() {
        let mut turnout = Turnout::default();
        turnout.expose(1_000.0, 0, Ripening::evenly(0..20_000));
        turnout.observe(1_000.0, 2_000);
        assert!(turnout.expected() < 1e-6);
        assert!(turnout.end() < 1e-6, "nobody has stayed away");
        assert!((turnout.share() - 1.0).abs() < 1e-6, "all have come who were served");
        turnout.expose(1_000.0, 2_000, Ripening::evenly(0..20_000));
        turnout.observe(300.0, 4_000);
        assert!((turnout.expected() - 700.0).abs() < 1e-6, "{}", turnout.expected());
        turnout.observe(0.0, 12_000);
        assert!(turnout.expected() < 400.0, "those who did not come early may not come at all");
    }

    #[test]
    fn at_first_everyone_is_expected_and_then_those_who_had_no_time_to_come() {
        let mut turnout = Turnout::default();
        turnout.observe(0.0, 1_000);
        turnout.expose(100.0, 1_000, Ripening::evenly(0..2_000));
        assert!((turnout.expected() - 100.0).abs() < 1e-9);
        turnout.observe(50.0, 2_000);
        assert!((turnout.share() - 1.0).abs() < 1e-9, "all who had the time");
        assert!((turnout.expected() - 50.0).abs() < 1e-9);
        turnout.observe(50.0, 3_000);
        assert!(turnout.expected() < 1e-9);
    }

    #[test]
    fn nothing_is_learnt_before_anybody_could_have_come() {
        let mut turnout = Turnout::default();
        turnout.expose(100.0, 0, Ripening::evenly(4_000..6_000));
        assert!(turnout.observe(0.0, 4_000) < 1e-9);
        assert!((turnout.share() - 1.0).abs() < 1e-9);
        assert!((turnout.expected() - 100.0).abs() < 1e-9);
        assert!((turnout.observe(50.0, 5_000) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn the_share_is_learnt_and_forgotten() {
        let mut turnout = Turnout::default();
        for second in 1..=30 {
            turnout.expose(10_000.0, second * 1000, Ripening::evenly(0..1_000));
            turnout.observe(100.0, (second + 1) * 1000);
        }
        assert!((turnout.share() - 0.01).abs() < 1e-3, "{}", turnout.share());
        for second in 31..=80 {
            turnout.expose(100.0, second * 1000, Ripening::evenly(0..1_000));
            turnout.observe(100.0, (second + 1) * 1000);
        }
        assert!(turnout.share() > 0.8, "{}", turnout.share());
        turnout.observe(0.0, 2_000_000);
        assert!(turnout.share() > 0.99, "nothing was seen for long");
    }

    #[test]
    fn it_is_never_less_than_one_in_a_million_nor_more_than_all() {
        let mut turnout = Turnout::default();
        turnout.expose(1e12, 0, Ripening::evenly(0..1));
        turnout.observe(0.0, 1_000);
        assert!((turnout.share() - LEAST_SHARE).abs() < 1e-12);
        let mut unexpected = Turnout::default();
        unexpected.observe(500.0, 1_000);
        assert!((unexpected.share() - 1.0).abs() < 1e-12);
    }
}
