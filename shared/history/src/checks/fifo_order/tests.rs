//! What counts as overtaken, and what does not.

use vestibule_domain::QueueingMethod;

use super::*;
use crate::{
    Bounds, Invariant, JoinedAs, NetworkClaimed, NetworkLimitsSeen, PutAs,
    checks::testing::{EPOCH, History, asked, claimed, entered, joined_from, put, rules, token},
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
fn nobody_is_kept_out_after_a_reset_by_what_was_before() {
    let seats = NetworkLimitsSeen { seats: Some(1), ..NetworkLimitsSeen::default() };
    let newcomers = [(7, JoinedAs::Seated(4)), (7, JoinedAs::Placed(5))];
    let overtaken = |reset_epoch| {
        let What::Claimed(entry) = seated(6) else { unreachable!() };
        let entry = What::Claimed(Claimed { reset_epoch, id_epoch: reset_epoch, ..entry });
        let history = fifo().does(1_000, joined_from(4, seats, &newcomers));
        let history = history.does(2_000, What::Reset { reset_epoch });
        let mut history = history.does(3_000, asked(ToldStatus::Waiting, 5)).does(3_100, entry);
        for second in 4..=9 {
            history = history.does(second * 1000, asked(ToldStatus::Waiting, 5));
        }
        history
    };
    overtaken(EPOCH).holds();
    overtaken(EPOCH + 1).breaks(Invariant::FifoOrder);
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
