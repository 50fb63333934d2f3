//! What many cases together differ by: for reading, and for what only many show.

use super::{case::Case, difference::Difference};

/// Differences of many cases.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    all: Vec<(Case, Difference)>,
}

// === impl Figures ===

impl Figures {
    pub(crate) fn add(&mut self, case: Case, difference: Difference) {
        self.all.push((case, difference));
    }

    /// Both together.
    pub(crate) fn with(mut self, others: Self) -> Self {
        self.all.extend(others.all);
        self
    }

    /// What is more than may be, by seed.
    pub(crate) fn faults(&self) -> Vec<(u64, Vec<String>)> {
        let faults = self.all.iter().map(|(case, one)| (case.seed, one.faults(case)));
        faults.filter(|(_, faults)| !faults.is_empty()).collect()
    }

    /// How much later honest visitors enter in rooms with an order, on average over all cases, ms.
    pub(crate) fn mean_ms(&self) -> f64 {
        let fifo = self.all.iter().filter(|(case, _)| !case.room.is_random);
        mean(&fifo.map(|(_, one)| one.mean_ms()).collect::<Vec<_>>())
    }

    /// How much longer all waits told are, as a share.
    pub(crate) fn mean_wait(&self) -> f64 {
        let sums = self.all.iter().map(|(_, one)| one.sum_of_waits_s());
        let (off, all) = sums.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        off / f64::max(all, 1.0)
    }

    /// A table for people.
    pub(crate) fn print(&self, name: &str) {
        for is_random in [false, true] {
            let of = || self.all.iter().filter(move |(case, _)| case.room.is_random == is_random);
            let kind = if is_random { "random" } else { "fifo" };
            println!("{name}, {kind}: {} cases", of().count());
            println!("  all waits together, fifo and random: {:.4}", self.mean_wait());
            show("  latest, ms", of().map(|(_, one)| whole(one.latest_ms())));
            show("  later on average, ms", of().map(|(_, one)| one.mean_ms()));
            if !is_random {
                show(
                    "  in another order, ms",
                    of().map(|(_, one)| whole(one.order_ms.cast_signed())),
                );
            }
            show("  worst wait beyond a tenth, s", of().map(|(_, one)| one.worst_wait_s()));
            show("  waits of a night beyond a tenth, s", of().map(|(_, one)| one.mean_wait_s()));
            show("  answers without a wait", of().map(|(_, one)| whole(one.more_unknown)));
            show(
                "  seat-seconds, share",
                of().map(|(_, one)| one.seat_seconds.0 / one.seat_seconds.1),
            );
            show(
                "  attackers sooner, ms",
                of().flat_map(|(_, one)| one.gained_ms.clone()).map(whole),
            );
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "some seconds")]
fn whole(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn show(name: &str, values: impl Iterator<Item = f64>) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |per_mille: usize| values.get((values.len().max(1) - 1) * per_mille / 1000).copied();
    let places = [0, 10, 500, 990, 1000].map(|per_mille| at(per_mille).unwrap_or(0.0));
    println!("{name}: mean {:.3}; least, p1, p50, p99, most {places:.3?}", mean(&values));
}
