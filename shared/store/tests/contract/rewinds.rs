//! A store that went back to an older state of a room, or is another than it was: nobody changes the room until the
//! leader has heard what the services have seen.

use redis::cmd;
use vestibule_domain::{RoomSettings, reconciliation::Finding};
use vestibule_store::{
    Account, CallerBindings, ClaimOutcome, Feed, JoinMode, RedeemOutcome, SessionKind, StoreError,
    Touch,
};

use crate::{
    lost_answers::LosesAnswers,
    world::{World, limited, seat, testimony},
};

crate::on_every_server!(
    an_older_state_is_refused_and_brought_to_what_was_seen,
    a_state_of_another_server_is_refused_until_it_is_found_to_be_the_latest,
    the_first_who_notices_stops_everybody,
    a_reset_that_was_undone_is_done_again,
    of_two_states_of_one_generation_neither_is_believed,
    what_services_have_seen_is_put_back,
    what_was_noted_of_a_session_is_put_back,
    who_was_served_before_a_loss_is_passed_by_nobody_who_comes_first,
    what_was_told_in_a_round_that_never_ended_still_counts,
    whoever_stops_tells_of_rooms_that_went_back_and_of_no_others,
    whoever_stops_while_redis_is_away_tells_it_once_it_is_back,
    whoever_stops_and_is_awaited_tells_it_though_the_room_is_open_again,
    whoever_stops_lists_the_rooms_that_redis_has_lost,
    who_was_inside_before_the_ceiling_was_lowered_keeps_its_seat,
    whoever_an_operator_serves_no_more_loses_no_time_though_redis_forgets_it,
    a_deleted_room_can_be_made_anew_and_its_epoch_is_later,
);

const LINE: &str = "vestibule:room:{sale}:line";
const RECORDS: &str = "vestibule:room:{sale}:records";

#[track_caller]
fn is_rewound<T: std::fmt::Debug>(answer: &Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Rewound)), "{answer:?}");
}

/// All that the server holds of the room's line.
async fn line(world: &World) -> Vec<(String, String)> {
    world.server.ask(cmd("HGETALL").arg(LINE)).await
}

/// The line is again as it was.
async fn go_back(world: &World, line: &[(String, String)]) {
    world.server.ask::<()>(cmd("DEL").arg(LINE)).await;
    let mut set = cmd("HSET");
    set.arg(LINE);
    for (name, value) in line {
        set.arg(name).arg(value);
    }
    world.server.ask::<()>(&set).await;
}

async fn an_older_state_is_refused_and_brought_to_what_was_seen(world: World) {
    world.open(limited(3)).await;
    let before = line(&world).await;
    world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    go_back(&world, &before).await;
    is_rewound(&world.try_join(1, JoinMode::Enter).await);
    is_rewound(&world.store.read_snapshot(&world.room).await);
    is_rewound(&world.store.increment(&world.room, 1).await);
    is_rewound(&world.store.reset(&world.room).await);
    is_rewound(&world.try_begin(1).await);
    assert!(matches!(world.reconcile(&[seen], &[], &config).await, Finding::IsBehind(_)));
    let back = world.snapshot().await;
    assert_eq!((back.queue_counter, back.generation), (20, 2));
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 21);
}

async fn a_state_of_another_server_is_refused_until_it_is_found_to_be_the_latest(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.ask::<()>(cmd("HSET").arg(LINE).arg("run_id").arg("0123456789abcdef")).await;
    let stranger = world.another_store();
    is_rewound(&stranger.read_snapshot(&world.room).await);
    is_rewound(&world.try_join(1, JoinMode::Enter).await);
    assert_eq!(world.reconcile(&[seen], &[], &config).await, Finding::IsLatest);
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 21);
    assert_eq!(world.snapshot().await.generation, 1, "nothing was lost");
}

async fn the_first_who_notices_stops_everybody(world: World) {
    world.open(limited(3)).await;
    let before = line(&world).await;
    let stranger = world.another_store();
    world.join(20, JoinMode::Enter).await;
    go_back(&world, &before).await;
    assert!(stranger.read_snapshot(&world.room).await.is_ok(), "it knows nothing of the twenty");
    is_rewound(&world.try_join(1, JoinMode::Enter).await);
    is_rewound(&stranger.read_snapshot(&world.room).await);
}

async fn a_reset_that_was_undone_is_done_again(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let (before, config) = (line(&world).await, world.config().await);
    world.clock.advance_ms(5);
    let epoch = world.store.reset(&world.room).await.unwrap();
    world.join(2, JoinMode::Enter).await;
    let seen = testimony(&world.snapshot().await);
    go_back(&world, &before).await;
    is_rewound(&world.try_join(1, JoinMode::Enter).await);
    assert!(matches!(world.reconcile(&[seen], &[], &config).await, Finding::IsBehind(_)));
    let back = world.snapshot().await;
    assert_eq!((back.reset_epoch, back.queue_counter), (epoch, 2));
    let now_s = world.clock.now_ms() / 1000;
    let old = World::claim_of(4, SessionKind::Visitor, now_s, epoch - 5);
    assert_eq!(world.claims(old).await, vestibule_store::ClaimOutcome::Foreign);
}

async fn of_two_states_of_one_generation_neither_is_believed(world: World) {
    world.open(limited(3)).await;
    world.join(5, JoinMode::Enter).await;
    let mut seen = testimony(&world.snapshot().await);
    let config = world.config().await;
    (seen.stamp.nonce, seen.queue_counter) = ("another".to_owned(), 9);
    assert!(matches!(world.reconcile(&[seen], &[], &config).await, Finding::IsBehind(_)));
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 10);
}

async fn what_services_have_seen_is_put_back(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let seen = testimony(&world.snapshot().await);
    let config = world.config().await;
    world.server.flush().await;
    let seats: Vec<_> = [1, 2, 4].map(|number| seat(number, &joined)).into();
    world.reconcile_with(&[seen], &[], &config, (&seats, &[])).await;
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed), (3, 2), "the other two are owed to somebody");
    let now_s = world.clock.now_ms() / 1000;
    let claim = World::claim_of(2, SessionKind::Visitor, now_s, joined.reset_epoch);
    let outcome = world.claims(claim).await;
    assert!(matches!(outcome, vestibule_store::ClaimOutcome::Repeated(_)), "{outcome:?}");
}

/// Neither a redemption nor a binding changes when a token ends: the record of before looks as new as that of after.
async fn what_was_noted_of_a_session_is_put_back(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let (line_before, config) = (line(&world).await, world.config().await);
    let records_before: Vec<(String, String)> = world.server.ask(cmd("HGETALL").arg(RECORDS)).await;
    let redeem =
        async |call| world.store.redeem(&world.room, joined.reset_epoch, 1, &[call]).await.unwrap();
    let touch = async |number, binding: &str| {
        let caller = CallerBindings::any_of(&[binding.parse().unwrap()]);
        let touch = Touch { caller, ..World::touch_of(number, &joined) };
        world.store.touch(&world.room, "k", "i", &[touch]).await.unwrap().remove(0)
    };
    assert_eq!(redeem(7).await, RedeemOutcome::Redeemed);
    assert!(touch(2, "n5").await.session.is_some(), "it is bound to who asks first");
    let seen = testimony(&world.snapshot().await);
    let seats = world.store.seats_on_record(&world.room).await.unwrap();
    go_back(&world, &line_before).await;
    for (number, record) in records_before {
        world.server.ask::<u64>(cmd("HSET").arg(RECORDS).arg(number).arg(record)).await;
    }
    world.reconcile_with(&[seen], &[], &config, (&seats, &[])).await;
    assert!(matches!(redeem(8).await, RedeemOutcome::Already(_)));
    assert_eq!(redeem(7).await, RedeemOutcome::Redeemed, "the same call");
    let stranger = touch(2, "n6").await;
    assert!(stranger.is_stranger, "{stranger:?}");
    assert!(touch(2, "n5").await.session.is_some());
}

/// The door is lost with the room.
async fn who_was_served_before_a_loss_is_passed_by_nobody_who_comes_first(world: World) {
    world.open(limited(1)).await;
    let joined = world.join(4, JoinMode::Enter).await;
    world.store.increment(&world.room, 3).await.unwrap();
    world.put(limited(3)).await;
    world.ripens();
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    world.reconcile_with(&[seen], &[], &config, (&[seat(1, &joined)], &[])).await;
    let ripe_at = world.clock.now_ms().next_multiple_of(100) + 1_250;
    let newcomer = world.join(1, JoinMode::Enter).await;
    assert_eq!((newcomer.first, newcomer.seated), (5, 0), "three may come for two seats");
    let asks = async || world.claims(world.claim_now(3).await).await;
    assert_eq!(asks().await, vestibule_store::ClaimOutcome::NoSeat, "2 may come");
    world.at(ripe_at);
    crate::world::token(asks().await);
}

async fn who_was_inside_before_the_ceiling_was_lowered_keeps_its_seat(world: World) {
    world.open(limited(5)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    world.put(limited(3)).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    let seats: Vec<_> = [1, 2, 4].map(|number| seat(number, &joined)).into();
    world.reconcile_with(&[seen], &[], &config, (&seats, &[])).await;
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed), (3, 2), "five were inside, and none of them left");
}

async fn a_deleted_room_can_be_made_anew_and_its_epoch_is_later(world: World) {
    world.open(limited(3)).await;
    world.clock.advance_ms(50);
    let epoch = world.store.reset(&world.room).await.unwrap();
    let deleted = world.store.delete_room(&world.room, None).await.unwrap();
    assert!(matches!(deleted, vestibule_store::Deletion::Done(_)));
    let tombstones = world.store.tombstones().await.unwrap();
    assert_eq!(tombstones.get(&world.room), Some(&epoch));
    // In the same millisecond.
    world.open(limited(3)).await;
    assert!(world.reset_epoch().await > epoch);
    assert!(!world.store.is_buried(&world.room, epoch).await.unwrap());
}

async fn what_was_told_in_a_round_that_never_ended_still_counts(world: World) {
    world.open(limited(3)).await;
    let room = &world.room;
    let told = async || {
        let accounts = world.store.accounts(room).await.unwrap();
        accounts.into_iter().map(|(name, account)| (name, account.round)).collect::<Vec<_>>()
    };
    let tell = async |name, round: &str| {
        let account = Account { round: round.to_owned(), ..Account::default() };
        world.store.testify(room, name, &account).await.unwrap();
    };
    let config = world.config().await;
    world.store.call_witnesses(room, 1, "first").await.unwrap();
    tell("a", "first").await;
    tell("b", "first").await;
    world.store.call_witnesses(room, 2, "second").await.unwrap();
    tell("b", "second").await;
    let both = [("a", "first"), ("b", "second")].map(|(name, it)| (name.into(), it.into()));
    assert_eq!(told().await, both, "a may have stopped");
    assert_eq!(world.reconcile(&[], &[], &config).await, Finding::IsLatest);
    world.store.call_witnesses(room, 2, "third").await.unwrap();
    assert_eq!(told().await, [], "the room was open meanwhile");
}

async fn whoever_stops_tells_of_rooms_that_went_back_and_of_no_others(world: World) {
    world.open(limited(3)).await;
    let early = line(&world).await;
    let joined = world.join(2, JoinMode::Enter).await;
    let room = &world.room;
    let stopped = async |name: &str| {
        let feed = Feed::new(world.another_store(), name.to_owned());
        feed.refresh().await.unwrap();
        feed
    };
    stopped("well").await.say_goodbye().await;
    assert_eq!(world.store.accounts(room).await.unwrap(), [].into());
    let late = stopped("late").await;
    // Of a round that ended.
    let told = Account { round: "before".to_owned(), ..Account::default() };
    world.store.testify(room, "earlier", &told).await.unwrap();
    go_back(&world, &early).await;
    late.say_goodbye().await;
    world.store.call_witnesses(room, 1, "round").await.unwrap();
    let accounts = world.store.accounts(room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["late"]);
    let seen = accounts["late"].testimony.as_ref().unwrap().queue_counter;
    assert_eq!((accounts["late"].is_last, seen), (true, joined.first + 1));
}

/// Or they would not exist for whoever starts next.
async fn whoever_stops_lists_the_rooms_that_redis_has_lost(world: World) {
    let knows = async |name: &str| {
        world.open(limited(3)).await;
        let feed = Feed::new(world.another_store(), name.to_owned());
        feed.refresh().await.unwrap();
        feed
    };
    let first = knows("first").await;
    world.store.delete_room(&world.room, None).await.unwrap();
    first.say_goodbye().await;
    assert_eq!(world.store.rooms().await.unwrap(), [], "it is deleted, and not lost");
    let last = knows("last").await;
    world.server.ask::<()>(cmd("FLUSHALL").arg("SYNC")).await;
    last.say_goodbye().await;
    assert_eq!(world.store.rooms().await.unwrap(), std::slice::from_ref(&world.room));
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["last"]);
}

async fn whoever_stops_while_redis_is_away_tells_it_once_it_is_back(world: World) {
    world.open(limited(3)).await;
    let early = line(&world).await;
    world.join(2, JoinMode::Enter).await;
    let (store, link) = LosesAnswers::of(&world);
    let feed = Feed::new(store, "late".to_owned());
    feed.refresh().await.unwrap();
    go_back(&world, &early).await;
    // A read is sent again once.
    link.lose(4);
    feed.say_goodbye().await;
    world.store.call_witnesses(&world.room, 1, "round").await.unwrap();
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["late"]);
    assert!(accounts["late"].is_last);
}

async fn whoever_stops_and_is_awaited_tells_it_though_the_room_is_open_again(world: World) {
    world.open(limited(3)).await;
    let early = line(&world).await;
    world.join(2, JoinMode::Enter).await;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    let feed = Feed::new(world.another_store(), "late".to_owned());
    feed.refresh().await.unwrap();
    go_back(&world, &early).await;
    world.reconcile(&[seen], &["late"], &config).await;
    feed.say_goodbye().await;
    let accounts = world.store.accounts(&world.room).await.unwrap();
    assert_eq!(accounts.keys().collect::<Vec<_>>(), ["late"]);
}

async fn whoever_an_operator_serves_no_more_loses_no_time_though_redis_forgets_it(world: World) {
    const ROWS: &str = "vestibule:room:{sale}:rows";
    world.open(RoomSettings { position_expiry_seconds: Some(10), ..RoomSettings::default() }).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 13).await.unwrap();
    let (before, config) = (line(&world).await, world.config().await);
    let rows: Vec<(String, u64)> =
        world.server.ask(cmd("ZRANGE").arg(ROWS).arg(0).arg(-1).arg("WITHSCORES")).await;
    assert_eq!(world.store.increment(&world.room, -8).await.unwrap(), 5);
    let seen = testimony(&world.snapshot().await);
    go_back(&world, &before).await;
    world.server.ask::<()>(cmd("DEL").arg(ROWS)).await;
    for (row, counter) in rows {
        world.server.ask::<()>(cmd("ZADD").arg(ROWS).arg(counter).arg(row)).await;
    }
    let found = world.reconcile(&[seen], &[], &config).await;
    assert!(matches!(found, Finding::IsBehind(_)), "{found:?}");
    world.seconds(12);
    world.tick(2).await;
    let after = world.snapshot().await;
    assert_eq!((after.serving_counter, after.expired), (5, 5));
    world.store.increment(&world.room, 8).await.unwrap();
    let claimed = world.claims(world.claim_now(12).await).await;
    assert!(matches!(claimed, ClaimOutcome::Entered(_)), "{claimed:?}");
}
