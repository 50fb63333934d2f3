//! Who overtook whom. There are far too many pairs to look at, so one sweep over time finds those
//! who overtook, and one over places in line finds how long the overtaken were kept.

use std::collections::BTreeSet;

use serde::Serialize;
use vestibule_domain::QueueingMethod;

use super::{identities::Identities, layout::Section};
use crate::{
    crowd::{duration::human, method::keeps_order},
    record::{Ending, RunRecord, VisitorRecord},
};

/// One visitor's place in line and the time it waited there.
#[derive(Debug, Clone, Copy)]
struct Waiter {
    /// Place in line: smaller is earlier.
    place: u64,
    /// When it knew its place.
    from: f64,
    /// When it was admitted, or the run's end if it never was.
    until: f64,
    /// Whether it was admitted at all.
    admitted: bool,
}

/// How well the order of the line was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct LineOrder {
    /// Visitors admitted while somebody with an earlier place still stood there waiting.
    pub(crate) admitted_out_of_order: usize,
    /// Visitors who stood there while somebody with a later place was admitted.
    pub(crate) overtaken: usize,
    /// The most places anybody jumped.
    pub(crate) largest_overtaking_places: u64,
    /// The longest anybody still waited after somebody behind was admitted, in seconds.
    pub(crate) largest_overtaking_seconds: f64,
}

/// Moments are ordered by time; at the same moment an entry frees the place before others look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Gone,
    Here,
    Admitted,
}

// === impl LineOrder ===

impl LineOrder {
    /// Measures the order of admission.
    pub(super) fn new(run: &RunRecord) -> Self {
        measure(&waiters(run))
    }

    /// The section for people.
    pub(super) fn section(
        &self,
        method: Option<QueueingMethod>,
        identities: Identities,
    ) -> Section {
        let twice = identities.duplicate_queue_numbers;
        let section = Section::new("Order").row("queue numbers held twice", twice, "");
        if !keeps_order(method) {
            return section;
        }
        let far = format!(
            "at most {} places ahead, and at most {} sooner",
            self.largest_overtaking_places,
            human(self.largest_overtaking_seconds)
        );
        section.row("admitted before an earlier visitor", self.admitted_out_of_order, far).row(
            "overtaken by a later visitor",
            self.overtaken,
            "",
        )
    }
}

/// Those who closed the tab are left out: nobody can overtake someone who is not there.
fn waiters(run: &RunRecord) -> Vec<Waiter> {
    let stayed = run.visitors.iter().filter(|v| v.ending() != Some(Ending::Abandoned));
    let waiter = |v: &VisitorRecord| {
        let from = v.joined?;
        let until = v.admitted.or(v.ended.map(|(at, _)| at)).unwrap_or(run.duration);
        let place = v.position.or(v.queue_number)?;
        Some(Waiter { place, from, until, admitted: v.admitted.is_some() })
    };
    stayed.filter_map(waiter).collect()
}

/// Those who closed the tab must not be among the waiters.
fn measure(waiters: &[Waiter]) -> LineOrder {
    let (admitted_out_of_order, largest_overtaking_places) = overtakers(waiters);
    let (overtaken, largest_overtaking_seconds) = overtaken(waiters);
    LineOrder {
        admitted_out_of_order,
        overtaken,
        largest_overtaking_places,
        largest_overtaking_seconds,
    }
}

/// Sweeps over time with the set of places that wait: whoever is admitted while the earliest place
/// in it is before its own has overtaken.
fn overtakers(waiters: &[Waiter]) -> (usize, u64) {
    let mut events: Vec<(f64, Event, u64)> = Vec::with_capacity(waiters.len() * 3);
    for waiter in waiters {
        if waiter.from < waiter.until {
            events.push((waiter.from, Event::Here, waiter.place));
            events.push((waiter.until, Event::Gone, waiter.place));
        }
        if waiter.admitted {
            events.push((waiter.until, Event::Admitted, waiter.place));
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut waiting = BTreeSet::new();
    let (mut count, mut furthest) = (0, 0);
    for (_, event, place) in events {
        match (event, waiting.first()) {
            (Event::Here, _) => _ = waiting.insert(place),
            (Event::Gone, _) => _ = waiting.remove(&place),
            (Event::Admitted, Some(&earliest)) if earliest < place => {
                count += 1;
                furthest = furthest.max(place - earliest);
            }
            (Event::Admitted, _) => {}
        }
    }
    (count, furthest)
}

/// Goes from the last place to the first with the admission times of all later places: whoever
/// finds one within its own wait was overtaken, first at the earliest of them.
fn overtaken(waiters: &[Waiter]) -> (usize, f64) {
    let mut by_place: Vec<&Waiter> = waiters.iter().collect();
    by_place.sort_by_key(|w| std::cmp::Reverse(w.place));
    let mut later = BTreeSet::new();
    let (mut count, mut longest) = (0, 0.0_f64);
    for same_place in by_place.chunk_by(|a, b| a.place == b.place) {
        for waiter in same_place {
            let wait = key(waiter.from)..key(waiter.until.max(waiter.from));
            if let Some(&first) = later.range(wait).next() {
                count += 1;
                longest = longest.max(waiter.until - f64::from_bits(first));
            }
        }
        later.extend(same_place.iter().filter(|w| w.admitted).map(|w| key(w.until)));
    }
    (count, longest)
}

/// Bits of a time: for numbers that are not negative they sort as the numbers do.
fn key(time: f64) -> u64 {
    time.max(0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(place: u64, from: f64, until: f64) -> Waiter {
        Waiter { place, from, until, admitted: true }
    }

    #[test]
    fn a_line_in_order_has_nothing_to_report() {
        let line: Vec<_> =
            (1..=100_u32).map(|n| waiter(n.into(), n.into(), f64::from(n) + 50.0)).collect();
        assert_eq!(measure(&line), LineOrder::default());
    }

    #[test]
    fn overtaking_is_measured_in_places_and_seconds() {
        let line = [
            waiter(1, 0.0, 30.0), // overtaken by 2 and by 9
            waiter(2, 0.0, 20.0), // overtaken by 9
            waiter(9, 0.0, 14.0),
            waiter(10, 0.0, 40.0),
        ];
        let expected = LineOrder {
            admitted_out_of_order: 2,
            overtaken: 2,
            largest_overtaking_places: 8,
            largest_overtaking_seconds: 16.0,
        };
        assert_eq!(measure(&line), expected);
    }

    #[test]
    fn nobody_overtakes_someone_who_has_not_joined_yet() {
        // Number 1 hears its number only after 2 was admitted.
        assert_eq!(measure(&[waiter(1, 5.0, 9.0), waiter(2, 0.0, 4.0)]), LineOrder::default());
    }

    #[test]
    fn someone_never_admitted_is_overtaken_until_the_end_of_the_run() {
        let left = Waiter { place: 1, from: 0.0, until: 100.0, admitted: false };
        let order = measure(&[left, waiter(2, 0.0, 60.0)]);
        assert_eq!(order.admitted_out_of_order, 1);
        assert!((order.largest_overtaking_seconds - 40.0).abs() < 1e-9);
    }

    #[test]
    fn agrees_with_looking_at_every_pair() {
        // A fixed scramble: places by a multiplicative step, waits of uneven length.
        let line: Vec<_> = (0..200_u32)
            .map(|n| {
                let from = f64::from(n * 7 % 50);
                waiter(u64::from(n * 37 % 200), from, from + f64::from(n * 13 % 60))
            })
            .collect();
        let pairs = || line.iter().flat_map(|v| line.iter().map(move |u| (v, u)));
        let overtakes = |(v, u): &(&Waiter, &Waiter)| {
            u.place < v.place && u.from <= v.until && v.until < u.until
        };
        let ahead: BTreeSet<_> = pairs().filter(overtakes).map(|(v, _)| v.place).collect();
        let behind: BTreeSet<_> = pairs().filter(overtakes).map(|(_, u)| u.place).collect();
        let order = measure(&line);
        assert_eq!(order.admitted_out_of_order, ahead.len());
        assert_eq!(order.overtaken, behind.len());
        let places = pairs().filter(overtakes).map(|(v, u)| v.place - u.place).max().unwrap();
        assert_eq!(order.largest_overtaking_places, places);
        let seconds = pairs().filter(overtakes).map(|(v, u)| u.until - v.until).fold(0.0, f64::max);
        assert!((order.largest_overtaking_seconds - seconds).abs() < 1e-9);
    }
}
