//! The roll of a room: who is there, put together from what the leader counts of the line's bits by turns,
//! and from it the input of the tick.
//!
//! Bits stand for places: see [`crate::presence`]. The decision of the tick is in [`crate::plan`].

mod counters;
mod drawn;
mod unknown;

pub use self::counters::RoomCounters;
use self::{drawn::Drawn, unknown::unknown};
use crate::{
    Draw, RoomSnapshot,
    draw::Pool,
    plan::TickInput,
    presence::{
        Crowd, Presence, Tally,
        tally::{BlockBits, ChunkCount},
    },
    schedule::InForce,
    slots::Usage,
};

/// So many chunks of a line are counted with one tick, beside those around the serving counter.
const CHUNKS_PER_TICK: usize = 4;

/// What a tick counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Chunks of the line.
    pub line: Vec<ChunkCount>,
    /// Chunks of the pool that waits for a draw.
    pub pool: Vec<ChunkCount>,
    /// The blocks around the serving counter.
    pub near: Vec<BlockBits>,
}

/// Which chunks a tick should count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunks {
    /// Of the line.
    pub line: Vec<u64>,
    /// Of the pool that waits for a draw.
    pub pool: Vec<u64>,
}

/// The leader's memory of who is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roll {
    line: Tally,
    pool: Tally,
    /// The places of the line and of the pool, as last heard.
    places: (u64, u64),
    pooled: Option<(u64, u64)>,
    drawn: Drawn,
}

// === impl Roll ===

impl Roll {
    /// Which chunks to count with the next tick.
    #[must_use]
    pub fn next(&self) -> Chunks {
        let pooled = self.pooled.map(|places| self.pool.next(places, CHUNKS_PER_TICK));
        Chunks {
            line: self.line.next(self.places, CHUNKS_PER_TICK),
            pool: pooled.unwrap_or_default(),
        }
    }

    /// Sees the room as all services know it. Whoever does not lead follows who waits for a draw by that.
    pub fn see(&mut self, room: &RoomSnapshot) {
        self.drawn.see(room);
    }

    /// Takes in what was counted, and makes the input of the tick. `draws` are those that the caller
    /// knows. Nobody is admitted while the operator holds the room, a pre-queue is open, a draw is due
    /// or the serving counter is below zero.
    #[must_use]
    pub fn call(
        &mut self,
        counters: &RoomCounters,
        counted: Counted,
        pool: &Pool,
        draws: &[Draw],
        in_force: &InForce,
    ) -> TickInput {
        let now_ms = counters.now_ms;
        self.places = (counters.expired_position + 1, counters.queue_counter);
        self.note_pool(counters, pool);
        if counters.nobody_waits {
            self.line.clear();
        }
        self.line.take(counted.line, now_ms);
        self.pool.take(counted.pool, now_ms);
        let mut crowds = self.line.crowds(self.places, &counted.near);
        for crowd in &mut crowds.unattended {
            *crowd = drawn(*crowd, draws, counters.serving());
        }
        let in_pool = self.pooled.map(|places| self.pool.crowds(places, &[]));
        let is_counted = (counters.nobody_waits || self.line.is_complete(self.places))
            && self.pooled.is_none_or(|places| self.pool.is_complete(places));
        let unattended = [&crowds.unattended, &crowds.polling];
        let unattended = unattended.into_iter().flatten().map(|crowd| crowd.count).sum::<f64>();
        let input = Self::tick_input(counters, pool, in_force);
        let unheard = self.drawn.unheard(&crowds, counters);
        let there = crowds.there.iter().chain(in_pool.iter().flat_map(|pool| &pool.there));
        let there = there.chain(&unheard).copied().collect::<Vec<_>>();
        // After a draw, AWS-style visitors are known by number and who checks in by position: then nothing
        // can be said of both. While presence is incomplete, everyone may count as AWS-style.
        let is_complete = counters.now_ms >= counters.presence_from_ms;
        let polling = if draws.is_empty() && is_complete { &crowds.polling[..] } else { &[] };
        let behind = Presence::new(polling);
        TickInput {
            unattended_there: behind.between(input.serving_counter, counters.queue_counter),
            unattended_asking: behind.between(counters.expired_position, counters.queue_counter),
            there: Presence::new(&there),
            unknown: Presence::new(&unknown(
                self.places,
                &crowds,
                in_pool.as_ref(),
                counters,
                in_force,
            )),
            unattended: people(unattended),
            is_presence_complete: is_complete,
            is_counted,
            ..input
        }
    }

    /// Follows the pool that waits for a draw; once it is drawn or released, its people stand somewhere
    /// in its places.
    fn note_pool(&mut self, counters: &RoomCounters, pool: &Pool) {
        let last = if pool.is_closed() { pool.last } else { counters.queue_counter };
        let places = (!pool.is_empty() && last >= pool.first).then_some((pool.first, last));
        if let (Some((first, last)), None) = (self.pooled, places) {
            let crowds = self.pool.crowds((first, last), &[]);
            // AWS-style visitors are in line by their numbers, drawn or not.
            let people = |crowds: &[Crowd]| crowds.iter().map(|crowd| crowd.count).sum::<f64>();
            let count = people(&crowds.there) - people(&crowds.polling);
            self.drawn.note(Crowd { first, last, count }, counters.now_ms);
            self.pool.clear();
        }
        self.pooled = places;
    }

    fn tick_input(counters: &RoomCounters, pool: &Pool, in_force: &InForce) -> TickInput {
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
                // Those who hold a seat are admissions of the next moments.
                admitted_last_minute: counters.admitted_last_minute + counters.held,
            },
            held: paused,
            promised: counters.promised,
            nobody_waits: counters.nobody_waits,
            admitted: counters.admitted,
            aws_joined: counters.aws_joined,
            aws_admitted: counters.aws_admitted,
            kept_out: counters.kept_out,
            at_door: counters.at_door,
            door: counters.door.clone(),
            came_known: counters.came_known,
            came_unknown: counters.came_unknown,
            came_after_ms: counters.came_after_ms,
            heard_at_ms: counters.heard_at_ms,
            rate_resumes_at_ms: counters.rate_resumes_at_ms,
            spread_left: counters.spread_left,
            ..TickInput::default()
        }
    }
}

/// The positions of a crowd of AWS-style visitors, who are known by their queue numbers. Visitors who took
/// part in a draw may be at any position of it that has not been served.
fn drawn(crowd: Crowd, draws: &[Draw], serving: u64) -> Crowd {
    let took_part = |draw: &&Draw| draw.contains(crowd.first) && draw.contains(crowd.last);
    let Some(draw) = draws.iter().find(took_part) else { return crowd };
    let last = draw.first() + draw.count() - 1;
    let first = draw.first().max(serving + 1).min(last);
    Crowd { first, last, ..crowd }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of people")]
fn people(count: f64) -> u64 {
    count.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn in_force() -> InForce {
        InForce { settings: crate::RoomSettings::default(), event: None }
    }

    /// The bits of these places of the first block.
    fn bits(places: &[usize]) -> Vec<u8> {
        let mut bits = vec![0_u8; 16];
        for place in places {
            bits[place / 8] |= 1 << (7 - place % 8);
        }
        bits
    }

    fn counted(checked_in: &[usize], unattended: &[usize], over: &[usize]) -> Counted {
        let [checked_in, unattended, over] = [checked_in, unattended, over].map(bits);
        let near = vec![BlockBits { block: 0, checked_in, unattended, over }];
        let line = vec![ChunkCount::default()];
        Counted { line, near, ..Counted::default() }
    }

    fn between(presence: &Presence, after: u64, upto: u64) -> u64 {
        people(presence.between(after, upto))
    }

    #[test]
    fn everyone_counts_once_by_what_is_known_of_it() {
        let mut roll = Roll::default();
        let counted = counted(&[3, 12, 13, 14], &[14, 20, 21], &[13, 50]);
        let input = roll.call(&counters(), counted, &Pool::default(), &[], &in_force());
        assert!(input.is_counted);
        assert_eq!(between(&input.there, 0, 100), 2, "3 has expired, and 13 has entered");
        assert_eq!(between(&input.unknown, 0, 100), 2, "14 asks by its number");
        assert_eq!((input.unattended, people(input.unattended_there)), (3, 1));
    }

    #[test]
    fn a_line_is_not_counted_until_every_chunk_of_it_was() {
        let mut roll = Roll::default();
        let long = RoomCounters { queue_counter: 1_000_000, ..counters() };
        let nothing = Counted::default();
        let mut call = |counted| roll.call(&long, counted, &Pool::default(), &[], &in_force());
        assert!(!call(nothing).is_counted);
        let chunk = |chunk| ChunkCount { chunk, there: vec![100], ..ChunkCount::default() };
        let half = Counted { line: (0..4).map(chunk).collect(), ..Counted::default() };
        assert!(!call(half).is_counted);
        let rest = Counted { line: (4..8).map(chunk).collect(), ..Counted::default() };
        let input = call(rest);
        assert!(input.is_counted);
        assert_eq!(between(&input.there, 0, 1_000_000), 800);
        assert_eq!(roll.next().line, [0, 1, 2, 3], "those that were counted longest ago");
    }

    #[test]
    fn while_presence_is_incomplete_nobody_knows_of_those_who_were_not_heard() {
        let later = RoomCounters { presence_from_ms: NOW_MS + 1, ..counters() };
        let mut roll = Roll::default();
        let counted = counted(&[12, 13], &[20], &[13]);
        let input = roll.call(&later, counted, &Pool::default(), &[], &in_force());
        assert_eq!(between(&input.unknown, 4, 100), 94, "96 places, one entered, one was heard");
        assert_eq!(between(&input.unknown, 11, 12), 0);
        assert_eq!(between(&input.there, 0, 100), 1);
    }

    #[test]
    fn numbers_that_were_left_out_are_nobody_until_they_are_heard() {
        let left_out = vec![(1, 20), (31, 90)];
        let later = RoomCounters { presence_from_ms: NOW_MS + 1, left_out, ..counters() };
        let counted = counted(&[12, 40], &[], &[]);
        let input = Roll::default().call(&later, counted, &Pool::default(), &[], &in_force());
        assert_eq!(between(&input.unknown, 20, 30), 10);
        assert_eq!(between(&input.unknown, 0, 100), 20, "those above 20 and 90");
        assert_eq!(between(&input.there, 0, 100), 2);
    }

    #[test]
    fn of_whom_nobody_knows_no_more_wait_than_by_the_counters() {
        let over = RoomCounters { presence_from_ms: NOW_MS + 1, over: 60, ..counters() };
        let unknown = |method| {
            let mut in_force = in_force();
            in_force.settings.queueing_method = method;
            let counted = counted(&[12, 40], &[], &[]);
            Roll::default().call(&over, counted, &Pool::default(), &[], &in_force).unknown
        };
        let random = unknown(crate::QueueingMethod::Random);
        assert_eq!(
            (between(&random, 4, 100), between(&random, 4, 10)),
            (38, 2),
            "40, two are there"
        );
        let fifo = unknown(crate::QueueingMethod::Fifo);
        assert_eq!((between(&fifo, 4, 10), between(&fifo, 10, 100)), (0, 88), "in order");
    }

    #[test]
    fn who_waits_for_a_draw_is_heard_by_number() {
        let later = RoomCounters { presence_from_ms: NOW_MS + 1, ..counters() };
        let open = Pool { first: 21, last: 0, draw_id: "d".into() };
        let pool = vec![ChunkCount { there: vec![40], ..ChunkCount::default() }];
        let waiting = Counted { pool, ..counted(&[12], &[], &[]) };
        let input = Roll::default().call(&later, waiting, &open, &[], &in_force());
        assert_eq!((between(&input.there, 0, 100), between(&input.unknown, 4, 100)), (41, 55));
    }

    #[test]
    fn whoever_waited_for_a_draw_may_be_anywhere_in_it() {
        let mut roll = Roll::default();
        let open = Pool { first: 21, last: 0, draw_id: "d".into() };
        let pool = vec![ChunkCount { there: vec![40], ..ChunkCount::default() }];
        let waiting = Counted { pool, ..counted(&[12], &[], &[]) };
        let input = roll.call(&counters(), waiting, &open, &[], &in_force());
        assert_eq!((between(&input.there, 0, 20), between(&input.there, 20, 100)), (1, 40));
        assert!(input.held && roll.next().pool == [0]);
        let drawn = Draw::new(21, 80, [7; 32]);
        let after = counted(&[12, 30, 31], &[], &[]);
        let input = roll.call(&counters(), after.clone(), &Pool::default(), &[drawn], &in_force());
        assert_eq!(between(&input.there, 29, 31), 2, "at their own places");
        assert_eq!(between(&input.there, 20, 100), 40, "the others are somewhere");
        assert_eq!(between(&input.unknown, 20, 100), 0, "of all it is known that they are there");
        let later = RoomCounters { now_ms: NOW_MS + 62_000, ..counters() };
        let input = roll.call(&later, after, &Pool::default(), &[], &in_force());
        assert_eq!(between(&input.there, 20, 100), 2, "all have had the time to check in");
    }

    #[test]
    fn aws_style_visitors_of_a_draw_stand_anywhere_in_it_behind_the_counter() {
        let crowd = |first, last, count| Crowd { first, last, count };
        let draws = [Draw::new(5, 30, [7; 32])];
        assert_eq!(drawn(crowd(7, 8, 2.0), &draws, 10), crowd(11, 34, 2.0));
        assert_eq!(drawn(crowd(70, 80, 3.0), &draws, 10), crowd(70, 80, 3.0));
    }

    #[test]
    fn nobody_is_admitted_while_a_draw_is_due_and_a_counter_below_zero_holds_nobody() {
        let held = |serving_counter, pool: &Pool| {
            let counters = RoomCounters { serving_counter, ..counters() };
            let nothing = Counted::default();
            Roll::default().call(&counters, nothing, pool, &[], &in_force()).held
        };
        assert!(!held(0, &Pool::default()));
        assert!(!held(-1, &Pool::default()), "limits move it on as from zero");
        assert!(held(0, &Pool { first: 5, last: 0, draw_id: "d".into() }));
    }
}
