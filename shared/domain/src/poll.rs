//! Evaluates a call of a waiting visitor: whether it is its turn, whether the call counts as a
//! check-in, and when to poll again. The position and the wait that the visitor is given are in
//! [`crate::snapshot::Outlook`].

use crate::{
    MAX_QUEUE_NUMBER, RoomSnapshot, Waiter, check_in,
    presence::{Band, Spot},
};

/// The state of a waiting visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaiterState {
    /// In line.
    Waiting,
    /// May enter, by claiming.
    YourTurn,
    /// The room turns everyone away; the place is kept.
    Rejected,
    /// The visitor was away for longer than the room keeps a place.
    Expired,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PollOutcome {
    /// The visitor's state.
    pub state: WaiterState,
    /// The content of its ticket from now on.
    pub waiter: Waiter,
    /// Where and for how long the call counts the visitor as there; `None`: it does not.
    pub check_in: Option<(Spot, Band)>,
    /// After how long to poll again, in ms; 0: the visitor should not poll.
    pub next_ms: u32,
}

/// The circumstances of a call that are neither in the room's snapshot nor in the visitor's ticket.
#[derive(Debug, Clone, Copy)]
pub struct PollContext {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The visitor's secret bound: fixed by its request id, exponentially distributed, of mean 1.
    pub win_threshold: f64,
    /// Where its interval lies between the shortest and the longest: see [`check_in::spread`].
    pub spread: f64,
    /// Until when the visitor could not check in, ms, in addition to
    /// [`RoomSnapshot::excused_until_ms`].
    pub excused_until_ms: u64,
}

/// The interval of a visitor whose turn it is and who has no seat yet, ms.
pub const YOUR_TURN_INTERVAL_MS: u32 = check_in::SHORTEST_MS;

/// Evaluates a call of `waiter` in `room`. Every call counts it as there, however often it calls: that only
/// says the same again.
#[must_use]
pub fn evaluate(room: &RoomSnapshot, waiter: &Waiter, call: &PollContext) -> PollOutcome {
    if room.rejects() {
        return PollOutcome::silent(WaiterState::Rejected, *waiter);
    }
    let mut waiter = *waiter;
    if is_by_chance(room) && is_chance_due(&waiter, call) {
        let overdue_ms = call.now_ms.saturating_sub(waiter.due_at());
        waiter.accrued_hazard =
            waiter.accrued_hazard.checked_in(room.cumulative_hazard, overdue_ms);
    }
    let state = waiter_state(room, &waiter, call);
    if state == WaiterState::Expired {
        return PollOutcome::silent(state, waiter);
    }
    let interval_ms = interval_ms(room, &waiter, state, call);
    let next_ms = note(room, &mut waiter, interval_ms, call);
    let check_in = Some((room.spot(waiter.place.number), Band::for_interval(next_ms)));
    PollOutcome { state, waiter, check_in, next_ms }
}

/// Whether `waiter` may enter according to the snapshot. The claim decides finally.
#[must_use]
pub fn may_enter(room: &RoomSnapshot, waiter: &Waiter, win_threshold: f64) -> bool {
    if room.is_open() {
        return true;
    }
    let served = || room.position(waiter.place.number).is_some_and(|p| p <= room.serving());
    !room.is_held() && !room.rejects() && (served() || has_won(room, waiter, win_threshold))
}

/// Whether `waiter` may be told by a claim alone whether it may enter: it may by the snapshot, or it came after that, and
/// may have been served since.
#[must_use]
pub fn may_claim(room: &RoomSnapshot, waiter: &Waiter, win_threshold: f64) -> bool {
    let number = waiter.place.number;
    let is_new = number > room.queue_counter && !room.awaits_draw(number);
    may_enter(room, waiter, win_threshold) || is_new && !room.is_held() && !room.rejects()
}

/// Whether `waiter` has won in a random room.
#[must_use]
pub fn has_won(room: &RoomSnapshot, waiter: &Waiter, win_threshold: f64) -> bool {
    room.settings.queueing_method.rules().has_won(waiter.accrued_hazard, win_threshold)
}

/// The order in which visitors get seats that become free, lowest first: served visitors by
/// position, then winners of a random room, the earliest first.
#[must_use]
pub fn rank(room: &RoomSnapshot, waiter: &Waiter, win_threshold: f64) -> u64 {
    let position = room.position(waiter.place.number).unwrap_or(MAX_QUEUE_NUMBER);
    if position <= room.serving() || !has_won(room, waiter, win_threshold) {
        return position;
    }
    // The credit beyond the threshold has grown since the visitor won, so more of it means an
    // earlier win.
    MAX_QUEUE_NUMBER + u64::from(u32::MAX) - waiter.accrued_hazard.beyond(win_threshold)
}

fn waiter_state(room: &RoomSnapshot, waiter: &Waiter, call: &PollContext) -> WaiterState {
    if may_enter(room, waiter, call.win_threshold) {
        WaiterState::YourTurn
    } else if is_away_too_long(room, waiter, call) {
        WaiterState::Expired
    } else {
        WaiterState::Waiting
    }
}

/// Notes in `waiter` that it was heard, if that is due. Returns after how long it should call again, ms:
/// `interval_ms`, or what is left of the last one where asking early gives nobody another chance.
pub(crate) fn note(
    room: &RoomSnapshot,
    waiter: &mut Waiter,
    interval_ms: u32,
    call: &PollContext,
) -> u32 {
    let by_chance = is_by_chance(room);
    if by_chance && !is_chance_due(waiter, call) {
        let left = waiter.due_at().saturating_sub(call.now_ms);
        return u32::try_from(left).unwrap_or(waiter.interval_ms);
    }
    if by_chance || waiter.must_note(call.now_ms, interval_ms, grace_ms(room)) {
        (waiter.heard_at, waiter.interval_ms) = (call.now_ms, interval_ms);
    }
    interval_ms
}

fn is_by_chance(room: &RoomSnapshot) -> bool {
    !room.settings.queueing_method.rules().is_ordered()
}

fn is_chance_due(waiter: &Waiter, call: &PollContext) -> bool {
    waiter.heard_at == 0 || check_in::is_due(call.now_ms, waiter.heard_at, waiter.interval_ms)
}

/// Whether the visitor was away for longer than the grace time. Time in which nobody could check in
/// does not count.
pub(crate) fn is_away_too_long(room: &RoomSnapshot, waiter: &Waiter, call: &PollContext) -> bool {
    let excused = room.excused_until_ms.max(call.excused_until_ms);
    waiter.is_away_too_long(call.now_ms, excused, grace_ms(room))
}

/// For how long the room keeps the place of somebody who does not check in, ms.
fn grace_ms(room: &RoomSnapshot) -> u64 {
    /// Longer than any room lasts.
    const EVER_MS: u64 = 1 << 52;
    room.settings.presence_grace_seconds.map_or(EVER_MS, |seconds| seconds * 1000)
}

/// When it should call again.
fn interval_ms(
    room: &RoomSnapshot,
    waiter: &Waiter,
    state: WaiterState,
    call: &PollContext,
) -> u32 {
    if state == WaiterState::YourTurn {
        return YOUR_TURN_INTERVAL_MS;
    }
    let position = room.position(waiter.place.number);
    let conditions = room.line_conditions(position, call.now_ms, room.progress());
    check_in::interval_ms(room.settings.queueing_method, &conditions, call.spread)
}

// === impl PollOutcome ===

impl PollOutcome {
    /// It does not count as there, and should not call again by itself.
    pub(crate) fn silent(state: WaiterState, waiter: Waiter) -> Self {
        Self { state, waiter, check_in: None, next_ms: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Place, QueueingMethod,
        accrued_hazard::{AccruedHazard, hazard_increase_for},
        snapshot::test_support::snapshot,
    };

    const NOW: u64 = 1_800_000_000_000;

    fn waiter(number: u64) -> Waiter {
        let place = Place { number, entered_at: 1_800_000_000, region: 1 };
        Waiter { heard_at: NOW, interval_ms: 10_000, ..Waiter::new(place, 0) }
    }

    fn call(now_ms: u64) -> PollContext {
        PollContext { now_ms, win_threshold: 1.0, spread: 0.5, excused_until_ms: 0 }
    }

    #[test]
    fn a_check_in_sets_the_own_bit_and_seldom_changes_the_ticket() {
        let room = snapshot(100, 10);
        let at = |seconds: u64| evaluate(&room, &waiter(50), &call(NOW + seconds * 1000));
        let spot = (Spot::Position(50), Band::for_interval(5_000));
        for seconds in [0, 3, 54] {
            let outcome = at(seconds);
            assert_eq!((outcome.check_in, outcome.waiter), (Some(spot), waiter(50)), "{seconds}");
            assert_eq!(outcome.next_ms, 5_000, "the pace is unknown");
        }
        let noted = at(56);
        assert_eq!(
            noted.waiter.heard_at,
            NOW + 56_000,
            "the next one may come after a fifth of 300 s"
        );
        let first = Waiter::new(waiter(50).place, 0);
        assert_eq!(evaluate(&room, &first, &call(NOW)).waiter.heard_at, NOW);
    }

    #[test]
    fn whoever_came_after_the_snapshot_may_claim() {
        let room = snapshot(100, 10);
        let may = |room: &RoomSnapshot, number| may_claim(room, &waiter(number), 1.0);
        assert!(may(&room, 10) && !may(&room, 11) && !may(&room, 100));
        assert!(may(&room, 101), "it may have been served as it joined");
        assert!(!may_enter(&room, &waiter(101), 1.0));
        let mut drawing = room.clone();
        drawing.pool_first = 101;
        assert!(!may(&drawing, 101), "chance decides about it");
        let mut held = room;
        held.settings.queue_all = true;
        assert!(!may(&held, 101));
    }

    #[test]
    fn in_a_random_room_a_visitor_wins_at_a_check_in_only() {
        let mut room = snapshot(100, 10);
        room.settings.queueing_method = QueueingMethod::Random;
        room.cumulative_hazard = hazard_increase_for(0.7);
        let early = evaluate(&room, &waiter(50), &call(NOW + 3_000));
        assert_eq!((early.state, early.waiter.accrued_hazard.credit), (WaiterState::Waiting, 0));
        let due = evaluate(&room, &waiter(50), &call(NOW + 9_000));
        assert_eq!(due.state, WaiterState::YourTurn, "-ln(0.3) is above a win_threshold of 1");
        assert_eq!(due.check_in.unwrap().0, Spot::Position(50));
        assert_eq!(early.next_ms, 7_000, "asking early gives no other chance");
        let unlucky = PollContext { win_threshold: 1.3, ..call(NOW + 9_000) };
        assert_eq!(evaluate(&room, &waiter(50), &unlucky).state, WaiterState::Waiting);
        room.settings.queue_all = true;
        assert_eq!(evaluate(&room, &waiter(50), &call(NOW + 9_000)).state, WaiterState::Waiting);
    }

    #[test]
    fn in_a_huge_random_room_a_visitor_who_polls_on_time_is_credited() {
        let mut room = snapshot(1_000_000, 10);
        room.settings.queueing_method = QueueingMethod::Random;
        room.figures.waiting = 500_000;
        let given = evaluate(&room, &waiter(50), &call(NOW + 9_000)).waiter;
        assert!(given.interval_ms > 250_000, "polls are scarce: {}", given.interval_ms);
        room.cumulative_hazard = hazard_increase_for(0.7);
        let on_time = call(given.due_at());
        assert_eq!(evaluate(&room, &given, &on_time).state, WaiterState::YourTurn);
        let away = call(given.due_at() + crate::accrued_hazard::AWAY_MS + 1);
        assert_eq!(evaluate(&room, &given, &away).state, WaiterState::Waiting, "it had gone");
    }

    #[test]
    fn served_positions_rank_first_and_then_the_earliest_winners() {
        let mut room = snapshot(100, 10);
        assert_eq!(rank(&room, &waiter(7), 1.0), 7);
        room.settings.queueing_method = QueueingMethod::Random;
        let winner = |credit| Waiter {
            accrued_hazard: AccruedHazard { credit, room_hazard: 0 },
            ..waiter(50)
        };
        let ranks =
            [(9, 0), (10, 0), (50, 40_000_000), (50, 30_000_000)].map(|(number, credit)| {
                rank(&room, &Waiter { place: waiter(number).place, ..winner(credit) }, 1.0)
            });
        assert!(ranks.is_sorted(), "{ranks:?}");
    }

    #[test]
    fn a_place_is_kept_for_the_grace_time_and_no_longer() {
        let room = snapshot(100, 10);
        let at = |seconds: u64| evaluate(&room, &waiter(50), &call(NOW + seconds * 1000)).state;
        assert_eq!(at(360), WaiterState::Waiting, "300 s of grace, and up to a fifth more");
        assert_eq!(at(361), WaiterState::Expired);
        let served = evaluate(&room, &waiter(9), &call(NOW + 900_000));
        assert_eq!(served.state, WaiterState::YourTurn, "its time to claim is another matter");
        let mut forever = room.clone();
        forever.settings.presence_grace_seconds = None;
        let later = call(NOW + 86_400_000);
        assert_eq!(evaluate(&forever, &waiter(50), &later).state, WaiterState::Waiting);
    }

    #[test]
    fn nobody_is_blamed_for_a_time_without_service() {
        let mut room = snapshot(100, 10);
        let late = call(NOW + 900_000);
        room.excused_until_ms = NOW + 700_000;
        assert_eq!(evaluate(&room, &waiter(50), &late).state, WaiterState::Waiting);
        room.excused_until_ms = 0;
        let excused = PollContext { excused_until_ms: NOW + 700_000, ..late };
        assert_eq!(evaluate(&room, &waiter(50), &excused).state, WaiterState::Waiting);
        assert_eq!(evaluate(&room, &waiter(50), &late).state, WaiterState::Expired);
    }

    #[test]
    fn a_room_that_turns_everyone_away_keeps_their_places() {
        let mut room = snapshot(100, 10);
        room.settings.queueing_method = QueueingMethod::Reject;
        let rejected = evaluate(&room, &waiter(50), &call(NOW + 900_000));
        assert_eq!((rejected.state, rejected.next_ms), (WaiterState::Rejected, 0));
        assert_eq!(rejected.check_in, None);
        assert_eq!(rejected.waiter, waiter(50));
    }

    #[test]
    fn a_visitor_of_an_undrawn_pool_waits_whatever_the_counter_says() {
        let mut room = snapshot(100, 90);
        room.pool_first = 40;
        let pooled = evaluate(&room, &waiter(50), &call(NOW + 9_000));
        assert_eq!(pooled.state, WaiterState::Waiting);
        assert_eq!(pooled.check_in.unwrap().0, Spot::Pool { draw: 0, number: 50 });
    }
}
