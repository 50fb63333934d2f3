//! What two nights of one case may differ by, and why they differ at all.
//!
//! Repeated calls travel on the same network and ask the same services, so both nights have other delays of a
//! millisecond and other draws of the services' chance. What follows from it:
//!
//! - *Entries.* A seat that comes free goes to whoever is lowest at the door; whoever hears of its turn at its
//!   next question, a second later, may have been served just before or just after it asked. Where nobody
//!   stands by, a seat then waits for that, and all that comes after it is later by as much.
//! - *Order.* Two who enter within the same second may do so in either order: then both asked for seats that
//!   were free. With more than a second between them in both nights, nothing excuses another order.
//! - *Waits.* What is told is people ahead by the pace. In rooms of a few seats one person, or one of the few
//!   sessions of which the pace is learnt, is more than a tenth; so each answer is compared with those of a
//!   moment before and after, and may be off by a few seconds beyond a tenth. Over thousands of nights nothing
//!   of it may be left.
//! - *Random rooms.* Who wins is chance, so the first entry is compared with the first, the second with the
//!   second, and order with nothing. A visitor learns at its next check-in, in two seconds, that it has won.
//! - *The attackers' own entries.* Whoever asks more often learns sooner that it may enter, by one of its
//!   questions; it gains no more.
//!
//! Between two nights in which nobody repeats anything, and only the chance of services and network is
//! another, all of these are larger.

use super::{case::Case, difference::Difference};

/// By how much an entry may be later, ms,
const ENTRY_MS: i64 = 3_000;
/// and all of a night on average.
const ENTRIES_MS: f64 = 1_000.0;
/// The same in random rooms.
const RANDOM_ENTRY_MS: i64 = 10_000;
const RANDOM_ENTRIES_MS: f64 = 3_000.0;
/// Between two who entered in another order, ms.
const ORDER_MS: u64 = 1_000;
/// How far a wait told may be off beyond a tenth, s,
const WAIT_S: f64 = 10.0;
/// and all of a night on average, beyond a tenth, s,
const WAITS_S: f64 = 2.0;
/// where so many answers were told at least: fewer have no average, and each is looked at by itself.
const ANSWERS: usize = 10;
/// How many answers more may tell no wait: of those who ask in the two seconds in which the pace becomes known.
const UNKNOWN: i64 = 40;
/// By how much the use of the seats may differ, as a share, or in seat-seconds where that is more.
const SEATS: f64 = 0.05;
const SEAT_SECONDS: f64 = 4.0;
/// By how much an attacker may enter sooner, ms.
const GAIN_MS: i64 = 3_000;

// === impl Difference ===

impl Difference {
    /// What is more than may be.
    pub(crate) fn faults(&self, case: &Case) -> Vec<String> {
        let (entry_ms, entries_ms, gain_ms) = if case.room.is_random {
            (RANDOM_ENTRY_MS, RANDOM_ENTRIES_MS, i64::MAX)
        } else {
            (ENTRY_MS, ENTRIES_MS, GAIN_MS)
        };
        let (seats, of) = self.seat_seconds;
        let checks = [
            (
                self.latest_ms() <= entry_ms,
                format!("somebody enters {} ms later", self.latest_ms()),
            ),
            (
                self.mean_ms().abs() <= entries_ms,
                format!("all enter {:.0} ms later", self.mean_ms()),
            ),
            (
                case.room.is_random || self.order_ms <= ORDER_MS,
                format!("{} ms apart in another order", self.order_ms),
            ),
            (
                self.worst_wait_s() <= WAIT_S,
                format!("a wait is off by {:.0} s beyond a tenth", self.worst_wait_s()),
            ),
            (
                self.mean_wait_s() <= WAITS_S,
                format!("waits are off by {:.1} s beyond a tenth on average", self.mean_wait_s()),
            ),
            (
                self.more_unknown.abs() <= UNKNOWN,
                format!("{} answers more tell no wait", self.more_unknown),
            ),
            (
                seats.abs() <= (SEATS * of).max(SEAT_SECONDS),
                format!("{seats:.1} of {of:.0} seat-seconds more"),
            ),
            (
                self.gained_ms.iter().all(|gained_ms| *gained_ms <= gain_ms),
                format!("an attacker gains: {:?} ms", self.gained_ms),
            ),
            (self.broken.is_empty(), format!("{:?}", self.broken)),
        ];
        checks.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect()
    }

    /// By how much the one enters later, or sooner, who differs most, ms.
    pub(crate) fn latest_ms(&self) -> i64 {
        self.later_ms.iter().map(|later_ms| later_ms.abs()).max().unwrap_or(0)
    }

    /// How much later all enter on average, ms.
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    pub(crate) fn mean_ms(&self) -> f64 {
        self.later_ms.iter().sum::<i64>() as f64 / self.later_ms.len().max(1) as f64
    }

    /// How far the worst wait told is off, beyond a tenth of it, s.
    pub(crate) fn worst_wait_s(&self) -> f64 {
        let beyond = self.waits_s.iter().map(|(off, wait)| off.abs() - wait / 10.0);
        beyond.max_by(f64::total_cmp).unwrap_or(0.0).max(0.0)
    }

    /// How far all waits told are off on average, beyond a tenth of their mean, s.
    #[expect(clippy::cast_precision_loss, reason = "some answers")]
    pub(crate) fn mean_wait_s(&self) -> f64 {
        let (off, all) = self.sum_of_waits_s();
        (off.abs() - all / 10.0).max(0.0) / self.waits_s.len().max(ANSWERS) as f64
    }

    /// How much longer all waits told are together, and how long they were, s.
    pub(crate) fn sum_of_waits_s(&self) -> (f64, f64) {
        let sum = |(off, all): (f64, f64), (one, wait): &(f64, f64)| (off + one, all + wait);
        self.waits_s.iter().fold((0.0, 0.0), sum)
    }
}
