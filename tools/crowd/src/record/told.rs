//! The waits a visitor was told, kept for the report without letting a long wait cost more memory
//! than a short one. Whether they were right is not judged here.

/// Estimates kept per visitor; beyond that every other one is dropped.
const ESTIMATES_KEPT: usize = 64;

/// The waits a visitor was told, thinned so that long waits cost no more memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    seen: usize,
    stride: usize,
    kept: Vec<(f32, f32)>,
}

// === impl Told ===

impl Told {
    /// Notes that at `at` the visitor was told to expect `wait` more seconds.
    #[expect(clippy::cast_possible_truncation, reason = "estimates need no more than an f32")]
    pub(crate) fn note(&mut self, at: f64, wait: f64) {
        self.stride = self.stride.max(1);
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push((at as f32, wait as f32));
        }
        self.seen += 1;
        if self.kept.len() == ESTIMATES_KEPT {
            let mut nth = 0;
            self.kept.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// What the visitor was told first: when, and how many seconds.
    pub(crate) fn first(&self) -> Option<(f64, f64)> {
        self.kept.first().map(|&(at, wait)| (at.into(), wait.into()))
    }

    /// What it was told closest to the moment `at`.
    pub(crate) fn nearest(&self, at: f64) -> Option<(f64, f64)> {
        let told = self.kept.iter().map(|&(t, wait)| (f64::from(t), f64::from(wait)));
        told.min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_estimates_keep_the_first_and_the_middle() {
        let mut told = Told::default();
        for second in 0..1000_u16 {
            told.note(second.into(), (1000 - second).into());
        }
        assert!(told.kept.len() < ESTIMATES_KEPT);
        assert_eq!(told.first(), Some((0.0, 1000.0)));
        let (at, wait) = told.nearest(500.0).expect("there are estimates");
        assert!((at - 500.0).abs() <= 16.0 && (at + wait - 1000.0).abs() < 0.1, "{at} {wait}");
        assert!(told.kept.is_sorted_by(|a, b| a.0 < b.0));
    }
}
