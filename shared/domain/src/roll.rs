//! The roll of a room: who is there, counted from the leases in the store, and from it the input of
//! the tick.
//!
//! A lease stands for a visitor somewhere in a range of positions: see [`crate::presence`]. The
//! decision of the tick is in [`crate::plan`].

use serde::Deserialize;

use crate::{
    Draw, Lease,
    draw::Pool,
    plan::TickInput,
    presence::{Crowd, Presence},
    schedule::InForce,
    slots::Usage,
};

/// The counters of a room at the beginning of a tick.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct RoomCounters {
    /// The store's time, ms.
    pub now_ms: u64,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// The serving counter.
    pub serving_counter: i64,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Seats taken.
    pub active: u64,
    /// Admissions of the last 60 seconds.
    pub admitted_last_minute: u64,
    /// People let through by the join script and not yet seated.
    pub promised: u64,
    /// When the last of them was let through, ms.
    pub promised_at_ms: u64,
    /// Until when presence is incomplete, ms.
    pub presence_from_ms: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// When the rate limit admits the next one, if its window is used up, ms; else 0.
    pub rate_resumes_at_ms: u64,
    /// Draws since the reset.
    pub draw_count: u32,
}

/// The visitors who are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roll {
    /// Visitors who checked in when it was due.
    pub attending: Vec<Crowd>,
    /// Visitors who are still there, hidden tabs included.
    pub there: Vec<Crowd>,
    /// Visitors who have won in a random room and have no seat yet.
    pub winners: u64,
    /// Fields to delete: leases whose holders are gone, and texts that are not leases.
    pub gone: Vec<String>,
}

/// The state of the room against which leases are evaluated.
struct Line<'a> {
    counters: &'a RoomCounters,
    pool: &'a Pool,
    draws: &'a [Draw],
}

// === impl RoomCounters ===

impl RoomCounters {
    fn serving(&self) -> u64 {
        u64::try_from(self.serving_counter).unwrap_or(0)
    }
}

// === impl Roll ===

impl Roll {
    /// Counts `leases`, given as Redis fields with the number of their holders, and the AWS-style
    /// visitors who have not entered. `draws` are those that the caller knows.
    #[must_use]
    pub fn new<'a>(
        counters: &RoomCounters,
        pool: &Pool,
        draws: &[Draw],
        leases: impl IntoIterator<Item = (&'a str, u64)>,
        unattended: &[Crowd],
    ) -> Self {
        let line = Line { counters, pool, draws };
        let mut roll = Self::default();
        for (lease, count) in leases {
            roll.count(&line, lease, count);
        }
        for crowd in unattended {
            let crowd = line.drawn(*crowd);
            roll.there.push(crowd);
            roll.attending.push(crowd);
        }
        roll
    }

    /// Counts the holders of one lease.
    fn count(&mut self, line: &Line<'_>, field: &str, count: u64) {
        let Ok(lease) = field.parse::<Lease>() else { return self.gone.push(field.to_owned()) };
        let RoomCounters { now_ms, expired_position, .. } = *line.counters;
        let passed = lease.range().is_some_and(|(_, last)| last <= expired_position);
        if lease.is_gone(now_ms) || passed {
            return self.gone.push(field.to_owned());
        }
        let attends = !lease.has_lapsed(now_ms);
        if lease.has_won() {
            self.winners += if attends { count } else { 0 };
            return;
        }
        let (first, last) = line.range(&lease);
        let crowd = Crowd { first, last, count };
        self.there.push(crowd);
        if attends {
            self.attending.push(crowd);
        }
    }

    /// The input of the tick. `unattended` is the number of AWS-style visitors on the roll. Nobody
    /// is admitted while the operator holds the room, a pre-queue is open, a draw is due or the
    /// serving counter is below zero.
    #[must_use]
    pub fn into_tick_input(
        self,
        counters: &RoomCounters,
        pool: &Pool,
        in_force: &InForce,
        unattended: u64,
    ) -> TickInput {
        let InForce { settings, event } = in_force;
        let prequeueing = event.as_ref().is_some_and(|event| event.prequeueing);
        let paused = settings.queue_all || settings.suspended || prequeueing || !pool.is_empty();
        TickInput {
            now_ms: counters.now_ms,
            method: settings.queueing_method,
            queue_counter: counters.queue_counter,
            serving_counter: counters.serving(),
            expired_position: counters.expired_position,
            usage: Usage {
                ceiling: settings.total_active_users,
                active: counters.active,
                rate: settings.new_users_per_minute,
                admitted_last_minute: counters.admitted_last_minute,
            },
            held: paused || counters.serving_counter < 0,
            promised: counters.promised,
            promised_at_ms: counters.promised_at_ms,
            presence_incomplete_until_ms: counters.presence_from_ms,
            admitted: counters.admitted,
            attending: Presence::new(self.attending, counters.queue_counter),
            there: Presence::new(self.there, counters.queue_counter),
            unattended,
            winners: self.winners,
            rate_resumes_at_ms: counters.rate_resumes_at_ms,
            ..TickInput::default()
        }
    }
}

// === impl Line ===

impl Line<'_> {
    /// The positions that a lease may stand for. A pool that is not drawn yet is spread evenly over
    /// the positions that its draw will assign.
    fn range(&self, lease: &Lease) -> (u64, u64) {
        if let Some(range) = lease.range() {
            return range;
        }
        let index = lease.pool().unwrap_or(u32::MAX);
        if let Some(draw) = self.draws.get(index as usize) {
            return (draw.first(), draw.first() + draw.count() - 1);
        }
        let queue_counter = self.counters.queue_counter;
        if index == self.counters.draw_count && !self.pool.is_empty() {
            let last = if self.pool.is_closed() { self.pool.last } else { queue_counter };
            return (self.pool.first, last.max(self.pool.first));
        }
        // The draw was cancelled, or the caller does not know it yet.
        (1, queue_counter.max(1))
    }

    /// The positions of a crowd of AWS-style visitors, who are known by their queue numbers.
    /// Visitors who took part in a draw may be at any position of it that has not been served.
    fn drawn(&self, crowd: Crowd) -> Crowd {
        let took_part = |draw: &&Draw| draw.contains(crowd.first) && draw.contains(crowd.last);
        let Some(draw) = self.draws.iter().find(took_part) else { return crowd };
        let last = draw.first() + draw.count() - 1;
        let first = draw.first().max(self.counters.serving() + 1).min(last);
        Crowd { first, last, ..crowd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::{LINGER_MS, Spot};

    const NOW_MS: u64 = 1_790_000_000_000;

    fn counters() -> RoomCounters {
        RoomCounters {
            now_ms: NOW_MS,
            queue_counter: 100,
            serving_counter: 10,
            expired_position: 4,
            ..RoomCounters::default()
        }
    }

    /// The lease of a visitor at `spot` who was told `ago_ms` ago to poll again in a second.
    fn lease(spot: Spot, ago_ms: u64) -> String {
        Lease::granted(spot, 10, NOW_MS - ago_ms, 1_000).to_string()
    }

    fn roll(leases: &[(String, u64)], pool: &Pool, draws: &[Draw], unattended: &[Crowd]) -> Roll {
        let leases = leases.iter().map(|(lease, count)| (lease.as_str(), *count));
        Roll::new(&counters(), pool, draws, leases, unattended)
    }

    #[test]
    fn an_overdue_visitor_is_there_without_attending_and_is_gone_at_last() {
        let spot = Spot::Position(12);
        let [due, overdue, gone] = [0, 10_000, LINGER_MS + 10_000].map(|ago| lease(spot, ago));
        let leases = [(due, 1), (overdue, 2), (gone.clone(), 3)];
        let roll = roll(&leases, &Pool::default(), &[], &[]);
        let counts = |crowds: &[Crowd]| crowds.iter().map(|crowd| crowd.count).collect::<Vec<_>>();
        assert_eq!((counts(&roll.there), counts(&roll.attending)), (vec![1, 2], vec![1]));
        assert_eq!(roll.gone, [gone]);
    }

    #[test]
    fn expired_positions_and_unknown_fields_are_cleared_away() {
        let leases = [(lease(Spot::Position(4), 0), 1), ("nonsense".to_owned(), 1)];
        let roll = roll(&leases, &Pool::default(), &[], &[]);
        assert_eq!(roll.gone, [leases[0].0.clone(), "nonsense".to_owned()]);
        assert_eq!(roll.there, []);
    }

    #[test]
    fn winners_have_no_position_and_count_while_they_attend() {
        let leases = [(lease(Spot::Won, 0), 5), (lease(Spot::Won, 10_000), 7)];
        let roll = roll(&leases, &Pool::default(), &[], &[]);
        assert_eq!((roll.winners, roll.there.len()), (5, 0));
    }

    #[test]
    fn a_pool_is_spread_over_the_places_that_it_will_be_given() {
        let leases = [(lease(Spot::Pool(0), 0), 9)];
        let range = |pool: &Pool, draws: &[Draw]| {
            let roll = roll(&leases, pool, draws, &[]);
            (roll.there[0].first, roll.there[0].last)
        };
        let open = Pool { first: 21, last: 0, draw_id: "d".into() };
        assert_eq!(range(&open, &[]), (21, 100));
        assert_eq!(range(&Pool { last: 60, ..open.clone() }, &[]), (21, 60));
        assert_eq!(range(&Pool::default(), &[Draw::new(21, 40, [7; 32])]), (21, 60), "drawn");
        assert_eq!(range(&Pool::default(), &[]), (1, 100), "cancelled");
    }

    #[test]
    fn aws_style_visitors_of_a_draw_stand_anywhere_in_it_behind_the_counter() {
        let (inside, outside) =
            (Crowd { first: 7, last: 8, count: 2 }, Crowd { first: 70, last: 80, count: 3 });
        let roll = roll(&[], &Pool::default(), &[Draw::new(5, 30, [7; 32])], &[inside, outside]);
        assert_eq!(roll.attending, [Crowd { first: 11, last: 34, count: 2 }, outside]);
        assert_eq!(roll.there, roll.attending);
    }

    #[test]
    fn nobody_is_admitted_while_a_draw_is_due_or_the_counter_is_below_zero() {
        let in_force = InForce { settings: crate::RoomSettings::default(), event: None };
        let held = |serving_counter, pool: &Pool| {
            let counters = RoomCounters { serving_counter, ..counters() };
            Roll::default().into_tick_input(&counters, pool, &in_force, 0).held
        };
        assert!(!held(0, &Pool::default()));
        assert!(held(-1, &Pool::default()));
        assert!(held(0, &Pool { first: 5, last: 0, draw_id: "d".into() }));
    }
}
