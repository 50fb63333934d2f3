//! What a visitor was told about its wait, kept for the report without letting a long wait cost
//! more memory than a short one. Whether it was right is not judged here.

/// Estimates kept per visitor unless said otherwise; beyond that every other one is dropped.
const ESTIMATES_KEPT: u16 = 64;

/// What one answer said about the wait. Times are seconds since the run's start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Estimate {
    /// When it was said.
    pub(crate) at: f64,
    /// How many more seconds, if known.
    pub(crate) wait: Option<f64>,
    /// The quarter, the half and three quarters of chances, in seconds, where they were told.
    pub(crate) quartiles: Option<[f64; 3]>,
    /// How many people were said to be ahead, where that is known.
    pub(crate) people_ahead: Option<f64>,
}

/// What a visitor was told, thinned so that long waits cost no more memory.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    most: u16,
    stride: u32,
    known: u32,
    unknown: u32,
    kept: Vec<Packed>,
}

/// A known estimate in little room; what was not told is no number.
#[derive(Debug, Clone, Copy)]
struct Packed {
    at: f32,
    wait: f32,
    quartiles: [f32; 3],
    people_ahead: f32,
}

// === impl Told ===

impl Default for Told {
    fn default() -> Self {
        Self::keeping(ESTIMATES_KEPT)
    }
}

impl Told {
    /// Nothing told yet; of what will be, no more than `most` estimates are kept.
    pub(crate) fn keeping(most: u16) -> Self {
        Self { most: most.max(2), stride: 1, known: 0, unknown: 0, kept: Vec::new() }
    }

    /// Notes what an answer to a waiting visitor said.
    pub(crate) fn note(&mut self, estimate: &Estimate) {
        let Some(wait) = estimate.wait else {
            self.unknown += 1;
            return;
        };
        if self.known.is_multiple_of(self.stride) {
            self.kept.push(Packed::of(estimate, wait));
        }
        self.known += 1;
        if self.kept.len() >= usize::from(self.most) {
            self.thin();
        }
    }

    /// How many answers told a wait.
    pub(crate) fn known(&self) -> u32 {
        self.known
    }

    /// How many answers said that it is unknown.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The first estimate.
    pub(crate) fn first(&self) -> Option<Estimate> {
        self.all().next()
    }

    /// The estimate closest to the moment `at`.
    pub(crate) fn nearest(&self, at: f64) -> Option<Estimate> {
        self.all().min_by(|a, b| (a.at - at).abs().total_cmp(&(b.at - at).abs()))
    }

    /// The estimates that were kept: the first, and others evenly among all.
    pub(crate) fn all(&self) -> impl Iterator<Item = Estimate> {
        self.kept.iter().map(Packed::unpacked)
    }

    fn thin(&mut self) {
        let mut nth = 0;
        self.kept.retain(|_| {
            nth += 1;
            nth % 2 == 1
        });
        self.stride *= 2;
    }
}

// === impl Packed ===

impl Packed {
    #[expect(clippy::cast_possible_truncation, reason = "estimates need no more than an f32")]
    fn of(estimate: &Estimate, wait: f64) -> Self {
        let quartiles = estimate.quartiles.unwrap_or([f64::NAN; 3]);
        Self {
            at: estimate.at as f32,
            wait: wait as f32,
            quartiles: quartiles.map(|seconds| seconds as f32),
            people_ahead: estimate.people_ahead.unwrap_or(f64::NAN) as f32,
        }
    }

    fn unpacked(&self) -> Estimate {
        let told = |number: f32| (!number.is_nan()).then(|| f64::from(number));
        let quartiles = self.quartiles.map(f64::from);
        Estimate {
            at: self.at.into(),
            wait: told(self.wait),
            quartiles: (!quartiles[0].is_nan()).then_some(quartiles),
            people_ahead: told(self.people_ahead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(at: f64, wait: f64) -> Estimate {
        Estimate { at, wait: Some(wait), ..Estimate::default() }
    }

    #[test]
    fn thinned_estimates_keep_the_first_and_the_middle() {
        let mut told = Told::default();
        for second in 0..1000_u16 {
            told.note(&estimate(second.into(), (1000 - second).into()));
        }
        assert!(told.kept.len() < usize::from(ESTIMATES_KEPT));
        assert_eq!(told.first(), Some(estimate(0.0, 1000.0)));
        let middle = told.nearest(500.0).expect("there are estimates");
        let end = middle.at + middle.wait.expect("a wait was told");
        assert!((middle.at - 500.0).abs() <= 16.0 && (end - 1000.0).abs() < 0.1, "{middle:?}");
        assert!(told.kept.is_sorted_by(|a, b| a.at < b.at));
        assert_eq!((told.known(), told.unknown()), (1000, 0));
    }

    #[test]
    fn the_unknown_are_counted_and_not_kept() {
        let mut told = Told::keeping(4);
        told.note(&Estimate { at: 1.0, people_ahead: Some(5.0), ..Estimate::default() });
        let random = Estimate { quartiles: Some([1.0, 2.0, 4.0]), ..estimate(2.0, 2.0) };
        told.note(&random);
        assert_eq!((told.known(), told.unknown()), (1, 1));
        assert_eq!(told.first(), Some(random), "nobody said who is ahead");
    }
}
