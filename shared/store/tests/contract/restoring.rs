//! A store that was wiped, or went back, is brought to what the services have seen.

use vestibule_domain::{
    Progress, RoomSettings, SeatEnds,
    reconciliation::{Finding, Testimony},
};
use vestibule_store::{
    Account, AnsweredCall, ClaimOutcome, Ending, JoinMode, Joined, Revocation, Revoked, Round,
    Seat, SessionKind, StoreError, TokenRecord, Touch,
};

use crate::world::{World, limited, seat, testimony, token};

crate::on_every_server!(
    a_wiped_room_comes_back_ahead_of_every_number,
    while_a_witness_is_silent_numbers_and_seats_may_be_its_own,
    what_a_late_witness_had_left_out_are_no_people,
    while_a_witness_is_silent_the_rate_may_be_used_up_and_then_only_by_whom_it_saw,
    seats_of_the_unseen_stay_taken_until_their_time_is_over,
    whoever_comes_back_when_its_seat_is_kept_no_more_takes_none_beyond_the_seats,
    a_holder_who_returns_gets_its_session_back,
    a_session_that_somebody_may_have_renewed_keeps_its_seat,
    a_session_that_had_ended_frees_no_seat_of_somebody_else,
    what_has_ended_is_not_rebuilt_and_nothing_is_beyond_the_seats,
    increments_go_on_behind_the_gap,
    increments_go_on_behind_every_gap_however_often_more_is_lost,
    an_increment_from_within_a_gap_serves_who_comes_behind_it,
    numbers_that_nobody_has_miss_no_turn,
    what_ended_stays_ended_while_its_renewal_may_be_unknown,
    whoever_may_be_inside_without_a_record_can_be_revoked,
    what_was_told_in_another_round_is_not_told_late,
    last_words_that_come_too_late_for_a_round_are_told_late,
    seats_that_are_told_late_are_held_no_more,
    a_token_that_is_told_late_is_waited_for_though_its_session_has_ended,
    whoever_comes_with_a_number_that_nobody_knew_of_had_missed_no_turn,
    what_was_left_out_once_stays_so,
    so_far_ahead_are_only_numbers_of_another_side,
    what_is_told_late_of_before_a_reset_changes_nothing,
    seats_held_for_the_unseen_come_free_in_their_time_though_more_is_lost,
    seats_that_are_lost_later_are_held_for_as_long,
    what_was_noted_elsewhere_brings_no_ended_session_back,
    what_was_ended_while_somebody_silent_renewed_it_stays_ended,
    a_room_that_is_the_latest_stays_as_it_is,
    a_call_whose_answer_is_put_back_is_not_carried_out_again,
);

/// What services tell that had been silent.
fn late(world: &World) -> Round<'_> {
    Round { room: &world.room, name: "", epoch: 2 }
}

pub(crate) async fn wipe_and_reconcile(
    world: &World,
    change: impl Fn(&mut Testimony),
    silent: &[&str],
) {
    let mut seen = testimony(&world.snapshot().await);
    let config = world.store.read_config(&world.room).await.unwrap().unwrap();
    world.server.flush().await;
    let joined = world.try_join(1, JoinMode::Enter).await;
    assert!(matches!(joined, Err(StoreError::RoomMissing)), "nobody joins a lost room");
    change(&mut seen);
    let found = world.reconcile(&[seen], silent, &config).await;
    assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    let back = world.store.read_config(&world.room).await.unwrap();
    assert_eq!(back, Some(config));
}

async fn a_wiped_room_comes_back_ahead_of_every_number(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let last = world.snapshot().await;
    let seen = |seen: &mut Testimony| (seen.queue_counter, seen.serving_counter) = (33, 4);
    wipe_and_reconcile(&world, seen, &[]).await;
    let back = world.snapshot().await;
    assert_eq!(back.settings, last.settings);
    assert_eq!(back.reset_epoch, last.reset_epoch, "request ids stay valid");
    assert_eq!(back.generation, last.generation + 1);
    assert_eq!(back.serving_counter, 4);
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 34, "all have been heard");
    assert_eq!(world.store.rooms().await.unwrap(), std::slice::from_ref(&world.room));
}

async fn while_a_witness_is_silent_numbers_and_seats_may_be_its_own(world: World) {
    world.open(limited(9)).await;
    world.join(20, JoinMode::Enter).await;
    for number in 1..=7 {
        let (room, epoch) = (&world.room, world.reset_epoch().await);
        let departure = vestibule_store::Departure {
            number,
            ended_as: vestibule_store::EndedAs::Completed,
            seat: vestibule_domain::SeatEnds::AtOnce,
        };
        world.store.leave(room, epoch, &[departure]).await.unwrap();
    }
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let back = world.snapshot().await;
    assert_eq!(
        (back.active + back.unconfirmed, back.awaits.as_slice()),
        (9, &["a".to_owned()][..])
    );
    let first = world.join(1, JoinMode::Enter).await.first;
    assert!(first > 20 + 10_000);
    let joined = world.snapshot().await;
    assert_eq!(joined.left_out, [(21, first - 1)]);
    assert!(joined.waiting() <= 20 - 9 + 1, "{} are said to wait", joined.waiting());
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let seen = Progress { queue_counter: 77, admitted: 9 };
    world.store.dismiss(round, epoch, seen, &[], &[]).await.unwrap();
    let heard = world.snapshot().await;
    assert_eq!((heard.active + heard.unconfirmed, heard.awaits.len()), (2, 0), "it has been heard");
}

async fn what_a_late_witness_had_left_out_are_no_people(world: World) {
    world.open(limited(9)).await;
    world.join(20, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let first = world.join(1, JoinMode::Enter).await.first;
    let before = world.snapshot().await.waiting();
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let seen = Progress { queue_counter: first + 50_000, admitted: 9 };
    // Of those up to `first` it is known who has them.
    let left_out = [(1, first), (first + 11, first + 50_000)];
    world.store.dismiss(round, epoch, seen, &left_out, &[]).await.unwrap();
    let heard = world.snapshot().await;
    assert_eq!(heard.waiting(), before + 10, "which it has handed out");
    let last = world.join(1, JoinMode::Enter).await.first;
    assert_eq!(heard.left_out, [(21, first - 1), (first + 11, last - 1)]);
}

async fn while_a_witness_is_silent_the_rate_may_be_used_up_and_then_only_by_whom_it_saw(
    world: World,
) {
    world.open(RoomSettings { new_users_per_minute: Some(30), ..RoomSettings::default() }).await;
    world.join(5, JoinMode::Enter).await;
    let lately = async || world.snapshot().await.admitted_last_minute;
    let admitted = world.snapshot().await.admitted;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    assert_eq!(lately().await, 30, "it may have let in all the others");
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let seen = Progress { queue_counter: 9, admitted: admitted + 4 };
    world.store.dismiss(round, epoch, seen, &[], &["b".to_owned()]).await.unwrap();
    assert_eq!(lately().await, 30, "another is silent still");
    let less = Progress { queue_counter: 7, admitted: admitted + 1 };
    world.store.dismiss(round, epoch, less, &[], &[]).await.unwrap();
    assert_eq!(lately().await, admitted + 4, "what was seen, and nothing else");
    world.store.dismiss(round, epoch, less, &[], &[]).await.unwrap();
    assert_eq!(lately().await, admitted + 4, "it is given back once");
    world.seconds(61);
    assert_eq!(lately().await, 0);
}

async fn whoever_comes_back_when_its_seat_is_kept_no_more_takes_none_beyond_the_seats(
    world: World,
) {
    world.open(limited(3)).await;
    let before = world.join(3, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    world.seconds(302);
    world.tick(2).await;
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 3);
    // Sessions lasted for longer when they entered.
    let joined = Joined { expires_at: before.expires_at + 3_600, ..before };
    let returning = [1, 2, 3].map(|number| World::touch_of(number, &joined));
    let touched = world.store.touch(&world.room, "k", "https://issuer", &returning).await.unwrap();
    assert!(touched.iter().all(|one| one.session.is_none()), "{touched:?}");
    assert_eq!(world.snapshot().await.active, 3);
}

async fn seats_of_the_unseen_stay_taken_until_their_time_is_over(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    assert_eq!(world.snapshot().await.unconfirmed, 3);
    assert_eq!(world.tick(2).await.input.usage.active, 3);
    world.seconds(300);
    assert_eq!(world.tick(2).await.input.usage.active, 3);
    world.seconds(2);
    assert_eq!(world.tick(2).await.input.usage.active, 0);
}

async fn a_holder_who_returns_gets_its_session_back(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let touch = |number, generation| Touch { generation, ..World::touch_of(number, &joined) };
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    let seen = [touch(2, 1), touch(2, 1), touch(9, 2)];
    let touched = world.store.touch(&world.room, "k", "i", &seen).await.unwrap();
    assert!(touched[0].session.is_some() && touched[1].session.is_some());
    assert_eq!(touched[2].session, None, "a seat of this generation would be on record");
    let back = world.snapshot().await;
    assert_eq!(
        (back.active, back.unconfirmed),
        (1, 2),
        "its seat is no longer held for the unseen"
    );
}

async fn touches(world: &World, number: u64, joined: &Joined) -> Option<TokenRecord> {
    let touch = World::touch_of(number, joined);
    world.store.touch(&world.room, "k", "i", &[touch]).await.unwrap().remove(0).session
}

async fn a_session_that_somebody_may_have_renewed_keeps_its_seat(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    world.seconds(200);
    let renewed = touches(&world, 1, &joined).await.unwrap();
    assert_eq!(renewed.expires_at, joined.expires_at + 200);
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    // Who has renewed it says nothing.
    let seats = [1, 2, 3].map(|number| seat(number, &joined));
    world.reconcile_with(&[seen], &["gone"], &config, (&seats, &[])).await;
    world.seconds(150);
    assert_eq!(world.snapshot().await.active, 3, "any of them may still be inside");
    assert_eq!(world.tick(2).await.input.usage.active, 3);
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0);
    assert!(touches(&world, 1, &joined).await.is_some(), "whoever was renewed");
    world.seconds(155);
    assert_eq!(world.tick(2).await.input.usage.active, 1, "the others have not come back");
}

async fn a_session_that_had_ended_frees_no_seat_of_somebody_else(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    world.leave(1).await;
    let served = world.claim_served(4).await;
    let entered = token(served);
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    // Who seated the fourth is silent, and who ended the first.
    let seats = [1, 2, 3].map(|number| seat(number, &joined));
    world.reconcile_with(&[seen], &["a", "b"], &config, (&seats, &[])).await;
    assert_eq!(world.snapshot().await.active, 3);
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let endings = [Ending::of_session(1, joined.expires_at)];
    for _ in 0..2 {
        assert!(world.store.rebuild(round, epoch, &[], &endings, Some).await.unwrap());
    }
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed), (2, 1), "three are inside");
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0);
    world
        .store
        .dismiss(round, epoch, Progress { queue_counter: 0, admitted: 4 }, &[], &[])
        .await
        .unwrap();
    assert_eq!(world.snapshot().await.unconfirmed, 1, "it is owed to the fourth");
    let of_fourth =
        Joined { issued_at: entered.issued_at, expires_at: entered.expires_at, ..joined };
    assert!(touches(&world, 4, &of_fourth).await.is_some());
    assert_eq!(world.snapshot().await.unconfirmed, 0);
}

async fn what_has_ended_is_not_rebuilt_and_nothing_is_beyond_the_seats(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    world.leave(1).await;
    let seen = testimony(&world.snapshot().await);
    let config = world.config().await;
    world.server.flush().await;
    let endings = [Ending::of_session(1, joined.expires_at)];
    world.reconcile_with(&[seen], &[], &config, (&[], &endings)).await;
    let all: Vec<Touch> = (1..=20).map(|number| World::touch_of(number, &joined)).collect();
    let touched = world.store.touch(&world.room, "k", "i", &all).await.unwrap();
    assert_eq!(touched[0].session, None, "it has ended");
    let live = touched.iter().filter(|one| one.session.is_some()).count();
    assert_eq!(live, 3, "two that were owed, and one that was free");
    let now_s = world.clock.now_ms() / 1000;
    let claim = World::claim_of(1, SessionKind::Visitor, now_s, joined.reset_epoch);
    assert_eq!(world.claims(claim).await, ClaimOutcome::SessionEnded);
}

async fn increments_go_on_behind_the_gap(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 15).await.unwrap();
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let newcomer = world.join(5, JoinMode::Queue).await.first;
    assert!(newcomer > 20);
    assert_eq!(world.store.increment(&world.room, 5).await.unwrap(), 20);
    let served = world.store.increment(&world.room, 3).await.unwrap();
    assert_eq!(u64::try_from(served).unwrap(), newcomer + 2, "three newcomers are served");
}

async fn increments_go_on_behind_every_gap_however_often_more_is_lost(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 15).await.unwrap();
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let first = world.join(5, JoinMode::Queue).await.first;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let second = world.join(5, JoinMode::Queue).await.first;
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    for (by, last) in [(5, 20), (5, first + 4), (5, second + 4)] {
        let served = world.store.increment(&world.room, by).await.unwrap();
        assert_eq!(u64::try_from(served).unwrap(), last);
    }
    assert_eq!(world.store.increment(&world.room, -3).await.unwrap(), second.cast_signed() + 1);
    let all = world.store.increment(&world.room, 3).await.unwrap();
    assert_eq!(u64::try_from(all).unwrap(), second + 4);
}

async fn an_increment_from_within_a_gap_serves_who_comes_behind_it(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 30).await.unwrap();
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let newcomer = world.join(5, JoinMode::Queue).await.first;
    let served = world.store.increment(&world.room, 2).await.unwrap();
    assert_eq!(u64::try_from(served).unwrap(), newcomer + 1);
}

async fn numbers_that_nobody_has_miss_no_turn(world: World) {
    let settings = RoomSettings {
        position_expiry_seconds: Some(10),
        advance_on_position_expiry: true,
        ..RoomSettings::default()
    };
    world.open(settings).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 20).await.unwrap();
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let newcomer = world.join(30, JoinMode::Queue).await.first;
    world.store.increment(&world.room, 5).await.unwrap();
    world.seconds(12);
    world.tick(2).await;
    let after = world.snapshot().await;
    assert_eq!(after.expired, 25, "who was served and did not come");
    // What was served before the loss is a move of nobody's.
    assert_eq!(after.serving_counter, newcomer.cast_signed() + 4 + 5);
    world.store.increment(&world.room, -30).await.unwrap();
    assert!(world.snapshot().await.expired <= 20, "they wait again");
}

/// Who had renewed it is gone, and what it told the visitor nobody knows.
async fn what_ended_stays_ended_while_its_renewal_may_be_unknown(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let known = Joined { expires_at: joined.issued_at + 100, ..joined.clone() };
    let seats = [1, 2].map(|number| seat(number, &known));
    world.reconcile_with(&[seen], &["gone"], &config, (&seats, &[])).await;
    let all_heard = Progress { queue_counter: 20, admitted: 3 };
    world
        .store
        .dismiss(late(&world), world.reset_epoch().await, all_heard, &[], &[])
        .await
        .unwrap();
    world.seconds(90);
    world.leave(1).await;
    world.seconds(60);
    world.tick(2).await;
    let is_inside = async |number| touches(&world, number, &joined).await.is_some();
    assert_eq!((is_inside(1).await, is_inside(2).await), (false, true));
}

/// Its seat is held, since somebody has told that its place has entered, and nobody how long its session lasts.
async fn whoever_may_be_inside_without_a_record_can_be_revoked(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let over = Joined { expires_at: joined.issued_at - 10, ..joined.clone() };
    let seats = [1, 2].map(|number| seat(number, &over));
    world.reconcile_with(&[seen], &[], &config, (&seats, &[])).await;
    assert_eq!(world.snapshot().await.unconfirmed, 3);
    let revocation = |number| Revocation {
        reset_epoch: joined.reset_epoch,
        number,
        position: Some(number),
        draws: 0,
        seat: SeatEnds::AtOnce,
    };
    let revoke = async |number| world.store.revoke(&world.room, revocation(number)).await.unwrap();
    assert_eq!(revoke(1).await, Revoked::Session);
    assert_eq!(revoke(1).await, Revoked::None, "it is over");
    assert_eq!(revoke(21).await, Revoked::None, "nobody has such a number");
    let is_inside = async |number| touches(&world, number, &joined).await.is_some();
    assert_eq!((is_inside(1).await, is_inside(2).await), (false, true));
    let after = world.snapshot().await;
    assert_eq!((after.active, after.unconfirmed), (1, 2), "one of them in a seat of its own");
}

async fn what_was_told_in_another_round_is_not_told_late(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let told = |round: &str| Account { round: round.to_owned(), ..Account::default() };
    world.store.testify(&world.room, "before", &told("another")).await.unwrap();
    world.store.testify(&world.room, "now", &told("r")).await.unwrap();
    // As it comes back with a server that was saved in the middle of that.
    let round = Round { room: &world.room, name: "another", epoch: 2 };
    world.store.call_witnesses(round.room, 2, round.name).await.unwrap();
    world.store.testify(&world.room, "before", &told("another")).await.unwrap();
    world.store.testify(&world.room, "now", &told("r")).await.unwrap();
    world.reconcile_with(&[seen], &["before", "now"], &config, (&[], &[])).await;
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["now"]);
}

async fn last_words_that_come_too_late_for_a_round_are_told_late(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let last = Account { round: "last words".into(), is_last: true, ..Account::default() };
    world.store.testify(&world.room, "stops", &last).await.unwrap();
    world.reconcile_with(&[seen], &["stops"], &config, (&[], &[])).await;
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["stops"], "nobody can tell it again");
}

async fn seats_that_are_told_late_are_held_no_more(world: World) {
    world.open(limited(20)).await;
    let joined = world.join(10, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |seen| seen.last.figures.unattended = 8, &["a"]).await;
    let held = world.snapshot().await;
    assert_eq!((held.active, held.unconfirmed), (0, 20), "nobody has told of a seat");
    assert_eq!(held.unconfirmed_until - held.now_ms, 3_601_000);
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    // Two of them had begun when all others looked away.
    let seats = [1, 2, 3, 4, 5, 6, 31, 32].map(|number| seat(number, &joined));
    for _ in 0..2 {
        assert!(world.store.rebuild(round, epoch, &seats, &[], Some).await.unwrap());
        let told = world.snapshot().await;
        assert_eq!((told.active, told.unconfirmed), (8, 12));
    }
    let seen = Progress { queue_counter: 32, admitted: 12 };
    for _ in 0..2 {
        world.store.dismiss(round, epoch, seen, &[], &[]).await.unwrap();
        let heard = world.snapshot().await;
        assert_eq!((heard.active, heard.unconfirmed), (8, 4), "four of ten have not come back");
        assert_eq!(heard.unconfirmed_until - heard.now_ms, 301_000, "as if nobody had been silent");
    }
}

async fn a_token_that_is_told_late_is_waited_for_though_its_session_has_ended(world: World) {
    world.open(limited(20)).await;
    let joined = world.join(10, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |seen| seen.last.figures.unattended = 8, &["a"]).await;
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let expires_at = joined.issued_at + 900;
    let record = format!("{}|{expires_at}|0|a|k||i", joined.issued_at);
    let told = Seat { record, expires_at, ..seat(1, &joined) };
    let ending = Ending { number: 1, expires_at, is_place: false };
    assert!(world.store.rebuild(round, epoch, &[told], &[ending], Some).await.unwrap());
    let seen = Progress { queue_counter: 20, admitted: 10 };
    world.store.dismiss(round, epoch, seen, &[], &[]).await.unwrap();
    let heard = world.snapshot().await;
    assert_eq!((heard.active, heard.tokens_until), (0, expires_at));
    assert_eq!(heard.unconfirmed_until, (expires_at + 1) * 1000);
}

async fn whoever_comes_with_a_number_that_nobody_knew_of_had_missed_no_turn(world: World) {
    let settings = RoomSettings { position_expiry_seconds: Some(10), ..RoomSettings::default() };
    world.open(settings).await;
    world.join(2, JoinMode::Queue).await;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let newcomer = world.join(1, JoinMode::Queue).await.first;
    world.store.increment(&world.room, 3).await.unwrap();
    world.ripens();
    for number in [1, 2, newcomer] {
        token(world.claims(world.claim_now(number).await).await);
    }
    world.seconds(12);
    world.tick(2).await;
    let over = world.snapshot().await;
    assert_eq!((over.expired, over.expired_position), (0, newcomer));
    // Who was silent had given it this.
    token(world.claim(7, SessionKind::Visitor).await);
    assert_eq!(world.snapshot().await.expired, 0);
}

async fn a_room_that_is_the_latest_stays_as_it_is(world: World) {
    world.open(limited(3)).await;
    world.join(5, JoinMode::Enter).await;
    let seen = testimony(&world.snapshot().await);
    world.join(5, JoinMode::Enter).await;
    let (before, config) = (world.snapshot().await, world.config().await);
    assert_eq!(world.reconcile(&[seen], &[], &config).await, Finding::IsLatest);
    let after = world.snapshot().await;
    assert_eq!((after.queue_counter, after.generation, after.nonce), (10, 1, before.nonce));
}

/// The room is lost twice, while somebody is silent.
async fn what_was_left_out_once_stays_so(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let first = world.join(1, JoinMode::Queue).await.first;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let second = world.join(1, JoinMode::Queue).await.first;
    let left_out = [(21, first - 1), (first + 1, second - 1)];
    let back = world.snapshot().await;
    assert_eq!(back.left_out, left_out);
    let count = |(first, last): &(u64, u64)| last + 1 - first;
    assert_eq!(back.skipped, left_out.iter().map(count).sum::<u64>());
    assert!(back.waiting() <= 20 - 3 + 2, "{} are said to wait", back.waiting());
}

/// Whoever had them has had a session's time to come back, however often the room is lost again.
async fn seats_held_for_the_unseen_come_free_in_their_time_though_more_is_lost(world: World) {
    world.open(limited(5)).await;
    world.join(8, JoinMode::Enter).await;
    let lose = async || {
        let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
        world.server.flush().await;
        world.reconcile_with(&[seen], &[], &config, (&[], &[])).await;
        world.snapshot().await.unconfirmed
    };
    assert_eq!(lose().await, 5, "nobody tells whose they are");
    for _ in 0..3 {
        world.seconds(100);
        assert_eq!(lose().await, 5);
    }
    world.seconds(2);
    assert_eq!(world.snapshot().await.unconfirmed, 0);
}

/// Those of the second loss have their own time.
async fn seats_that_are_lost_later_are_held_for_as_long(world: World) {
    world.open(limited(5)).await;
    world.join(3, JoinMode::Enter).await;
    let lose = async |seen| {
        let config = world.config().await;
        world.server.flush().await;
        world.reconcile_with(&[testimony(&seen)], &[], &config, (&[], &[])).await;
        world.snapshot().await.unconfirmed
    };
    assert_eq!(lose(world.snapshot().await).await, 3);
    world.seconds(100);
    world.tick(2).await;
    let newcomers = world.join(2, JoinMode::Enter).await;
    assert_eq!(newcomers.seated, 2);
    assert_eq!(lose(world.snapshot().await).await, 5, "of the two nobody tells, either");
    world.seconds(250);
    assert_eq!(world.snapshot().await.unconfirmed, 5);
}

/// It was redeemed, and has ended; on the other side of a split it was only renewed.
async fn what_was_noted_elsewhere_brings_no_ended_session_back(world: World) {
    world.open(limited(1)).await;
    world.join(1, JoinMode::Queue).await;
    world.tick(1).await;
    world.ripens();
    let before = token(world.claim(1, SessionKind::AwsStyle).await);
    let (epoch, exp) = (world.reset_epoch().await, before.expires_at + 100);
    world.store.redeem(&world.room, epoch, 1, &[7]).await.unwrap();
    world.leave(1).await;
    let record = format!("{}|{exp}|0|a|k|id-1|https://issuer", before.issued_at);
    let seen = Seat { number: 1, record, expires_at: exp, seen_at: (1, 1) };
    assert!(world.store.rebuild(late(&world), epoch, &[seen], &[], Some).await.unwrap());
    assert_eq!(world.claim(1, SessionKind::AwsStyle).await, ClaimOutcome::SessionEnded);
    assert_eq!(world.snapshot().await.active, 0);
}

async fn what_is_told_late_of_before_a_reset_changes_nothing(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(5, JoinMode::Enter).await;
    wipe_and_reconcile(&world, |_| {}, &["a"]).await;
    let epoch = world.reset_epoch().await;
    world.store.reset(&world.room).await.unwrap();
    let again = world.join(1, JoinMode::Enter).await;
    assert_eq!((again.first, again.seated), (1, 1));
    let seats = [1, 2, 3].map(|number| seat(number, &joined));
    let endings = [Ending::of_session(1, joined.expires_at)];
    let told = world.store.rebuild(late(&world), epoch, &seats, &endings, Some).await;
    assert!(!told.unwrap());
    let seen = Progress { queue_counter: 7_000_000, admitted: 5 };
    world.store.dismiss(late(&world), epoch, seen, &[], &[]).await.unwrap();
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed, back.queue_counter), (1, 0, 1));
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 2);
}

/// Of some seconds that nobody else has heard of, numbers may be people; of a gap, they are none.
async fn so_far_ahead_are_only_numbers_of_another_side(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let heard = async |queue_counter| {
        let seen = Progress { queue_counter, admitted: 0 };
        world.store.dismiss(round, epoch, seen, &[], &[]).await.unwrap();
        let room = world.snapshot().await;
        (room.queue_counter, room.left_out.clone(), room.skipped)
    };
    assert_eq!(heard(20).await, (20, vec![], 0));
    assert_eq!(heard(50).await, (100_050, vec![(51, 100_050)], 100_000));
    let apart = 300_000;
    let skipped = 100_000 + (apart - 100_050) + 100_000;
    assert_eq!(heard(apart).await, (400_000, vec![(51, 400_000)], skipped));
}

async fn a_call_whose_answer_is_put_back_is_not_carried_out_again(world: World) {
    world.open(RoomSettings::default()).await;
    let epoch = world.reset_epoch().await;
    let by = async |name, by| {
        let moved = world.store.increment_once(&world.room, name, by).await.unwrap();
        moved.map(|moved| moved.to)
    };
    assert_eq!((by("a", 5).await, by("b", 2).await), (Some(5), Some(7)));
    wipe_and_reconcile(&world, |_| {}, &[]).await;
    let answer = |name: &str, by: i64, stands: i64| AnsweredCall {
        name: format!("increment:{name}"),
        answer: format!(
            r#"{{"again":false,"by":{by},"reset_epoch":{epoch},"serving_counter":{stands}}}"#
        )
        .into(),
        kept_seconds: 60,
    };
    let told = [answer("a", 5, 5), answer("b", 2, 7)];
    world.store.restore_calls(&world.room, &told).await.unwrap();
    assert_eq!((by("a", 5).await, by("b", 2).await, by("c", 1).await), (Some(5), Some(7), Some(8)));
    let other = [answer("c", 9, 99)];
    world.store.restore_calls(&world.room, &other).await.unwrap();
    assert_eq!(by("c", 1).await, Some(8), "what Redis knows itself stays");
}

async fn what_was_ended_while_somebody_silent_renewed_it_stays_ended(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let seats = [1, 2, 3].map(|number| seat(number, &joined));
    world.reconcile_with(&[seen], &["apart"], &config, (&seats, &[])).await;
    world.leave(1).await;
    // On its side of a split, somebody goes on renewing it.
    world.seconds(600);
    world.tick(2).await;
    let (round, epoch) = (late(&world), world.reset_epoch().await);
    let issued_at = world.clock.now_ms() / 1000;
    let renewed = Joined { issued_at, expires_at: issued_at + 300, ..joined.clone() };
    let seats = [1, 2].map(|number| seat(number, &renewed));
    assert!(world.store.rebuild(round, epoch, &seats, &[], Some).await.unwrap());
    let all_heard = Progress { queue_counter: 20, admitted: 3 };
    world.store.dismiss(round, epoch, all_heard, &[], &[]).await.unwrap();
    world.tick(2).await;
    let is_inside = async |number| touches(&world, number, &renewed).await.is_some();
    assert_eq!((is_inside(1).await, is_inside(2).await), (false, true));
    assert_eq!(world.snapshot().await.active, 1);
}
