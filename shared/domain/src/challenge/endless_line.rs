//! The endless line: what somebody is told who has no place and is not to know. The queue number is one beyond the
//! last, and stays; the figures are those of anybody with that number, until it would get to the front. There it stops,
//! and never enters. So all of it follows from the room's snapshot, the ticket, and the time of the join: nothing of it
//! is kept anywhere, and nobody else's figures change.

use super::ChallengeMode;
use crate::{
    MAX_QUEUE_NUMBER, Outlook, Progress, RoomSnapshot, Waiter,
    check_in::{self, LineConditions},
    poll::{self, PollContext, PollOutcome, WaiterState},
    wait::Estimate,
};

/// How far beyond the last number one may be that is shown, as if others had come just before: in a short line so far,
const FEWEST_BEYOND: u64 = 8;
/// in a longer one this part of those who wait, since everybody may be told how many they are,
const PART_OF_LINE: u64 = 16;
/// and no further than this.
const MOST_BEYOND: u64 = 1_024;
/// The number rises by one in so many ms, so that joins one after the other get numbers in their order. Behind the furthest
/// comes the nearest again: how many were told one before is kept nowhere.
const STEP_MS: u64 = 40;
/// At least so many seem to be ahead for ever, and fewer than so many more.
const FEWEST_AHEAD: u64 = 2;
const SPREAD_AHEAD: u64 = 8;

/// Whether `room` has one now.
#[must_use]
pub fn is_in(room: &RoomSnapshot) -> bool {
    !room.settings.suspended && room.settings.challenge.mode == ChallengeMode::EndlessLine
}

/// The queue number to show to somebody who comes at `now_ms`, by the newest counters that the caller knows. It will be
/// somebody else's.
#[must_use]
pub fn number(room: &RoomSnapshot, (now_ms, progress): (u64, Progress)) -> u64 {
    let beyond = now_ms / STEP_MS % reach(room, progress);
    let number = progress.queue_counter.saturating_add(1 + beyond);
    number.clamp(FEWEST_AHEAD + 1, MAX_QUEUE_NUMBER)
}

/// How many numbers beyond the last one are shown: a power of two, which changes seldom while the line does.
fn reach(room: &RoomSnapshot, progress: Progress) -> u64 {
    let waiting = room.numbers_waiting(progress);
    1 << (waiting / PART_OF_LINE).clamp(FEWEST_BEYOND, MOST_BEYOND).ilog2()
}

/// Evaluates a call as [`poll::evaluate`] does. It is never anybody's turn, and no call counts as a check-in.
#[must_use]
pub fn evaluate(room: &RoomSnapshot, waiter: &Waiter, call: &PollContext) -> PollOutcome {
    if room.rejects() {
        return PollOutcome::silent(WaiterState::Rejected, *waiter);
    }
    if poll::is_away_too_long(room, waiter, call) {
        return PollOutcome::silent(WaiterState::Expired, *waiter);
    }
    let mut waiter = *waiter;
    let position = position(room, waiter.place.number);
    let conditions = conditions(room, position, (call.now_ms, room.progress()));
    let method = room.settings.queueing_method;
    let interval_ms = check_in::interval_ms(method, &conditions, call.spread);
    let next_ms = poll::note(room, &mut waiter, interval_ms, call);
    PollOutcome { state: WaiterState::Waiting, waiter, check_in: None, next_ms }
}

/// What the holder of `queue_number` is told at `now_ms`, by the newest counters that the caller knows.
#[must_use]
pub fn outlook(
    room: &RoomSnapshot,
    queue_number: u64,
    (now_ms, progress): (u64, Progress),
) -> Outlook {
    let position = position(room, queue_number);
    let outlook = room.outlook_in(position, &conditions(room, position, (now_ms, progress)));
    if room.is_open() { Outlook { wait: Estimate::UNKNOWN, ..outlook } } else { outlook }
}

/// The position of `queue_number`. A draw may put it at the very front, where nobody could be ahead of it.
fn position(room: &RoomSnapshot, queue_number: u64) -> Option<u64> {
    room.position(queue_number).map(|position| position.max(FEWEST_AHEAD + 1))
}

fn conditions(
    room: &RoomSnapshot,
    position: Option<u64>,
    (now_ms, progress): (u64, Progress),
) -> LineConditions {
    let real = room.line_conditions(position, now_ms, progress);
    let before = position.map_or(u64::MAX, |position| position - 1);
    // Of two with numbers close together the later one has more ahead also where both have stopped.
    let fewest = FEWEST_AHEAD + position.map_or(0, |position| position % SPREAD_AHEAD);
    LineConditions { people_ahead: real.people_ahead.max(fewest).min(before), ..real }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draw, Place, QueueingMethod, snapshot::test_support::snapshot};

    const NOW: u64 = 1_800_000_000_000;

    fn waiter(number: u64) -> Waiter {
        Waiter::new(Place { number, entered_at: 1_800_000_000, region: 1 }, 0)
    }

    fn call(now_ms: u64) -> PollContext {
        PollContext { now_ms, win_threshold: 0.0, spread: 0.5, excused_until_ms: 0 }
    }

    /// The number that is shown at `now_ms`, where nobody has entered.
    fn number_at(room: &RoomSnapshot, now_ms: u64) -> u64 {
        number(room, (now_ms, room.progress()))
    }

    /// The people ahead of the holder of `number`, when positions up to `serving` have been served.
    fn ahead(serving: i64, number: u64) -> u64 {
        let room = snapshot(1_000, serving);
        let progress = Progress { admitted: room.serving(), ..room.progress() };
        outlook(&room, number, (NOW, progress)).people_ahead.unwrap()
    }

    #[test]
    fn the_number_is_one_of_the_next() {
        for (waiting, furthest) in [(100, 108), (1_100, 1_164), (1_000_000, 1_001_024)] {
            let room = snapshot(waiting, 10);
            let times = (NOW..NOW + 60_000).step_by(20);
            let mut numbers: Vec<_> = times.map(|at| number_at(&room, at)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers, (waiting + 1..=furthest).collect::<Vec<_>>());
        }
        let room = snapshot(MAX_QUEUE_NUMBER, 10);
        assert_eq!(number_at(&room, NOW), MAX_QUEUE_NUMBER);
    }

    #[test]
    fn it_gets_forward_like_anybody_and_never_to_the_front() {
        let room = snapshot(1_000, 10);
        let real = room.outlook(105, NOW, Progress { admitted: 10, ..room.progress() });
        assert_eq!(Some(ahead(10, 105)), real.people_ahead);
        for number in [3, 8, 105, 112] {
            let seen: Vec<_> = (0..300).map(|serving| ahead(serving, number)).collect();
            assert!(seen.is_sorted_by(|before, after| before >= after), "{seen:?}");
            assert!((2..10).contains(&seen[299]), "{number}: {}", seen[299]);
        }
        assert!(ahead(300, 105) < ahead(300, 106), "who came later has more ahead");
    }

    #[test]
    fn a_draw_puts_nobody_to_the_front() {
        let mut room = snapshot(1_000, 10);
        room.draws = vec![Draw::new(1, 1_000, [7; 32])];
        let told = |number| outlook(&room, number, (NOW, room.progress()));
        let first = (1..=1_000).find(|number| room.position(*number) == Some(1)).unwrap();
        let told = told(first);
        assert_eq!((told.position, told.people_ahead), (Some(3), Some(2)));
    }

    #[test]
    fn numbers_rise_from_one_join_to_the_next() {
        let lines = [(40_u64, 8_u64, 40), (2_000, 8, 300), (20_000, 30, 1_000)];
        for (waiting, joins, pause_ms) in lines {
            let room = snapshot(waiting, 0);
            let at = |join| NOW.next_multiple_of(STEP_MS * MOST_BEYOND) + join * pause_ms;
            let numbers: Vec<_> = (0..joins).map(|join| number_at(&room, at(join))).collect();
            assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
            assert!(numbers[0] > waiting, "{numbers:?}");
        }
    }

    #[test]
    fn its_figures_do_not_contradict_each_other() {
        for (counter, serving) in [(0, 0), (1, 0), (2, 1), (5, 9), (40, 12), (40, 300)] {
            let room = snapshot(counter, serving);
            for at in (NOW..NOW + 2_000).step_by(10) {
                let number = number_at(&room, at);
                let admitted = room.serving().min(counter);
                let told = outlook(&room, number, (at, Progress { admitted, ..room.progress() }));
                let (position, ahead) = (told.position.unwrap(), told.people_ahead.unwrap());
                assert!(position == number && number > counter, "{counter}: {number} {told:?}");
                assert!(ahead < position && ahead > 1, "{counter}: {number} {told:?}");
            }
        }
    }

    #[test]
    fn it_is_never_its_turn_and_no_call_counts() {
        let mut room = snapshot(1_000, 500);
        let at_door = evaluate(&room, &waiter(105), &call(NOW));
        assert_eq!((at_door.state, at_door.check_in), (WaiterState::Waiting, None));
        assert_eq!(poll::evaluate(&room, &waiter(105), &call(NOW)).state, WaiterState::YourTurn);
        assert_eq!(at_door.waiter.heard_at, NOW, "the ticket changes as any other");
        for method in [QueueingMethod::Random, QueueingMethod::Passthrough] {
            room.settings.queueing_method = method;
            room.cumulative_hazard = u64::MAX / 2;
            assert_eq!(evaluate(&room, &waiter(105), &call(NOW)).state, WaiterState::Waiting);
        }
        room.settings.queueing_method = QueueingMethod::Reject;
        let rejected = evaluate(&room, &waiter(105), &call(NOW));
        assert_eq!((rejected.state, rejected.next_ms), (WaiterState::Rejected, 0));
    }

    #[test]
    fn far_from_the_front_a_call_comes_to_what_anybodys_does() {
        let room = snapshot(1_000, 10);
        let of_anybody = poll::evaluate(&room, &waiter(900), &call(NOW));
        let endless = evaluate(&room, &waiter(900), &call(NOW));
        assert_eq!(endless, PollOutcome { check_in: None, ..of_anybody });
        let away = call(NOW + 900_000);
        assert_eq!(evaluate(&room, &of_anybody.waiter, &away).state, WaiterState::Expired);
    }
}
