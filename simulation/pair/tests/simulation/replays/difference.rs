//! How much two nights of one case differ, for the honest visitors.

use super::{case::Case, night::Night};
use crate::guests::Page;

/// How much two nights differ.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Difference {
    /// How much later, in the second night, each entered (in a random room: the first, the second, … to
    /// enter), ms.
    pub(crate) later_ms: Vec<i64>,
    /// Of two who entered in another order: by how much, in the night in which it was less, ms.
    pub(crate) order_ms: u64,
    /// How much more each wait told is than what the same guest was told then in the first night, of how
    /// much, s.
    pub(crate) waits_s: Vec<(f64, f64)>,
    /// How many answers more tell no wait.
    pub(crate) more_unknown: i64,
    /// How many seat-seconds more were used, of how many.
    pub(crate) seat_seconds: (f64, f64),
    /// How much sooner each attacker entered, ms.
    pub(crate) gained_ms: Vec<i64>,
    /// What no script may break, and broke.
    pub(crate) broken: Vec<String>,
}

/// An answer is compared with that of the other night that came at most so long before or after it and is
/// most like it, ms: what is told follows the leader's ticks, a seat that came free, and who asked just before.
const ABOUT_MS: u64 = 1_500;

// === impl Difference ===

impl Difference {
    /// Between the night in which everything is sent once, and the other.
    pub(crate) fn between(case: &Case, once: &Night, other: &Night) -> Self {
        let entries = |night: &Night| -> Vec<i64> {
            let end_ms = case.length_ms;
            let entry = |page: &Page| page.entered_ms.unwrap_or(end_ms).min(end_ms).cast_signed();
            let mut entries: Vec<_> = night.guests.values().map(entry).collect();
            if case.room.is_random {
                entries.sort_unstable();
            }
            entries
        };
        let (before, after) = (entries(once), entries(other));
        Self {
            later_ms: before.iter().zip(&after).map(|(one, two)| two - one).collect(),
            order_ms: order_ms(&before, &after),
            waits_s: waits(once, other),
            more_unknown: unknown(other) - unknown(once),
            seat_seconds: seat_seconds(once, other),
            gained_ms: gains(once, other),
            broken: once.broken.iter().chain(&other.broken).cloned().collect(),
        }
    }
}

/// Of two who enter in one order in one night and in the other in the other, the shorter time between them;
/// the longest of these.
fn order_ms(before: &[i64], after: &[i64]) -> u64 {
    let both = || before.iter().zip(after);
    let pairs = both().flat_map(|one| both().map(move |two| (two.0 - one.0, one.1 - two.1)));
    let swapped = pairs.filter(|(then, now)| *then > 0 && *now > 0);
    swapped.map(|(then, now)| then.min(now)).max().unwrap_or(0).unsigned_abs()
}

/// Each wait told, beside the one of the first night that is most like it.
#[expect(clippy::cast_precision_loss, reason = "some seconds")]
fn waits(once: &Night, other: &Night) -> Vec<(f64, f64)> {
    let mut waits = Vec::new();
    for (number, page) in &other.guests {
        let Some(before) = once.guests.get(number) else { continue };
        for told in &page.told {
            let about = before.told.iter().filter(|one| one.at_ms.abs_diff(told.at_ms) <= ABOUT_MS);
            let known = about.filter_map(|one| Some((one.wait_s? as f64, told.wait_s? as f64)));
            let off = known.map(|(one, two)| (two - one, one));
            waits.extend(off.min_by(|one, two| one.0.abs().total_cmp(&two.0.abs())));
        }
    }
    waits
}

/// How many answers tell no wait.
fn unknown(night: &Night) -> i64 {
    let told = night.guests.values().flat_map(|page| &page.told);
    told.map(|told| i64::from(told.wait_s.is_none())).sum()
}

#[expect(clippy::cast_precision_loss, reason = "some seats")]
fn seat_seconds(once: &Night, other: &Night) -> (f64, f64) {
    // As long as both last.
    let sum = |(before, after): (u64, u64), both: (&u64, &u64)| (before + both.0, after + both.1);
    let (before, after) = once.seats.iter().zip(&other.seats).fold((0, 0), sum);
    let seconds = |seats: u64| seats as f64 / 2.0;
    (seconds(after) - seconds(before), seconds(before))
}

fn gains(once: &Night, other: &Night) -> Vec<i64> {
    let both = once.attackers.iter().filter_map(|(number, page)| {
        let entered = (page.entered_ms?, other.attackers.get(number)?.entered_ms?);
        Some(entered.0.cast_signed() - entered.1.cast_signed())
    });
    both.collect()
}
