//! The door: of those who keep asking, the lowest enter first, whichever instance they ask.

use vestibule_domain::{MAX_QUEUE_NUMBER, QueueingMethod, RoomSettings, roll::RoomCounters};
use vestibule_store::{
    Claim, ClaimOutcome, ClaimReplies, Departure, EndedAs, GivenUp, JoinMode, SessionKind,
};

use crate::world::{World, patient, token};

crate::on_every_server!(
    whoever_was_just_served_waits_for_those_before_it,
    whoever_was_just_served_enters_once_everyone_before_it_has_come,
    aws_style_visitors_are_given_their_own_time,
    who_becomes_ripe_together_with_those_before_it_does_not_pass_them,
    a_seat_is_not_left_free_by_those_who_are_not_ripe,
    nobody_with_a_browser_passes_an_aws_style_visitor_who_asks,
    nobody_with_a_browser_passes_an_aws_style_visitor_by_coming_between_two_of_its_questions,
    an_aws_style_visitor_who_was_passed_waits_no_longer,
    an_aws_style_visitor_waits_no_longer_than_a_browser_behind_it,
    an_aws_style_visitor_passes_the_silent_no_later_than_a_browser_behind_it,
    an_aws_style_visitor_waits_for_nobody_where_there_are_seats_for_all,
    nobody_waits_where_nobody_else_does,
    a_free_seat_is_for_the_lowest_of_those_who_ask,
    whoever_does_not_ask_any_more_holds_no_seat_up,
    a_request_that_is_held_asks_all_the_time,
    a_silent_one_holds_a_seat_up_for_a_quarter_second_and_only_once,
    a_seat_of_a_silent_one_goes_to_the_lowest_who_surely_asks,
    a_seat_waits_for_somebody_who_comes_back_as_long_as_it_keeps_asking,
    a_seat_waits_for_those_who_have_just_asked,
    where_few_are_called_a_seat_waits_for_whose_instance_is_cut_off,
    a_crowd_that_has_gone_is_sent_off_a_few_at_a_time,
    a_seat_that_has_just_come_free_is_not_given_away_with_another,
    a_seat_that_has_been_free_for_long_is_the_first_to_be_taken,
    a_seat_that_has_been_free_for_long_goes_past_nobody_who_asked_just_now,
    a_seat_that_has_been_free_for_long_waits_for_nobody_whose_instance_is_away,
    a_seat_that_was_taken_meanwhile_was_not_free_all_the_time,
    a_seat_that_nobody_wants_waits_for_nobody,
    one_place_that_claims_twice_at_once_enters_once,
    winners_stand_behind_those_who_were_served,
    everybody_comes_to_the_door_once,
    whoever_gives_up_has_left_the_door,
    nothing_is_kept_of_those_who_ask_no_more,
);

/// How many stand in line, behind the one who is inside.
const LINE: u64 = 20;

/// A room with one seat, which is taken, and a line, of which so many have been served for long.
async fn open(world: &World, served: i64) {
    world.open(patient(1)).await;
    world.join(1 + LINE, JoinMode::Enter).await;
    world.store.increment(&world.room, served).await.unwrap();
    world.ripens();
}

/// These people ask together, and each request is held for so long.
async fn ask_for(world: &World, numbers: &[u64], held_ms: u64) -> ClaimReplies {
    let mut claims = Vec::new();
    for number in numbers {
        claims.push(Claim { held_ms, ..world.claim_now(*number).await });
    }
    world.store.claim(&world.room, "k", &claims).await.unwrap()
}

/// Those of `numbers` who ask together and enter.
async fn ask(world: &World, numbers: &[u64]) -> Vec<u64> {
    let outcomes = ask_for(world, numbers, 0).await.outcomes;
    let entered = |outcome: &ClaimOutcome| match outcome {
        ClaimOutcome::Entered(_) => true,
        ClaimOutcome::NoSeat => false,
        other => panic!("{other:?}"),
    };
    numbers.iter().zip(&outcomes).filter(|(_, outcome)| entered(outcome)).map(|(n, _)| *n).collect()
}

async fn leaves(world: &World, number: u64) {
    let departure = Departure {
        number,
        ended_as: EndedAs::Completed,
        seat: vestibule_domain::SeatEnds::AtOnce,
    };
    let epoch = world.reset_epoch().await;
    assert_eq!(world.store.leave(&world.room, epoch, &[departure]).await.unwrap(), [true]);
}

async fn gives_up(world: &World, number: u64) {
    let place = GivenUp { number, position: Some(number), network: None };
    world.store.give_up(&world.room, (world.reset_epoch().await, 0), &[place]).await.unwrap();
}

/// The leader has promised seats to so many that whoever is passed finds another one soon.
async fn many_are_called(world: &World) {
    let mut promise = redis::cmd("HSET");
    promise.arg("vestibule:room:{sale}:line").arg("promised").arg(50);
    world.server.ask::<u64>(&promise).await;
}

/// The leader has learnt within what time clients of the AWS-style calls ask once they are served.
async fn aws_style_visitors_ask_every(world: &World, ms: u64) {
    let mut period = redis::cmd("HSET");
    period.arg("vestibule:room:{sale}:line").arg("unknown_period_ms").arg(ms);
    world.server.ask::<u64>(&period).await;
}

async fn counters(world: &World) -> RoomCounters {
    world.try_begin(1).await.unwrap().counters
}

const NOBODY: [u64; 0] = [];

async fn whoever_was_just_served_waits_for_those_before_it(world: World) {
    open(&world, 0).await;
    leaves(&world, 1).await;
    world.clock.advance_ms(1);
    let served_at = world.clock.now_ms();
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 3, "one seat, and one stands by");
    let refused = ask_for(&world, &[3], 0).await;
    assert_eq!(refused.outcomes, [ClaimOutcome::NoSeat]);
    // Moves of the counter are known to 100 ms.
    let ripe_at = served_at.next_multiple_of(100) + 1_250;
    assert_eq!(refused.free_at_ms, Some(ripe_at));
    world.at(ripe_at - 1);
    assert_eq!(ask(&world, &[3]).await, NOBODY);
    world.at(ripe_at);
    assert_eq!(ask(&world, &[3, 2]).await, [2]);
}

async fn whoever_was_just_served_enters_once_everyone_before_it_has_come(world: World) {
    open(&world, 0).await;
    world.put(patient(4)).await;
    world.store.increment(&world.room, 7).await.unwrap();
    assert_eq!(ask(&world, &[4, 7]).await, NOBODY, "2 and 3 may come");
    assert_eq!(ask(&world, &[3]).await, NOBODY, "2 may come");
    gives_up(&world, 2).await;
    assert_eq!(ask(&world, &[7, 3]).await, [3], "7 waits for 5 and 6");
    assert_eq!(ask(&world, &[5]).await, [5], "4 is at the door, and there is a seat for it");
    assert_eq!(ask(&world, &[6]).await, NOBODY, "the last seat is for 4");
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[6, 7]).await, [6], "all of them are here");
    assert_eq!(ask(&world, &[4]).await, [4]);
}

async fn aws_style_visitors_are_given_their_own_time(world: World) {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(4, JoinMode::Queue).await;
    leaves(&world, 1).await;
    // A leader without a memory says that they ask every 2 s.
    world.tick(1).await;
    assert_eq!(world.snapshot().await.serving_counter, 3, "one seat, and one stands by");
    let ripe_at = world.clock.now_ms() + 2_000;
    let claim = || async {
        let visitor = world.claim_now(3).await;
        Claim { kind: SessionKind::AwsStyle, ..visitor }
    };
    let refused = world.store.claim(&world.room, "k", &[claim().await]).await.unwrap();
    assert_eq!(refused.free_at_ms, Some(ripe_at));
    world.at(ripe_at - 1);
    assert_eq!(world.claims(claim().await).await, ClaimOutcome::NoSeat);
    world.at(ripe_at);
    token(world.claims(claim().await).await);
}

/// The seat has come free long before, and each asks through an instance of its own.
async fn who_becomes_ripe_together_with_those_before_it_does_not_pass_them(world: World) {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(4, JoinMode::Queue).await;
    leaves(&world, 1).await;
    // A leader without a memory says that they ask every 2 s.
    world.tick(1).await;
    world.store.increment(&world.room, 1).await.unwrap();
    assert_eq!(world.snapshot().await.serving_counter, 4);
    let ripe_at = world.clock.now_ms() + 2_000;
    let asks = async |number| {
        let visitor = world.claim_now(number).await;
        let claim = Claim { kind: SessionKind::AwsStyle, held_ms: 10_000, ..visitor };
        world.claims(claim).await
    };
    // 2 has not come.
    for number in [3, 4] {
        assert_eq!(asks(number).await, ClaimOutcome::NoSeat);
    }
    world.at(ripe_at);
    assert_eq!(asks(4).await, ClaimOutcome::NoSeat, "3 asks, and is ripe now");
    world.at(ripe_at + 249);
    assert_eq!(asks(4).await, ClaimOutcome::NoSeat);
    assert!(matches!(asks(3).await, ClaimOutcome::Entered(_)));
}

async fn a_seat_is_not_left_free_by_those_who_are_not_ripe(world: World) {
    open(&world, 0).await;
    world.put(patient(3)).await;
    world.clock.advance_ms(1);
    let ripe_at = world.clock.now_ms().next_multiple_of(100) + 1_250;
    world.store.increment(&world.room, 5).await.unwrap();
    // Two instances hold their requests, and 2 does not come.
    assert_eq!(ask_for(&world, &[3, 5], 2_000).await.outcomes, [const { ClaimOutcome::NoSeat }; 2]);
    assert_eq!(ask_for(&world, &[4], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    world.at(ripe_at);
    assert_eq!(ask(&world, &[3, 5]).await, [3], "4 could not take its seat before");
    assert_eq!(ask(&world, &[4]).await, [4]);
}

async fn nobody_with_a_browser_passes_an_aws_style_visitor_who_asks(world: World) {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(2, JoinMode::Queue).await;
    world.join(2, JoinMode::Enter).await;
    leaves(&world, 1).await;
    let ripe_at = world.clock.now_ms().next_multiple_of(100) + 1_250;
    world.tick(1).await;
    world.store.increment(&world.room, 1).await.unwrap();
    assert_eq!(world.snapshot().await.serving_counter, 4, "one seat; and 2 does not come");
    assert_eq!(ask_for(&world, &[4], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    let asks = || async {
        let visitor = world.claim_now(3).await;
        let claim = Claim { kind: SessionKind::AwsStyle, held_ms: 2_000, ..visitor };
        world.store.claim(&world.room, "k", &[claim]).await.unwrap()
    };
    let refused = asks().await;
    assert_eq!(refused.free_at_ms, Some(ripe_at + 150), "before it is ripe itself");
    world.at(ripe_at + 149);
    assert_eq!(asks().await.outcomes, [ClaimOutcome::NoSeat]);
    assert_eq!(ask(&world, &[4]).await, NOBODY);
    world.at(ripe_at + 150);
    assert!(matches!(asks().await.outcomes[..], [ClaimOutcome::Entered(_)]));
}

/// 3 asks all the time for a seat that has been free for long, and waits only for 2, which does not come.
async fn nobody_with_a_browser_passes_an_aws_style_visitor_by_coming_between_two_of_its_questions(
    world: World,
) {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(2, JoinMode::Queue).await;
    world.join(1, JoinMode::Enter).await;
    aws_style_visitors_ask_every(&world, 5_000).await;
    leaves(&world, 1).await;
    world.store.increment(&world.room, 3).await.unwrap();
    let asks = || async {
        let visitor = world.claim_now(3).await;
        let claim = Claim { kind: SessionKind::AwsStyle, held_ms: 10_000, ..visitor };
        world.store.claim(&world.room, "k", &[claim]).await.unwrap().outcomes
    };
    assert_eq!(asks().await, [ClaimOutcome::NoSeat]);
    world.clock.advance_ms(2_500);
    assert_eq!(asks().await, [ClaimOutcome::NoSeat], "2 may come");
    world.clock.advance_ms(500);
    assert_eq!(ask_for(&world, &[4], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    world.clock.advance_ms(500);
    assert_eq!(ask_for(&world, &[4], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    assert!(matches!(asks().await[..], [ClaimOutcome::Entered(_)]));
}

/// Two seats are free, and 2 to 7 were served just now: 7 has a browser, and the others use the AWS-style calls, within
/// three seconds. Returns when browsers are ripe, ms.
async fn a_browser_behind_others(world: &World) -> u64 {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(5, JoinMode::Queue).await;
    world.join(1, JoinMode::Enter).await;
    aws_style_visitors_ask_every(world, 3_000).await;
    world.put(patient(3)).await;
    world.clock.advance_ms(1);
    let ripe_at = world.clock.now_ms().next_multiple_of(100) + 1_250;
    world.store.increment(&world.room, 6).await.unwrap();
    ripe_at
}

/// Those before it may still come, and want more seats than there are. Somebody who is behind it waits for none of them.
async fn an_aws_style_visitor_who_was_passed_waits_no_longer(world: World) {
    let ripe_at = a_browser_behind_others(&world).await;
    let asks = async || {
        let visitor = world.claim_now(6).await;
        let claim = Claim { kind: SessionKind::AwsStyle, held_ms: 10_000, ..visitor };
        world.claims(claim).await
    };
    world.at(ripe_at);
    assert_eq!(asks().await, ClaimOutcome::NoSeat, "four may come");
    assert_eq!(ask(&world, &[7]).await, [7]);
    token(asks().await);
}

/// There is a seat for each of the two, and somebody before them may come for one of these.
async fn an_aws_style_visitor_waits_no_longer_than_a_browser_behind_it(world: World) {
    let ripe_at = a_browser_behind_others(&world).await;
    let asks = async |browser: Option<u64>| {
        let visitor = world.claim_now(6).await;
        let mut claims = vec![Claim { kind: SessionKind::AwsStyle, held_ms: 2_000, ..visitor }];
        if let Some(number) = browser {
            claims.push(Claim { held_ms: 2_000, ..world.claim_now(number).await });
        }
        world.store.claim(&world.room, "k", &claims).await.unwrap()
    };
    // The browser has no right to a seat before it asks.
    assert!(asks(None).await.free_at_ms > Some(ripe_at));
    let refused = asks(Some(7)).await;
    assert_eq!(refused.outcomes, [const { ClaimOutcome::NoSeat }; 2]);
    assert_eq!(refused.free_at_ms, Some(ripe_at));
    world.at(ripe_at - 1);
    assert_eq!(asks(None).await.free_at_ms, Some(ripe_at), "the browser asks elsewhere");
    world.at(ripe_at);
    let entered = asks(Some(7)).await.outcomes;
    assert!(matches!(entered[..], [ClaimOutcome::Entered(_), ClaimOutcome::Entered(_)]));
}

/// The one free seat is for 2, which does not come, so that it goes past it to the next who is ripe.
async fn an_aws_style_visitor_passes_the_silent_no_later_than_a_browser_behind_it(world: World) {
    world.open(patient(1)).await;
    world.join(2, JoinMode::Enter).await;
    world.store.increment(&world.room, 1).await.unwrap();
    world.ripens();
    assert_eq!(ask_for(&world, &[2], 60_000).await.outcomes, [ClaimOutcome::NoSeat]);
    world.join(3, JoinMode::Queue).await;
    world.join(1, JoinMode::Enter).await;
    many_are_called(&world).await;
    aws_style_visitors_ask_every(&world, 3_000).await;
    leaves(&world, 1).await;
    world.clock.advance_ms(1);
    let browser_is_ripe = world.clock.now_ms().next_multiple_of(100) + 1_250;
    world.store.increment(&world.room, 4).await.unwrap();
    let ask_both = async || {
        let visitor = Claim { held_ms: 10_000, ..world.claim_now(4).await };
        let browser = Claim { held_ms: 10_000, ..world.claim_now(6).await };
        let claims = [Claim { kind: SessionKind::AwsStyle, ..visitor }, browser];
        world.store.claim(&world.room, "k", &claims).await.unwrap()
    };
    let refused = ask_both().await;
    assert_eq!(refused.outcomes, [const { ClaimOutcome::NoSeat }; 2]);
    assert_eq!(refused.free_at_ms, Some(browser_is_ripe + 250));
    world.at(browser_is_ripe + 250);
    let outcomes = ask_both().await.outcomes;
    assert!(
        matches!(outcomes[..], [ClaimOutcome::Entered(_), ClaimOutcome::NoSeat]),
        "{outcomes:?}"
    );
}

async fn an_aws_style_visitor_waits_for_nobody_where_there_are_seats_for_all(world: World) {
    world.open(patient(1)).await;
    world.join(1, JoinMode::Enter).await;
    world.join(5, JoinMode::Queue).await;
    world.clock.advance_ms(1);
    world.put(patient(4)).await;
    world.store.increment(&world.room, 5).await.unwrap();
    for (number, may) in [(5, false), (4, true), (3, true), (6, false)] {
        let claimed = world.claim(number, SessionKind::AwsStyle).await;
        assert_eq!(matches!(claimed, ClaimOutcome::Entered(_)), may, "{number}: {claimed:?}");
    }
}

async fn nobody_waits_where_nobody_else_does(world: World) {
    world.open(patient(3)).await;
    let joined = world.join(2, JoinMode::Queue).await;
    assert_eq!(joined.serving_counter, 2, "the join has served them");
    token(world.claim(2, SessionKind::AwsStyle).await);
    let own = RoomSettings { position_expiry_seconds: None, ..RoomSettings::default() };
    world.put(own).await;
    world.join(5, JoinMode::Enter).await;
    world.store.increment(&world.room, 5).await.unwrap();
    let entered = ask(&world, &[7, 5, 6]).await;
    assert_eq!(entered, [7, 5, 6], "without limits there is a seat for everyone");
}

async fn a_free_seat_is_for_the_lowest_of_those_who_ask(world: World) {
    open(&world, 15).await;
    assert_eq!(ask(&world, &[9, 5, 7]).await, NOBODY);
    assert_eq!(ask(&world, &[8, 6, 12]).await, NOBODY);
    world.clock.advance_ms(1_000);
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[9, 7]).await, NOBODY, "5 and 6 asked a second ago");
    assert_eq!(ask(&world, &[12, 8, 6]).await, NOBODY);
    assert_eq!(ask(&world, &[9, 4, 7]).await, [4], "whoever is lower comes in between");
    leaves(&world, 4).await;
    assert_eq!(ask(&world, &[9, 7, 5]).await, [5]);
    world.put(patient(4)).await;
    assert_eq!(ask(&world, &[12, 9, 8, 7]).await, [8, 7], "of three seats one is for 6");
    assert_eq!(ask(&world, &[6, 9]).await, [6]);
}

async fn whoever_does_not_ask_any_more_holds_no_seat_up(world: World) {
    open(&world, 15).await;
    assert_eq!(ask(&world, &[2, 3, 4]).await, NOBODY);
    world.clock.advance_ms(1_200);
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[9]).await, NOBODY, "they may be about to ask");
    world.clock.advance_ms(1);
    assert_eq!(ask(&world, &[9]).await, [9]);
    assert_eq!(counters(&world).await.at_door, 0);
}

async fn a_request_that_is_held_asks_all_the_time(world: World) {
    open(&world, 15).await;
    let held = ask_for(&world, &[2], 2_000).await;
    assert_eq!(held.outcomes, [ClaimOutcome::NoSeat]);
    world.clock.advance_ms(3_200);
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[9]).await, NOBODY);
    assert_eq!(counters(&world).await.at_door, 2);
    world.clock.advance_ms(1);
    assert_eq!(ask(&world, &[9]).await, [9]);
}

async fn a_silent_one_holds_a_seat_up_for_a_quarter_second_and_only_once(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    assert_eq!(ask_for(&world, &[2], 5_000).await.outcomes, [ClaimOutcome::NoSeat]);
    leaves(&world, 1).await;
    let refused = ask_for(&world, &[5], 0).await;
    let free_at = world.clock.now_ms() + 250;
    assert_eq!(refused.free_at_ms, Some(free_at));
    world.at(free_at - 1);
    assert_eq!(ask(&world, &[6, 5]).await, NOBODY);
    world.at(free_at);
    assert_eq!(ask(&world, &[6, 5]).await, [5]);
    assert_eq!(ask(&world, &[2]).await, NOBODY);
    world.clock.advance_ms(600);
    leaves(&world, 5).await;
    assert_eq!(ask(&world, &[6]).await, [6], "2 was passed, and delays nobody again");
    assert_eq!(ask(&world, &[2, 7]).await, NOBODY);
    leaves(&world, 6).await;
    assert_eq!(ask(&world, &[7, 2]).await, [2], "it has lost no place");
}

async fn a_seat_of_a_silent_one_goes_to_the_lowest_who_surely_asks(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    world.put(patient(2)).await;
    assert_eq!(ask(&world, &[2]).await, [2]);
    // On three instances: 3 and 7 are held, and 5 has gone.
    assert_eq!(ask_for(&world, &[3], 5_000).await.outcomes, [ClaimOutcome::NoSeat]);
    assert_eq!(ask(&world, &[5]).await, NOBODY);
    assert_eq!(ask_for(&world, &[7], 5_000).await.outcomes, [ClaimOutcome::NoSeat]);
    leaves(&world, 1).await;
    leaves(&world, 2).await;
    let freed_at = world.clock.now_ms();
    assert_eq!(ask_for(&world, &[8], 0).await.free_at_ms, Some(freed_at + 250));
    world.at(freed_at + 149);
    assert_eq!(ask_for(&world, &[7], 5_000).await.free_at_ms, Some(freed_at + 150));
    world.at(freed_at + 150);
    assert_eq!(ask(&world, &[8]).await, NOBODY, "7 asks on another instance");
    assert_eq!(ask(&world, &[8, 7]).await, [7], "5 was passed, and not 3");
    assert_eq!(ask(&world, &[8]).await, NOBODY, "the other seat is for 3");
    assert_eq!(ask(&world, &[3]).await, [3]);
}

async fn a_seat_waits_for_somebody_who_comes_back_as_long_as_it_keeps_asking(world: World) {
    open(&world, 6).await;
    // Its first request is asked for again by its instance while it is open, and is one request.
    ask_for(&world, &[2], 500).await;
    ask_for(&world, &[2], 400).await;
    world.clock.advance_ms(1_000);
    ask_for(&world, &[2], 500).await;
    let silent_at = world.clock.now_ms() + 500 + 1_200;
    world.clock.advance_ms(600);
    leaves(&world, 1).await;
    let refused = ask_for(&world, &[5], 0).await;
    assert_eq!(refused.free_at_ms, Some(silent_at), "not in a quarter second");
    world.at(silent_at - 1);
    assert_eq!(ask(&world, &[6, 5]).await, NOBODY);
    assert_eq!(ask(&world, &[2]).await, [2], "it comes back in time");
    ask_for(&world, &[3], 500).await;
    world.clock.advance_ms(1_000);
    ask_for(&world, &[3], 500).await;
    world.clock.advance_ms(1_701);
    leaves(&world, 2).await;
    assert_eq!(ask(&world, &[5]).await, [5], "nobody else keeps asking");
}

async fn a_seat_waits_for_those_who_have_just_asked(world: World) {
    open(&world, 6).await;
    ask_for(&world, &[2], 100).await;
    world.clock.advance_ms(1_000);
    ask_for(&world, &[3], 400).await;
    let two_silent_at = world.clock.now_ms() + 300;
    let three_silent_at = world.clock.now_ms() + 400 + 1_200;
    leaves(&world, 1).await;
    let refused = ask_for(&world, &[5], 0).await;
    assert_eq!(refused.free_at_ms, Some(two_silent_at + 100), "then it is for 3");
    world.at(two_silent_at + 100);
    let refused = ask_for(&world, &[5], 0).await;
    assert_eq!(refused.free_at_ms, Some(three_silent_at), "3 is next, and its request has ended");
    world.at(three_silent_at - 1);
    assert_eq!(ask(&world, &[5]).await, NOBODY);
    // On two instances: 4 asks in vain while the seat is kept for 3, and then is next itself.
    assert_eq!(ask_for(&world, &[4], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    let four_silent_at = world.clock.now_ms() + 2_000 + 1_200;
    world.at(three_silent_at + 1);
    assert_eq!(ask(&world, &[5]).await, NOBODY, "4 has had no chance yet");
    world.at(four_silent_at - 1);
    assert_eq!(ask(&world, &[5]).await, NOBODY, "its instance may be cut off");
    world.at(four_silent_at);
    assert_eq!(ask(&world, &[5]).await, [5], "nobody asks for 4");
}

async fn where_few_are_called_a_seat_waits_for_whose_instance_is_cut_off(world: World) {
    open(&world, 6).await;
    assert_eq!(ask_for(&world, &[2], 2_000).await.outcomes, [ClaimOutcome::NoSeat]);
    let passes_at = world.clock.now_ms() + 2_000 + 1_200 + 100;
    world.clock.advance_ms(1_000);
    leaves(&world, 1).await;
    assert_eq!(ask_for(&world, &[5], 2_000).await.free_at_ms, Some(passes_at));
    world.clock.advance_ms(900);
    assert_eq!(ask_for(&world, &[5], 2_000).await.free_at_ms, Some(passes_at));
    assert_eq!(ask(&world, &[2]).await, [2], "the instance is back");
    leaves(&world, 2).await;
    assert_eq!(ask(&world, &[5]).await, [5], "nobody else keeps asking");
}

async fn a_crowd_that_has_gone_is_sent_off_a_few_at_a_time(world: World) {
    const CROWD: u64 = 1_000;
    world.open(patient(1)).await;
    world.join(2 + CROWD, JoinMode::Enter).await;
    world.store.increment(&world.room, 1 + i64::try_from(CROWD).unwrap()).await.unwrap();
    world.ripens();
    many_are_called(&world).await;
    let crowd: Vec<_> = (2..=1 + CROWD).collect();
    for some in crowd.chunks(100) {
        assert_eq!(ask(&world, some).await, NOBODY);
    }
    world.clock.advance_ms(1_201);
    leaves(&world, 1).await;
    let last = 2 + CROWD;
    assert_eq!(
        ask(&world, &[last]).await,
        NOBODY,
        "somebody may still ask of those nobody looked at"
    );
    assert!(
        (CROWD / 2..CROWD).contains(&counted_at_door(&world).await),
        "not all of them in one call"
    );
    world.clock.advance_ms(250);
    assert_eq!(ask(&world, &[last]).await, [last], "the seat waits for none of them");
}

/// How many there are at the door, whether they still ask or not.
async fn counted_at_door(world: &World) -> u64 {
    let mut count = redis::cmd("ZCARD");
    count.arg("vestibule:room:{sale}:door");
    world.server.ask(&count).await
}

async fn a_seat_that_has_just_come_free_is_not_given_away_with_another(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    ask_for(&world, &[2, 3], 5_000).await;
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[8, 9]).await, NOBODY);
    world.clock.advance_ms(250);
    world.put(patient(2)).await;
    assert_eq!(ask(&world, &[9, 8]).await, [8], "one seat was free all the time, and one was not");
}

async fn a_seat_that_has_been_free_for_long_is_the_first_to_be_taken(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    ask_for(&world, &[2, 3, 4], 5_000).await;
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[8]).await, NOBODY);
    world.clock.advance_ms(250);
    world.put(patient(3)).await;
    assert_eq!(ask(&world, &[8, 2]).await, [2], "3 and 4 have not been asked for the others yet");
    assert_eq!(ask(&world, &[3, 4, 8]).await, [3, 4]);
}

async fn a_seat_that_has_been_free_for_long_goes_past_nobody_who_asked_just_now(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    assert_eq!(ask_for(&world, &[2], 5_000).await.outcomes, [ClaimOutcome::NoSeat]);
    leaves(&world, 1).await;
    // On three instances, of which that of 2 is away.
    ask_for(&world, &[5], 5_000).await;
    let free_at = ask_for(&world, &[7], 5_000).await.free_at_ms.unwrap();
    world.at(free_at - 20);
    ask_for(&world, &[5], 5_000).await;
    world.at(free_at);
    assert_eq!(ask(&world, &[7]).await, NOBODY, "5 is about to ask");
    world.at(free_at + 30);
    assert_eq!(ask(&world, &[6, 5]).await, [5]);
}

async fn a_seat_that_has_been_free_for_long_waits_for_nobody_whose_instance_is_away(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    ask_for(&world, &[2], 5_000).await;
    leaves(&world, 1).await;
    ask_for(&world, &[7], 5_000).await;
    world.clock.advance_ms(100);
    ask_for(&world, &[5], 5_000).await;
    world.clock.advance_ms(350);
    assert_eq!(ask(&world, &[7]).await, NOBODY, "5 may ask in time");
    world.clock.advance_ms(1);
    assert_eq!(ask(&world, &[7]).await, [7]);
}

async fn a_seat_that_was_taken_meanwhile_was_not_free_all_the_time(world: World) {
    open(&world, 15).await;
    many_are_called(&world).await;
    ask_for(&world, &[2, 3, 4], 5_000).await;
    world.put(patient(3)).await;
    assert_eq!(ask(&world, &[8, 9]).await, NOBODY, "two seats are free");
    world.clock.advance_ms(100);
    assert_eq!(ask(&world, &[2]).await, [2]);
    world.put(patient(4)).await;
    world.clock.advance_ms(150);
    assert_eq!(ask(&world, &[9, 8]).await, [8], "two are free again");
}

async fn a_seat_that_nobody_wants_waits_for_nobody(world: World) {
    open(&world, 15).await;
    leaves(&world, 1).await;
    world.seconds(60);
    let refused = ask_for(&world, &[2], 5_000).await.outcomes;
    assert!(matches!(refused[..], [ClaimOutcome::Entered(_)]));
    leaves(&world, 2).await;
    world.seconds(60);
    assert_eq!(ask(&world, &[7]).await, [7], "nobody else asks");
}

async fn one_place_that_claims_twice_at_once_enters_once(world: World) {
    open(&world, 15).await;
    let twice = ask_for(&world, &[3, 2, 3, 3], 0).await;
    assert_eq!(twice.outcomes, [const { ClaimOutcome::NoSeat }; 4]);
    assert_eq!(counters(&world).await.at_door, 2);
    world.put(patient(3)).await;
    let twice = ask_for(&world, &[3, 2, 3, 3], 0).await.outcomes;
    let entered = |outcome: &&ClaimOutcome| matches!(outcome, ClaimOutcome::Entered(_));
    assert_eq!(twice.iter().filter(entered).count(), 2);
    let tokens: Vec<_> = twice.into_iter().map(token).collect();
    assert!(tokens.windows(2).all(|pair| pair[0] == pair[1]));
    let room = world.snapshot().await;
    assert_eq!((room.active, room.admitted, room.admitted_last_minute), (3, 3, 3));
}

async fn winners_stand_behind_those_who_were_served(world: World) {
    let random = RoomSettings { queueing_method: QueueingMethod::Random, ..patient(1) };
    open(&world, 3).await;
    world.put(random).await;
    let winner = async |number, rank| {
        let rank = MAX_QUEUE_NUMBER + rank;
        Claim { won: true, rank, ..world.claim_now(number).await }
    };
    let all =
        [winner(9, 30).await, winner(15, 10).await, world.claim_now(3).await, winner(7, 20).await];
    for next in [2, 1, 3, 0] {
        let replies = world.store.claim(&world.room, "k", &all).await.unwrap().outcomes;
        assert!(!replies.iter().any(|reply| matches!(reply, ClaimOutcome::Entered(_))));
        let inside = if next == 2 { 1 } else { last_in(&world).await };
        leaves(&world, inside).await;
        token(world.claims(all[next].clone()).await);
    }
}

/// Whose session began last.
async fn last_in(world: &World) -> u64 {
    let mut last = redis::cmd("ZREVRANGE");
    last.arg("vestibule:room:{sale}:sessions").arg(0).arg(0);
    world.server.ask::<Vec<u64>>(&last).await[0]
}

async fn everybody_comes_to_the_door_once(world: World) {
    world.open(patient(1)).await;
    world.join(3, JoinMode::Enter).await;
    world.join(5, JoinMode::Queue).await;
    let epoch = world.reset_epoch().await;
    world.store.increment(&world.room, 7).await.unwrap();
    let served_at = world.clock.now_ms();
    let polls = [(vestibule_domain::presence::Spot::Position(5), known())];
    world.store.check_in(&world.room, epoch, polls).await.unwrap();
    // A page at the door that has not asked for a seat has not come.
    assert!(world.store.extend_claim_window(&world.room, epoch, 2).await.unwrap());
    world.at(served_at + 3_000);
    for again in 0..3 {
        let visitors = [2, 3].map(|number| World::claim_of(number, SessionKind::Visitor, 0, epoch));
        let others = [4, 5].map(|number| World::claim_of(number, SessionKind::AwsStyle, 0, epoch));
        world.store.claim(&world.room, "k", &[visitors, others].concat()).await.unwrap();
        let counters = counters(&world).await;
        assert_eq!((counters.came_known, counters.came_unknown), (3, 1), "5 had checked in");
        assert_eq!(counters.came_after_ms, 3_000);
        world.seconds(1 + 2 * again);
    }
}

fn known() -> vestibule_domain::presence::Band {
    vestibule_domain::presence::Band::ALL[0]
}

async fn whoever_gives_up_has_left_the_door(world: World) {
    open(&world, 15).await;
    assert_eq!(ask(&world, &[2, 3]).await, NOBODY);
    gives_up(&world, 2).await;
    let counters = counters(&world).await;
    assert_eq!((counters.at_door, counters.door), (1, vec![(3, 0)]));
    leaves(&world, 1).await;
    assert_eq!(ask(&world, &[3]).await, [3]);
}

async fn nothing_is_kept_of_those_who_ask_no_more(world: World) {
    open(&world, 15).await;
    assert_eq!(ask(&world, &[2, 3]).await, NOBODY);
    let kept = async |part: &str| {
        let key = format!("vestibule:room:{{sale}}:{part}");
        world.server.ask::<u64>(redis::cmd("ZCARD").arg(key)).await
    };
    assert_eq!((kept("door").await, kept("asked").await, kept("seatless").await), (2, 2, 2));
    world.clock.advance_ms(1_201);
    world.tick(1).await;
    assert_eq!((kept("door").await, kept("asked").await), (0, 0));
    world.seconds(61);
    world.tick(1).await;
    assert_eq!(kept("seatless").await, 0, "in a room in which no position expires");
}
