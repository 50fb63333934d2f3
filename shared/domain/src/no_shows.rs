//! Who does not come when its turn comes: those who never would have, and those who have left since they
//! joined.
//!
//! The two tell of different waits. Who never comes is ahead of nobody, near and far; who leaves while it
//! stands in line makes the wait of those far behind shorter still. They are told apart by how the share of
//! no-shows grows with the time that people stood: `never + per_second * stood`, a line fitted through what
//! was seen.

/// As if so many people had been seen to come who had not stood at all, and as many who had stood for
/// [`PRIOR_STOOD`]: without evidence nobody stays away, and a few seconds of it say little of minutes.
const PRIOR: f64 = 20.0;
/// In seconds.
const PRIOR_STOOD: f64 = 30.0;
/// So long is a short stand, in seconds.
const SHORT: f64 = 10.0;
/// What was seen counts half at this age, ms.
const HALF_LIFE_MS: f64 = 64_000.0;

/// What was seen of those who had the time to come: sums for the fit, weighted by people.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NoShows {
    people: f64,
    missing: f64,
    stood: f64,
    stood_squared: f64,
    stood_missing: f64,
    seen_ms: u64,
}

/// Shares of those who are served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Who never comes.
    pub never: f64,
    /// Who leaves, for each second that it stands in line.
    pub per_second: f64,
}

// === impl NoShows ===

impl NoShows {
    /// By `now_ms`, `exposed` more people had the time to come, who had stood for `stood` seconds, and
    /// `came` of them did.
    #[expect(clippy::cast_precision_loss, reason = "times of minutes")]
    pub fn observe(&mut self, exposed: f64, came: f64, stood: f64, now_ms: u64) {
        let before_ms = std::mem::replace(&mut self.seen_ms, now_ms);
        let left = (-(now_ms.saturating_sub(before_ms) as f64) / HALF_LIFE_MS).exp2();
        let add = |sum: &mut f64, more: f64| *sum = *sum * left + more;
        let missing = exposed - came;
        add(&mut self.people, exposed);
        add(&mut self.missing, missing);
        add(&mut self.stood, exposed * stood);
        add(&mut self.stood_squared, exposed * stood * stood);
        add(&mut self.stood_missing, missing * stood);
    }

    /// The fit by least squares, as long as no share is negative by it.
    #[must_use]
    pub fn shares(&self) -> Shares {
        let people = self.people + 2.0 * PRIOR;
        let stood = self.stood + PRIOR * PRIOR_STOOD;
        let stood_squared = self.stood_squared + PRIOR * PRIOR_STOOD * PRIOR_STOOD;
        let spread = stood_squared - stood * stood / people;
        // What is seen of people who have stood for a few seconds tells little of who stands for minutes.
        let mean_squared = stood_squared / people;
        let trust = mean_squared / (mean_squared + SHORT * SHORT);
        let per_second = (self.stood_missing - stood * self.missing / people) / spread * trust;
        let never = (self.missing - per_second * stood) / people;
        if per_second < 0.0 {
            Shares { never: (self.missing / people).max(0.0), per_second: 0.0 }
        } else if never < 0.0 {
            // All who are missing, by all that was stood: who comes a second sooner than expected has its part in
            // a slope, but none in a sum.
            Shares { never: 0.0, per_second: (self.missing / stood * trust).max(0.0) }
        } else {
            Shares { never, per_second }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line in which every second ten are served, until it has stood for `seconds`.
    fn seen(seconds: u32, missing: impl Fn(f64) -> f64) -> Shares {
        let mut no_shows = NoShows::default();
        for second in 1..=seconds {
            let stood = f64::from(second);
            let came = 10.0 * (1.0 - missing(stood));
            no_shows.observe(10.0, came, stood, u64::from(second) * 1000);
        }
        no_shows.shares()
    }

    #[test]
    fn who_never_comes_and_who_leaves_are_told_apart() {
        let idle = seen(60, |_| 0.5);
        assert!((0.35..=0.5).contains(&idle.never) && idle.per_second < 0.003, "{idle:?}");
        let leaving = seen(60, |stood| 0.004 * stood);
        assert!(leaving.never < 0.01, "{leaving:?}");
        assert!((leaving.per_second - 0.004).abs() < 0.0004, "{leaving:?}");
        let both = seen(60, |stood| 0.3 + 0.004 * stood);
        assert!((0.2..=0.3).contains(&both.never), "{both:?}");
        assert!((0.004..0.007).contains(&both.per_second), "{both:?}");
    }

    #[test]
    fn no_share_is_negative() {
        assert_eq!(NoShows::default().shares(), Shares { never: 0.0, per_second: 0.0 });
        let early = seen(30, |stood| if stood < 10.0 { -0.5 } else { 0.0 });
        assert!(early.never >= 0.0 && early.per_second >= 0.0, "{early:?}");
        let sooner = seen(30, |stood| if stood < 5.0 { -0.5 } else { 2.0 / 26.0 });
        assert!(sooner.never <= 0.0 && sooner.per_second < 0.001, "all came: {sooner:?}");
        let fewer = seen(30, |stood| 0.5 - 0.01 * stood);
        assert!(fewer.never > 0.2 && fewer.per_second <= 0.0, "{fewer:?}");
    }
}
