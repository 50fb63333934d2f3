//! The endless line: what somebody is told who has no place and is not to know. The queue number is one beyond the
//! last, and stays; the figures are those of anybody with that number, until it would get to the front. There it stops,
//! and never enters. So all of it follows from the room's snapshot, the ticket, and the ticket's random seed: nothing
//! of it is kept anywhere, and nobody else's figures change.

use super::ChallengeMode;
use crate::{
    MAX_QUEUE_NUMBER, Outlook, Progress, RoomSnapshot, Waiter,
    check_in::{self, LineConditions},
    poll::{self, PollContext, PollOutcome, WaiterState},
    wait::Estimate,
};

/// So many numbers beyond the next one may be shown: as if others had come just before.
const NUMBERS: u64 = 8;
/// At least so many seem to be ahead for ever, and fewer than so many more.
const FEWEST_AHEAD: u64 = 2;
const SPREAD_AHEAD: u64 = 8;

/// Whether `room` has one now.
#[must_use]
pub fn is_in(room: &RoomSnapshot) -> bool {
    !room.settings.suspended && room.settings.challenge.mode == ChallengeMode::EndlessLine
}

/// The queue number to show to somebody who comes now. It will be somebody else's.
#[must_use]
pub fn number(seed: u64, progress: Progress) -> u64 {
    (progress.queue_counter + 1 + seed % NUMBERS).min(MAX_QUEUE_NUMBER)
}

/// Evaluates a call as [`poll::evaluate`] does. It is never anybody's turn, and no call counts as a check-in.
#[must_use]
pub fn evaluate(
    room: &RoomSnapshot,
    waiter: &Waiter,
    seed: u64,
    call: &PollContext,
) -> PollOutcome {
    if room.rejects() {
        return PollOutcome::silent(WaiterState::Rejected, *waiter);
    }
    if poll::is_away_too_long(room, waiter, call) {
        return PollOutcome::silent(WaiterState::Expired, *waiter);
    }
    let mut waiter = *waiter;
    let position = room.position(waiter.place.number);
    let conditions = conditions(room, position, seed, (call.now_ms, room.progress()));
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
    seed: u64,
    (now_ms, progress): (u64, Progress),
) -> Outlook {
    let position = room.position(queue_number);
    let outlook = room.outlook_in(position, &conditions(room, position, seed, (now_ms, progress)));
    if room.is_open() { Outlook { wait: Estimate::UNKNOWN, ..outlook } } else { outlook }
}

fn conditions(
    room: &RoomSnapshot,
    position: Option<u64>,
    seed: u64,
    (now_ms, progress): (u64, Progress),
) -> LineConditions {
    let real = room.line_conditions(position, now_ms, progress);
    let fewest = FEWEST_AHEAD + seed / NUMBERS % SPREAD_AHEAD;
    LineConditions { people_ahead: real.people_ahead.max(fewest), ..real }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, QueueingMethod, snapshot::test_support::snapshot};

    const NOW: u64 = 1_800_000_000_000;

    fn waiter(number: u64) -> Waiter {
        Waiter::new(Place { number, entered_at: 1_800_000_000, region: 1 }, 0)
    }

    fn call(now_ms: u64) -> PollContext {
        PollContext { now_ms, win_threshold: 0.0, spread: 0.5, excused_until_ms: 0 }
    }

    /// The people ahead of the holder of 105, when positions up to `serving` have been served.
    fn ahead(serving: i64, seed: u64) -> u64 {
        let room = snapshot(1_000, serving);
        let progress = Progress { admitted: room.serving(), ..room.progress() };
        outlook(&room, 105, seed, (NOW, progress)).people_ahead.unwrap()
    }

    #[test]
    fn the_number_is_one_of_the_next() {
        let progress = snapshot(100, 10).progress();
        let mut numbers: Vec<_> = (0..100).map(|seed| number(seed, progress)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, (101..=108).collect::<Vec<_>>());
        let last = Progress { queue_counter: MAX_QUEUE_NUMBER, ..progress };
        assert_eq!(number(5, last), MAX_QUEUE_NUMBER);
    }

    #[test]
    fn it_gets_forward_like_anybody_and_never_to_the_front() {
        let room = snapshot(1_000, 10);
        let real = room.outlook(105, NOW, Progress { admitted: 10, ..room.progress() });
        assert_eq!(Some(ahead(10, 77)), real.people_ahead);
        for seed in [0, 8, 63, u64::MAX] {
            let seen: Vec<_> = (0..300).map(|serving| ahead(serving, seed)).collect();
            assert!(seen.is_sorted_by(|before, after| before >= after), "{seen:?}");
            assert!((2..10).contains(&seen[299]), "{seed}: {}", seen[299]);
        }
    }

    #[test]
    fn it_is_never_its_turn_and_no_call_counts() {
        let mut room = snapshot(1_000, 500);
        let at_door = evaluate(&room, &waiter(105), 0, &call(NOW));
        assert_eq!((at_door.state, at_door.check_in), (WaiterState::Waiting, None));
        assert_eq!(poll::evaluate(&room, &waiter(105), &call(NOW)).state, WaiterState::YourTurn);
        assert_eq!(at_door.waiter.heard_at, NOW, "the ticket changes as any other");
        for method in [QueueingMethod::Random, QueueingMethod::Passthrough] {
            room.settings.queueing_method = method;
            room.cumulative_hazard = u64::MAX / 2;
            assert_eq!(evaluate(&room, &waiter(105), 0, &call(NOW)).state, WaiterState::Waiting);
        }
        room.settings.queueing_method = QueueingMethod::Reject;
        let rejected = evaluate(&room, &waiter(105), 0, &call(NOW));
        assert_eq!((rejected.state, rejected.next_ms), (WaiterState::Rejected, 0));
    }

    #[test]
    fn far_from_the_front_a_call_comes_to_what_anybodys_does() {
        let room = snapshot(1_000, 10);
        let of_anybody = poll::evaluate(&room, &waiter(900), &call(NOW));
        let endless = evaluate(&room, &waiter(900), 5, &call(NOW));
        assert_eq!(endless, PollOutcome { check_in: None, ..of_anybody });
        let away = call(NOW + 900_000);
        assert_eq!(evaluate(&room, &of_anybody.waiter, 5, &away).state, WaiterState::Expired);
    }
}
