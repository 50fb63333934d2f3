//! Those who waited for a draw that is over. They are known to be there, though most have not been heard since: each asks
//! when it was told to while it waited, and at which place it stands is seen only then.

use super::RoomCounters;
use crate::{
    RoomSnapshot, check_in,
    presence::{Crowd, Presence, tally::Crowds},
};

/// For so long after a draw everyone who waited for it counts as there at some place of it, ms: until all have checked in
/// at their own. A hidden tab does so once a minute; of a large crowd each may be told to ask later than that.
const LASTS_MS: u64 = 62_000;
/// An ask that is due may come so much later, ms.
const LATE_MS: u64 = 2_000;

/// A leader's memory of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Drawn {
    /// Who waits still, as all services know.
    waiting: Option<Crowd>,
    /// The longest interval that somebody was told who waits, ms.
    longest_ms: u64,
    /// Who waited, and until when they count, ms.
    waited: Option<(Crowd, u64)>,
}

// === impl Drawn ===

impl Drawn {
    /// Sees the room as all services know it: whoever leads next knows the crowd by that.
    pub(super) fn see(&mut self, room: &RoomSnapshot) {
        if room.pool_first > 0 {
            let last = if room.pool_last > 0 { room.pool_last } else { room.queue_counter };
            let told_before = if self.waiting.is_some() { self.longest_ms } else { 0 };
            self.longest_ms = told_before.max(longest_interval_ms(room));
            self.waiting = (room.pool_first <= last).then(|| Crowd {
                first: room.pool_first,
                last,
                count: people_in_pool(room),
            });
        } else if let Some(crowd) = self.waiting.take() {
            // Whoever leads has counted them itself.
            let is_noted = self.waited.is_some_and(|(noted, _)| noted.first == crowd.first);
            if !is_noted {
                self.note(crowd, room.now_ms);
            }
        }
    }

    /// These people wait no more for a draw, and stand at some of its places.
    pub(super) fn note(&mut self, crowd: Crowd, now_ms: u64) {
        let lasts_ms = LASTS_MS.max(self.longest_ms + LATE_MS);
        self.waited = Some((crowd, now_ms + lasts_ms));
    }

    /// Those of them who were not heard at their own places: evenly at the places where nobody was. While presence is
    /// incomplete, they are among all others of whom nobody knows.
    pub(super) fn unheard(&mut self, crowds: &Crowds, counters: &RoomCounters) -> Vec<Crowd> {
        self.waited = self.waited.filter(|(_, until_ms)| counters.now_ms < *until_ms);
        let Some((crowd, _)) = self.waited else { return Vec::new() };
        let Some(crowd) = within(&crowd, (counters.expired_position + 1, crowd.last)) else {
            return Vec::new();
        };
        if counters.now_ms < counters.presence_from_ms {
            return Vec::new();
        }
        let places = (crowd.first, crowd.last);
        let heard = crowds.there.iter().chain(&crowds.over);
        let heard = heard.filter_map(|crowd| within(crowd, places));
        // Of a block of which a part has expired the whole is counted.
        let no_more = |crowd: Crowd| Crowd { count: crowd.count.min(places_of(&crowd)), ..crowd };
        let heard: Vec<_> = heard.map(no_more).collect();
        let known = Presence::new(&heard).between(crowd.first - 1, crowd.last);
        let silent_places = places_of(&crowd) - known;
        if silent_places <= 0.0 {
            return Vec::new();
        }
        let density = ((crowd.count - known) / silent_places).clamp(0.0, 1.0);
        let everywhere = Crowd { count: density * places_of(&crowd), ..crowd };
        let less = heard.iter().map(|crowd| Crowd { count: -density * crowd.count, ..*crowd });
        std::iter::once(everywhere).chain(less).collect()
    }
}

/// The longest interval that is told to somebody who waits for the draw, ms.
fn longest_interval_ms(room: &RoomSnapshot) -> u64 {
    let conditions = room.line_conditions(None, room.now_ms, room.progress());
    check_in::interval_ms(room.settings.queueing_method, &conditions, 1.0).into()
}

/// How many wait for the draw and check in.
#[expect(clippy::cast_precision_loss, reason = "counts of people")]
fn people_in_pool(room: &RoomSnapshot) -> f64 {
    let all = room.figures.polling.unwrap_or(room.figures.waiting);
    all.saturating_sub(room.people_ahead(room.pool_first, room.progress())) as f64
}

/// The part of a crowd that stands at these places.
fn within(crowd: &Crowd, (first, last): (u64, u64)) -> Option<Crowd> {
    let part = Crowd { first: crowd.first.max(first), last: crowd.last.min(last), ..*crowd };
    let share = || places_of(&part) / places_of(crowd);
    (part.first <= part.last).then(|| Crowd { count: crowd.count * share(), ..part })
}

#[expect(clippy::cast_precision_loss, reason = "positions have 36 bits")]
fn places_of(crowd: &Crowd) -> f64 {
    (crowd.last + 1 - crowd.first) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TickFigures, snapshot::test_support::snapshot};

    const NOW_MS: u64 = 1_790_000_000_000;

    fn crowd(first: u64, last: u64, count: f64) -> Crowd {
        Crowd { first, last, count }
    }

    fn counters(expired_position: u64) -> RoomCounters {
        RoomCounters { now_ms: NOW_MS, expired_position, ..RoomCounters::default() }
    }

    fn unheard(drawn: &mut Drawn, crowds: &Crowds, expired: u64) -> Presence {
        Presence::new(&drawn.unheard(crowds, &counters(expired)))
    }

    fn is(people: f64, expected: f64) -> bool {
        (people - expected).abs() < 1e-6
    }

    #[test]
    fn who_was_not_heard_stands_where_nobody_was() {
        let mut drawn = Drawn::default();
        drawn.note(crowd(11, 110, 60.0), NOW_MS);
        let there = vec![crowd(1, 10, 10.0), crowd(11, 20, 10.0)];
        let crowds = Crowds { there, over: vec![crowd(101, 110, 10.0)], ..Crowds::default() };
        let people = unheard(&mut drawn, &crowds, 0);
        assert!(is(people.between(0, 20), 0.0), "each of those was heard: {people:?}");
        assert!(is(people.between(100, 110), 0.0), "and these have entered: {people:?}");
        assert!(is(people.between(20, 60), 20.0), "half of the places: {people:?}");
        assert!(is(people.between(0, 110), 40.0), "{people:?}");
    }

    #[test]
    fn places_that_have_expired_hold_nobody() {
        let mut drawn = Drawn::default();
        drawn.note(crowd(11, 110, 100.0), NOW_MS);
        let people = unheard(&mut drawn, &Crowds::default(), 60);
        assert!(is(people.between(0, 110), 50.0), "{people:?}");
        assert!(drawn.unheard(&Crowds::default(), &counters(110)).is_empty());
    }

    #[test]
    fn nowhere_are_fewer_than_nobody() {
        let mut drawn = Drawn::default();
        drawn.note(crowd(1, 200, 190.0), NOW_MS);
        // Of the first block a part has expired, and all who have entered there are counted.
        let crowds = Crowds { over: vec![crowd(51, 100, 80.0)], ..Crowds::default() };
        let people = unheard(&mut drawn, &crowds, 50);
        assert!((50..200).all(|place| people.between(place, place + 1) > -1e-9), "{people:?}");
    }

    #[test]
    fn while_presence_is_incomplete_nobody_counts_twice() {
        let mut drawn = Drawn::default();
        drawn.note(crowd(11, 110, 100.0), NOW_MS);
        let restored = RoomCounters { presence_from_ms: NOW_MS + 1, ..counters(0) };
        assert!(drawn.unheard(&Crowds::default(), &restored).is_empty());
    }

    #[test]
    fn who_was_told_to_ask_late_counts_until_then() {
        let figures = TickFigures {
            waiting: 280_000,
            ahead: vec![(0, 0), (280_000, 280_000)],
            ..TickFigures::default()
        };
        let mut drawn = Drawn::default();
        drawn.see(&RoomSnapshot { pool_first: 1, figures, ..snapshot(280_000, 0) });
        drawn.note(crowd(1, 280_000, 280_000.0), NOW_MS);
        let at = |after_ms| RoomCounters { now_ms: NOW_MS + after_ms, ..RoomCounters::default() };
        let mut are_there = |after_ms| !drawn.unheard(&Crowds::default(), &at(after_ms)).is_empty();
        assert!(are_there(200_000), "two hundred seconds, give or take a seventh");
        assert!(!are_there(240_000));
    }

    #[test]
    fn whoever_leads_next_knows_who_waited() {
        let figures = TickFigures {
            waiting: 70,
            polling: Some(70),
            ahead: vec![(0, 0), (10, 10), (110, 70)],
            ..TickFigures::default()
        };
        let pooled = RoomSnapshot { pool_first: 11, figures, ..snapshot(110, 0) };
        let mut drawn = Drawn::default();
        drawn.see(&RoomSnapshot { now_ms: NOW_MS - 250, ..pooled });
        assert!(unheard(&mut drawn, &Crowds::default(), 0).between(0, 110) < 1e-6);
        drawn.see(&RoomSnapshot { now_ms: NOW_MS, ..snapshot(110, 0) });
        assert!(is(unheard(&mut drawn, &Crowds::default(), 0).between(10, 110), 60.0));
    }
}
