//! In fifo nobody at the door is overtaken by more than the slack.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Act, Claimed, ClaimedAs, Event, Figures, Invariant, Joined, JoinedAs, NetworksJoined, Rules,
    ToldStatus, What,
    check::{Check, Facts, Findings, Seen, Turn, Waits},
};

/// Of the entries of so many ms only the highest position is remembered.
const STEP_MS: u64 = 100;
/// Entries are remembered for so long: nobody who is at the door looks further back.
const KEPT_MS: u64 = 15_000;
/// For so long a visitor's claim is held at most while no seat is free: whoever hears nothing for longer asks, as far as
/// any store knows, no more.
const HELD_MS: u64 = 2_000;

/// Whoever asks at the door all the time enters at most so much later than the first who came after it.
///
/// Somebody is *at the door* from the answer to an ask on, as long as each next ask begins within
/// `attending_ms` of the last answer. An ask is a claim that found no seat or was not served, or a
/// visitor's question that was answered `waiting`. Somebody who is told that it is its turn and does not
/// claim is not asking for a seat; nor is somebody whose question was answered later than questions are held,
/// since the instance was away and no store heard of it.
///
/// A violation: somebody at the door asks in vain, or enters, more than `overtaking_ms` after the entry
/// of a higher position was known, whose call began when it was at the door already. Why: order is what a
/// waiting room promises.
///
/// Not a violation: overtaking somebody who was not at the door; entries under way when it came to
/// the door; overtaking by less than the slack, which is the standby group's; rooms that are not
/// certainly fifo all that time; overtaking somebody whose network has its seats, or may have them: who came when somebody
/// of its network had entered, or was kept out, as long as no claim has said otherwise since; or whose place is over,
/// because it was given up or its session is over, though somebody else has its ticket and asks on; being overtaken before
/// the limits are lowered, or everyone is held or turned away, which takes the seats away that were free; and whoever comes
/// for a seat that was held for it, since it took its turn when it was called; being overtaken and then losing the seat
/// that was left to somebody before both, who came to the door only then; and whoever was at the door when the servers lost
/// a key of the room, in which that may have been. Before a
/// split is over nothing follows for after it, nor the other way round; while it lasts, only claims show on which side
/// somebody asks.
#[derive(Debug, Clone, Default)]
pub(super) struct FifoOrder {
    door: FxHashMap<u64, Attendee>,
    entries: VecDeque<Entry>,
    /// Who came to the door, and has entered since. Each took a seat that may have been left to one behind it.
    late: VecDeque<Late>,
    /// Positions for which a seat is or was held: they took their turn then.
    called: FxHashSet<u64>,
    kept_out: KeptOut,
    /// When a key of the room was lost: nobody knows of what was asked before.
    lost_ms: u64,
    overtaken: u64,
    longest_ms: u64,
}

/// Whom their networks may keep out, since the last reset.
#[derive(Debug, Clone, Default)]
struct KeptOut {
    reset_epoch: u64,
    /// The networks of which somebody has entered.
    entered: FxHashSet<u64>,
    /// The positions of newcomers from those who got no seat, and of those who were kept out.
    positions: FxHashSet<u64>,
}

#[derive(Debug, Clone)]
struct Attendee {
    first: Arc<Event>,
    last_ms: u64,
    /// Entries up to here were looked at.
    looked_ms: u64,
    overtaken: Option<Arc<Event>>,
    is_told: bool,
}

#[derive(Debug, Clone)]
struct Late {
    position: u64,
    /// When it was at the door for the first time, ms.
    came_ms: u64,
    entered_ms: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    step: u64,
    position: u64,
    event: Arc<Event>,
}

// === impl FifoOrder ===

impl Check for FifoOrder {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.kept_out.learn(now);
        if matches!(now.what, What::Visitor(_)) && facts.may_be_apart(now) {
            return;
        }
        if matches!(now.what, What::KeyLost) {
            self.door.clear();
            self.lost_ms = now.at_ms;
        } else if let Some(position) = asking(now) {
            if self.kept_out.positions.contains(&position) {
                return;
            }
            if facts.is_over(position) {
                self.door.remove(&position);
                return;
            }
            if !is_fifo(facts, now) {
                self.door.clear();
                return;
            }
            self.ask(position, now, facts, found);
        } else if let Some((first, last)) = entering(now) {
            if !is_fifo(facts, now) {
                self.door.clear();
                return;
            }
            for position in first..=last {
                self.enter(position, now, facts, found);
            }
            if !self.called.remove(&last) {
                self.remember(last, now);
            }
        } else if let Some(position) = held(now).filter(|_| is_fifo(facts, now))
            && self.called.insert(position)
        {
            self.enter(position, now, facts, found);
            self.remember(position, now);
        } else if let Some(position) = kept_out(now) {
            self.door.remove(&position);
        }
    }

    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {
        self.door.clear();
        self.entries.clear();
        self.late.clear();
    }

    fn measure(&self, figures: &mut Figures, _waits: &mut Waits) {
        figures.overtaken += self.overtaken;
        figures.longest_overtaking_ms = figures.longest_overtaking_ms.max(self.longest_ms);
    }
}

impl FifoOrder {
    fn ask(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if now.began_ms <= self.lost_ms {
            return;
        }
        let attending_ms = facts.bounds.attending_ms;
        let known = self.door.get_mut(&position);
        let known = known.filter(|known| now.began_ms <= known.last_ms + attending_ms);
        let Some(attendee) = known else {
            self.door.insert(position, Attendee::new(now));
            return;
        };
        attendee.look(position, &self.entries, now);
        attendee.last_ms = attendee.last_ms.max(asked_until(now));
        attendee.forgive(position, &mut self.late, &self.entries, now, facts);
        attendee.judge(position, now, facts, found);
    }

    fn enter(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let attending_ms = facts.bounds.attending_ms;
        let attendee = self.door.remove(&position);
        let attendee = attendee.filter(|known| now.began_ms <= known.last_ms + attending_ms);
        let came_ms = attendee.as_ref().map_or(now.began_ms, |attendee| attendee.first.began_ms);
        self.late.push_back(Late { position, came_ms, entered_ms: now.at_ms });
        let Some(mut attendee) = attendee else { return };
        attendee.look(position, &self.entries, now);
        attendee.forgive(position, &mut self.late, &self.entries, now, facts);
        attendee.judge(position, now, facts, found);
        if let Some(by) = attendee.overtaken {
            self.overtaken += 1;
            self.longest_ms = self.longest_ms.max(now.at_ms.saturating_sub(by.at_ms));
        }
    }

    fn remember(&mut self, position: u64, now: &Seen<'_>) {
        let step = now.at_ms / STEP_MS;
        match self.entries.back_mut() {
            Some(last) if last.step == step => {
                if position > last.position {
                    (last.position, last.event) = (position, now.keep());
                }
            }
            _ => self.entries.push_back(Entry { step, position, event: now.keep() }),
        }
        while self
            .entries
            .front()
            .is_some_and(|first| (first.step + 1) * STEP_MS + KEPT_MS < now.at_ms)
        {
            self.entries.pop_front();
        }
        while self.late.front().is_some_and(|first| first.entered_ms + KEPT_MS < now.at_ms) {
            self.late.pop_front();
        }
    }
}

// === impl KeptOut ===

impl KeptOut {
    fn learn(&mut self, event: &Event) {
        if let Some(reset_epoch) = event.reset_epoch().filter(|epoch| *epoch > self.reset_epoch) {
            *self = Self { reset_epoch, ..Self::default() };
        }
        match &event.what {
            What::Joined(Joined { networks: Some(networks), .. }) => self.join(networks),
            What::Claimed(claimed) => self.claim(claimed),
            _ => {}
        }
    }

    fn join(&mut self, NetworksJoined { limits, newcomers }: &NetworksJoined) {
        if limits.seats.is_none() || limits.only_logs {
            return;
        }
        for (network, became) in newcomers {
            match became {
                JoinedAs::Seated(_) => drop(self.entered.insert(*network)),
                JoinedAs::Placed(number) if self.entered.contains(network) => {
                    self.positions.insert(*number);
                }
                _ => {}
            }
        }
    }

    fn claim(&mut self, claimed: &Claimed) {
        let Some(position) = claimed.position else { return };
        if is_kept_out(claimed) {
            self.positions.insert(position);
        } else {
            self.positions.remove(&position);
        }
        let in_vain = matches!(claimed.outcome, ClaimedAs::NoSeat | ClaimedAs::NotServed);
        self.entered.extend(claimed.network.filter(|_| !in_vain).map(|claims| claims.network));
    }
}

// === impl Attendee ===

impl Attendee {
    fn new(now: &Seen<'_>) -> Self {
        let first = now.keep();
        Self {
            first,
            last_ms: asked_until(now),
            looked_ms: now.at_ms,
            overtaken: None,
            is_told: false,
        }
    }

    /// Looks for the first who overtook it and was known to before `now` began.
    fn look(&mut self, position: u64, entries: &VecDeque<Entry>, now: &Seen<'_>) {
        if self.overtaken.is_none() {
            let from =
                entries.partition_point(|entry| (entry.step + 1) * STEP_MS <= self.looked_ms);
            let overtakes = |entry: &&Entry| {
                entry.position > position
                    && entry.event.follows(&self.first)
                    && entry.event.at_ms <= now.began_ms
            };
            let by = entries.range(from..).find(overtakes);
            self.overtaken = by.map(|entry| Arc::clone(&entry.event));
        }
        self.looked_ms = self.looked_ms.max(now.began_ms);
    }

    /// Forgets who overtook it for too long and left it a seat, if somebody before both came late and took that.
    fn forgive(
        &mut self,
        position: u64,
        late: &mut VecDeque<Late>,
        entries: &VecDeque<Entry>,
        now: &Seen<'_>,
        facts: &Facts,
    ) {
        while let Some(by) = self.overtaken.as_ref().filter(|by| is_too_long(by, now, facts)) {
            let took_its_seat = |one: &Late| one.position < position && one.came_ms > by.began_ms;
            let Some(one) = late.iter().position(took_its_seat).and_then(|at| late.remove(at))
            else {
                return;
            };
            (self.overtaken, self.looked_ms) = (None, one.came_ms);
            self.look(position, entries, now);
        }
    }

    fn judge(&mut self, position: u64, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(by) = self.overtaken.as_ref().filter(|_| !self.is_told) else { return };
        if is_too_long(by, now, facts) && !are_seats_taken_away(facts, by) {
            let late_ms = now.began_ms.saturating_sub(by.at_ms);
            let what = format!("position {position} was overtaken {late_ms} ms ago");
            found.add(Invariant::FifoOrder, what, &[&self.first, by, now]);
            self.is_told = true;
        }
    }
}

fn is_too_long(by: &Event, now: &Event, facts: &Facts) -> bool {
    now.began_ms.saturating_sub(by.at_ms) > facts.bounds.overtaking_ms
}

/// Until when whoever was answered by `now` had asked, ms.
fn asked_until(now: &Event) -> u64 {
    now.at_ms.min(now.began_ms + HELD_MS)
}

/// The position that asks for a seat and gets none.
pub(super) fn asking(event: &Event) -> Option<u64> {
    match &event.what {
        What::Claimed(claimed) => {
            let in_vain = matches!(claimed.outcome, ClaimedAs::NoSeat | ClaimedAs::NotServed);
            // Whoever asks for a hold and gets none does not stand at the door; nor does whoever its network keeps out.
            claimed.position.filter(|_| in_vain && !claimed.hold && !is_kept_out(claimed))
        }
        What::Visitor(Act::Asked(asked)) => {
            let turn = asked.status == ToldStatus::YourTurn && asked.claimed;
            asked.position.filter(|_| turn || asked.status == ToldStatus::Waiting)
        }
        _ => None,
    }
}

/// The position that its network keeps out: it does not stand at the door, however often it asks.
pub(super) fn kept_out(event: &Event) -> Option<u64> {
    let What::Claimed(claimed) = &event.what else { return None };
    claimed.position.filter(|_| is_kept_out(claimed))
}

fn is_kept_out(claimed: &Claimed) -> bool {
    claimed.network.is_some_and(|network| network.kept_out)
}

/// The first and last position that enter.
pub(super) fn entering(event: &Event) -> Option<(u64, u64)> {
    match &event.what {
        What::Joined(joined) if joined.entered > 0 => {
            Some((joined.first, joined.first + joined.entered - 1))
        }
        What::Claimed(claimed) if matches!(claimed.outcome, ClaimedAs::Seated(_)) => {
            claimed.position.map(|position| (position, position))
        }
        _ => None,
    }
}

/// The position for which a seat is held.
fn held(event: &Event) -> Option<u64> {
    let What::Claimed(claimed) = &event.what else { return None };
    claimed.position.filter(|_| matches!(claimed.outcome, ClaimedAs::Held { .. }))
}

/// Whether the seats that were left may have been taken away after this entry, before whoever it overtook had to enter: by
/// lower limits, or because nobody enters any more.
fn are_seats_taken_away(facts: &Facts, entry: &Event) -> bool {
    let until_ms = entry.at_ms + facts.bounds.overtaking_ms;
    let is_lowered = |limit: fn(&Rules) -> Option<u64>| {
        let before = facts.highest((entry.began_ms, entry.at_ms), limit).unwrap_or(u64::MAX);
        facts.rules(entry.at_ms, until_ms).any(|rules| limit(rules).is_some_and(|now| now < before))
    };
    let nobody_enters =
        || facts.rules(entry.at_ms, until_ms).any(|rules| rules.held || rules.rejects);
    is_lowered(|rules| rules.ceiling) || is_lowered(|rules| rules.per_minute) || nobody_enters()
}

fn is_fifo(facts: &Facts, now: &Event) -> bool {
    let mut rules = facts.rules(now.began_ms, now.at_ms).peekable();
    rules.peek().is_some() && rules.all(Rules::is_fifo)
}

#[cfg(test)]
mod tests {
    use vestibule_domain::QueueingMethod;

    use super::*;
    use crate::{
        Bounds, NetworkClaimed, NetworkLimitsSeen, PutAs,
        checks::testing::{
            EPOCH, History, asked, claimed, entered, joined_from, put, rules, token,
        },
    };

    fn with(rules: Rules) -> History {
        let bounds = Bounds { overtaking_ms: 4_500, ..Bounds::default() };
        History::with(bounds).does(0, put(Some(1), rules, PutAs::Created))
    }

    fn fifo() -> History {
        with(rules())
    }

    fn no_seat(position: u64) -> What {
        claimed(position, ClaimedAs::NoSeat)
    }

    fn seated(position: u64) -> What {
        claimed(position, ClaimedAs::Seated(token(1, 310)))
    }

    /// Position 5 asks every second, up to and with that of `until` s.
    fn asks(mut history: History, from: u64, until: u64) -> History {
        for second in from..=until {
            history = history.does(second * 1000, no_seat(5));
        }
        history
    }

    #[test]
    fn whom_its_network_may_keep_out_is_at_the_door_when_a_claim_says_so() {
        let overtaken = |at_first| {
            let told = fifo().does(1_000, at_first).does(1_001, asked(ToldStatus::Waiting, 5));
            asks(told.call((1_100, 1_150), "a", seated(6)), 2, 9)
        };
        let joins = |seats, inside| {
            let limits = NetworkLimitsSeen { seats, ..NetworkLimitsSeen::default() };
            joined_from(4, limits, &[(inside, JoinedAs::Seated(4)), (7, JoinedAs::Placed(5))])
        };
        overtaken(joins(None, 7)).breaks(Invariant::FifoOrder);
        overtaken(joins(Some(1), 8)).breaks(Invariant::FifoOrder);
        overtaken(joins(Some(1), 7)).holds();
        let claims = |kept_out| {
            let What::Claimed(claim) = no_seat(5) else { unreachable!() };
            let network = NetworkClaimed { network: 7, seats: Some(1), only_logs: false, kept_out };
            What::Claimed(Claimed { network: Some(network), ..claim })
        };
        overtaken(claims(false)).breaks(Invariant::FifoOrder);
        overtaken(claims(true)).holds();
    }

    #[test]
    fn who_asks_all_the_time_is_not_overtaken_for_long() {
        let history = asks(fifo(), 1, 3).does(3_500, seated(6)).holds();
        asks(history, 4, 7)
            .holds()
            .does(8_000, no_seat(5))
            .holds()
            .does(8_001, no_seat(5))
            .breaks(Invariant::FifoOrder);
    }

    #[test]
    fn a_late_entry_tells_it_too_and_counts() {
        let history = || asks(fifo(), 1, 3).does(3_500, seated(6));
        let late = asks(history(), 4, 7).does(8_100, seated(5));
        late.breaks(Invariant::FifoOrder);
        let figures = asks(history(), 4, 7).does(7_500, seated(5)).holds().finish().figures;
        assert_eq!((figures.overtaken, figures.longest_overtaking_ms), (1, 4_000));
    }

    #[test]
    fn newcomers_must_not_overtake_either() {
        let token = Some(token(1, 310));
        let history = asks(fifo(), 1, 3).does(3_500, entered(90, 2, 1, token));
        asks(history, 4, 9).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn who_was_away_or_came_later_may_be_overtaken() {
        let away = asks(fifo(), 1, 3).does(3_500, seated(6));
        asks(away, 5, 9).holds();
        let later = fifo().call((900, 1_100), "b", seated(6));
        asks(later, 1, 9).holds();
        let lower = asks(fifo(), 1, 3).does(3_500, seated(4));
        asks(lower, 4, 9).holds();
    }

    #[test]
    fn a_held_question_is_one_ask_and_not_claiming_is_none() {
        let mut history = fifo().does(1_000, no_seat(5)).does(1_500, seated(6));
        for start in [1_100, 3_200, 5_300] {
            let waits = asked(ToldStatus::Waiting, 5);
            history = history.call((start, start + 2_000), "ann", waits);
        }
        history.does(7_301, no_seat(5)).breaks(Invariant::FifoOrder);
        let mut history = fifo().does(1_000, no_seat(5)).does(1_500, seated(6));
        for second in 2..9 {
            history = history.does(second * 1000, asked(ToldStatus::YourTurn, 5));
        }
        history.holds();
    }

    #[test]
    fn what_an_instance_did_not_pass_on_was_not_asked() {
        let answered_at = |answered_ms: u64| {
            let history = fifo().does(900, no_seat(5)).does(3_000, seated(6));
            let question = asked(ToldStatus::Waiting, 5);
            let history = history.call((1_000, answered_ms), "ann", question);
            asks(history, 5, 9)
        };
        answered_at(3_800).holds();
        answered_at(2_900).holds();
        let heard_again = |at_ms: u64| {
            let history = fifo().does(900, no_seat(5)).does(3_000, seated(6));
            let question = asked(ToldStatus::Waiting, 5);
            let history = history.call((1_000, 4_100), "ann", question).does(at_ms, no_seat(5));
            asks(history, 5, 9)
        };
        heard_again(4_200).breaks(Invariant::FifoOrder);
        heard_again(4_201).holds();
    }

    #[test]
    fn a_seat_that_was_left_may_go_to_somebody_before_who_comes_late() {
        let overtaken = || asks(fifo(), 1, 3).does(3_500, seated(6));
        asks(asks(overtaken(), 4, 4).does(4_500, seated(3)), 5, 9).holds();
        let twice = asks(overtaken(), 4, 4).does(4_500, seated(3)).does(4_600, seated(7));
        asks(twice, 5, 12).breaks(Invariant::FifoOrder);
        let waited = fifo().does(900, no_seat(3));
        let waited = asks(waited, 1, 1).does(1_900, no_seat(3));
        let waited = asks(waited, 2, 2).does(2_900, no_seat(3)).does(3_000, no_seat(5));
        let waited = waited.does(3_500, seated(6)).does(3_600, seated(3));
        asks(waited, 4, 9).breaks(Invariant::FifoOrder);
        asks(overtaken().does(3_700, seated(9)), 4, 9).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn with_a_key_the_servers_may_lose_who_is_at_the_door() {
        let lost = |history: History, at_ms| history.does(at_ms, What::KeyLost);
        asks(lost(asks(fifo(), 1, 3), 3_400).does(3_500, seated(6)), 4, 9).holds();
        let answered = lost(asks(fifo(), 1, 2), 2_500).call((2_200, 3_200), "a", no_seat(5));
        asks(answered.does(3_500, seated(6)), 4, 9).holds();
        let asked_since = asks(lost(asks(fifo(), 1, 2), 2_500), 3, 3).does(3_500, seated(6));
        asks(asked_since, 4, 9).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn whose_place_is_over_is_overtaken_by_nobody() {
        let waits = || asked(ToldStatus::Waiting, 5);
        let shared = |over: What| {
            let history = fifo().does(100, seated(4)).does(200, seated(5)).does(900, over);
            let mut history = history.does(1_000, waits()).does(1_500, seated(6));
            for second in 2..9 {
                history = history.does(second * 1000, waits());
            }
            history
        };
        let given_up =
            |reset_epoch| What::GivenUp { reset_epoch, places: vec![], positions: vec![5, 9] };
        shared(claimed(5, ClaimedAs::SessionEnded)).holds();
        shared(claimed(4, ClaimedAs::SessionEnded)).breaks(Invariant::FifoOrder);
        shared(given_up(EPOCH)).holds();
        shared(given_up(EPOCH - 1)).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn who_was_called_took_its_turn_then() {
        let called = |at_ms: u64| claimed(6, ClaimedAs::Held { until_ms: at_ms + 30_000 });
        let before = fifo().does(1_000, called(1_000)).does(1_500, called(1_000));
        asks(before, 2, 3).does(3_500, seated(6)).holds();
        let before = fifo().does(1_000, called(1_000));
        asks(asks(before, 2, 3).does(3_500, seated(6)), 4, 12).holds();
        let later = asks(fifo(), 1, 3).does(3_500, called(3_500));
        asks(later, 4, 9).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn seats_may_be_taken_away() {
        let limited = |ceiling| Rules { ceiling: Some(ceiling), ..rules() };
        let overtaken = |ceiling, at_ms, then| {
            let history = asks(with(limited(ceiling)), 1, 3).does(3_500, seated(6));
            let lower = put(Some(2), limited(then), PutAs::Changed);
            asks(history.call((at_ms, at_ms + 10), "c", lower), 4, 12)
        };
        overtaken(15, 3_600, 1).holds();
        overtaken(15, 9_000, 1).breaks(Invariant::FifoOrder);
        overtaken(15, 3_600, 20).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn nobody_may_enter_any_more() {
        let overtaken = |at_ms, rules| {
            let history = asks(fifo(), 1, 3).does(3_500, seated(6));
            asks(history.call((at_ms, at_ms + 10), "c", put(Some(2), rules, PutAs::Changed)), 4, 12)
        };
        let held = || Rules { held: true, ..rules() };
        overtaken(3_600, held()).holds();
        overtaken(3_600, Rules { rejects: true, ..rules() }).holds();
        overtaken(3_600, rules()).breaks(Invariant::FifoOrder);
        overtaken(9_000, held()).breaks(Invariant::FifoOrder);
    }

    #[test]
    fn only_fifo_has_an_order() {
        let random = Rules { method: QueueingMethod::Random, ..rules() };
        asks(asks(with(random), 1, 3).does(3_500, seated(6)), 4, 9).holds();
        asks(asks(History::new(), 1, 3).does(3_500, seated(6)), 4, 9).holds();
    }
}
