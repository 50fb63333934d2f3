//! What a visitor was told about its wait, kept for the report without letting a long wait cost
//! more memory than a short one. Whether it was right is not judged here.

use crate::crowd::number::short;

/// Estimates kept per visitor unless said otherwise; beyond that every other one is dropped.
const ESTIMATES_KEPT: u16 = 64;

/// What one answer said about the wait, in little room. Times are seconds since the run's start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    at: f32,
    wait: f32,
    quartiles: Option<[f32; 3]>,
}

/// What a visitor was told, thinned so that long waits cost no more memory.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    most: u16,
    stride: u32,
    /// How many answers told a wait.
    pub(crate) known: u32,
    /// How many said that it is unknown.
    pub(crate) unknown: u32,
    kept: Vec<Estimate>,
}

// === impl Estimate ===

impl Estimate {
    /// It was said `at` that so many more seconds are to be waited; where chance decides, also the
    /// quarter, the half and three quarters of chances.
    pub(crate) fn new(at: f64, wait: f64, quartiles: Option<[f64; 3]>) -> Self {
        Self { at: short(at), wait: short(wait), quartiles: quartiles.map(|all| all.map(short)) }
    }

    /// When it was said.
    pub(crate) fn at(&self) -> f64 {
        self.at.into()
    }

    /// How many more seconds.
    pub(crate) fn wait(&self) -> f64 {
        self.wait.into()
    }

    /// The quarter, the half and three quarters of chances, in seconds, where they were told.
    pub(crate) fn quartiles(&self) -> Option<[f64; 3]> {
        self.quartiles.map(|all| all.map(f64::from))
    }
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

    /// Notes what an answer to a waiting visitor said; `None`: that the wait is unknown.
    pub(crate) fn note(&mut self, estimate: Option<Estimate>) {
        let Some(estimate) = estimate else {
            self.unknown += 1;
            return;
        };
        if self.known.is_multiple_of(self.stride) {
            self.kept.push(estimate);
        }
        self.known += 1;
        if self.kept.len() >= usize::from(self.most) {
            self.thin();
        }
    }

    /// The first estimate.
    pub(crate) fn first(&self) -> Option<Estimate> {
        self.all().next()
    }

    /// The estimate closest to the moment `at`.
    pub(crate) fn nearest(&self, at: f64) -> Option<Estimate> {
        self.all().min_by(|a, b| (a.at() - at).abs().total_cmp(&(b.at() - at).abs()))
    }

    /// The estimates that were kept: the first, and others evenly among all.
    pub(crate) fn all(&self) -> impl Iterator<Item = Estimate> {
        self.kept.iter().copied()
    }

    fn thin(&mut self) {
        self.kept = self.kept.iter().copied().step_by(2).collect();
        self.stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_estimates_keep_the_first_and_the_middle() {
        let mut told = Told::default();
        for second in 0..1000_u16 {
            told.note(Some(Estimate::new(second.into(), (1000 - second).into(), None)));
        }
        assert!(told.kept.len() < usize::from(ESTIMATES_KEPT));
        assert_eq!(told.first(), Some(Estimate::new(0.0, 1000.0, None)));
        let middle = told.nearest(500.0).expect("there are estimates");
        let end = middle.at() + middle.wait();
        assert!((middle.at() - 500.0).abs() <= 16.0 && (end - 1000.0).abs() < 0.1, "{middle:?}");
        assert!(told.kept.is_sorted_by(|a, b| a.at < b.at));
        assert_eq!((told.known, told.unknown), (1000, 0));
    }

    #[test]
    fn the_unknown_are_counted_and_not_kept() {
        let mut told = Told::keeping(4);
        told.note(None);
        let random = Estimate::new(2.0, 2.0, Some([1.0, 2.0, 4.0]));
        told.note(Some(random));
        assert_eq!((told.known, told.unknown), (1, 1));
        assert_eq!(told.first(), Some(random));
    }
}
