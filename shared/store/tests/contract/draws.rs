//! The draw: who takes part, that nobody of them enters before it, and where they stand after it.

use std::collections::BTreeSet;

use vestibule_domain::{
    Draw, MAX_QUEUE_NUMBER, QueueingMethod, RoomSettings, RoomSnapshot,
    draw::{DrawRecord, Pool, Seed},
    reconciliation::{Testimony, UNSEEN_NUMBERS},
    schedule::{Event, EventState, Overrides},
};
use vestibule_store::{
    Claim, ClaimOutcome, GivenUp, JoinMode, PositionExpiry, Replacing, SessionKind, StoreError,
};

use crate::{
    crowd::{Crowd, Habit},
    events::{event, moment},
    restoring::wipe_and_reconcile,
    world::{Leader, World, limited, patient, testimony, token},
};

crate::on_every_server!(
    the_pool_is_who_joined_from_the_opening_until_the_start,
    a_pool_that_no_leader_looked_at_is_exact_too,
    a_pool_that_only_leaders_looked_at_is_exact_too,
    nobody_in_the_pool_enters_before_the_draw,
    after_the_draw_everyone_enters_by_the_place_that_was_drawn,
    nobody_enters_by_a_place_that_was_given_up_before_the_draw,
    a_drawn_position_expires_like_any_other,
    increments_after_a_draw_serve_so_many_places_of_it,
    reports_after_a_draw_do_not_wait_for_numbers_that_nobody_has,
    serving_before_the_draw_costs_nobody_its_position,
    a_draw_is_drawn_once,
    a_draw_of_another_pool_changes_nothing,
    nobody_came_early_into_an_empty_room,
    nobody_came_early_into_a_room_with_a_line,
    a_cancelled_draw_leaves_everyone_in_order_of_arrival,
    a_pre_queue_that_is_let_go_is_drawn_if_it_comes_together_again,
    a_reset_in_the_pre_queue_begins_the_pool_anew,
    a_draw_that_was_begun_before_a_reset_changes_nothing,
    two_draws_one_after_the_other_share_no_place,
    a_wiped_store_keeps_every_place_and_the_open_pool,
    a_record_that_is_lost_alone_is_missed,
    a_hundred_thousand_take_every_place_once,
);

const SEED: Seed = [7; 32];
const OPENS: u64 = 600;
const STARTS: u64 = 1_200;
pub(crate) const ENDS: u64 = 3_600;

pub(crate) fn ms(seconds: u64) -> u64 {
    moment(seconds) * 1000
}

pub(crate) fn sale() -> Event {
    let prequeue_start = Some(moment(OPENS));
    let (draw_id, commitment) = ("d1".to_owned(), Some("ab".to_owned()));
    Event { prequeue_start, draw: true, draw_id, commitment, ..event("sale", STARTS, ENDS) }
}

async fn pool(world: &World) -> Pool {
    world.try_begin(1).await.unwrap().pool
}

fn record(world: &World, event: &Event, draw: &Draw) -> DrawRecord {
    let promise = DrawRecord::before_draw(&world.room, event, EventState::Running).unwrap();
    promise.drawn(draw, &SEED, None, world.clock.now_ms() / 1000)
}

/// The same, as one of this reset epoch.
fn record_of(world: &World, event: &Event, draw: &Draw, reset_epoch: u64) -> DrawRecord {
    DrawRecord { reset_epoch: Some(reset_epoch), ..record(world, event, draw) }
}

/// Draws `pool` for `event`, as the leader does.
async fn try_draw(
    world: &World,
    epoch: u64,
    event: &Event,
    pool: &Pool,
) -> Result<bool, StoreError> {
    let room = world.snapshot().await;
    let first = if pool.is_empty() { room.queue_counter + 1 } else { pool.first };
    let draw = Draw::new(first, pool.count(), SEED);
    let record = record_of(world, event, &draw, room.reset_epoch);
    let draws: Vec<Draw> = room.draws.iter().cloned().chain([draw]).collect();
    let added = (!pool.is_empty()).then_some(draws.as_slice());
    world.store.draw(&world.room, epoch, pool, added, Some(&record)).await
}

/// Opens a room with the event and `early` people in its pre-queue, and stops at the start.
pub(crate) async fn collected(world: &World, settings: RoomSettings, early: u64) -> Pool {
    world.schedule(settings, &[sale()]).await;
    world.at(ms(OPENS));
    Leader::new(1).tick(world).await;
    world.join(early, JoinMode::Enter).await;
    world.at(ms(STARTS));
    Leader::new(1).tick(world).await;
    pool(world).await
}

fn claim_in(room: &RoomSnapshot, world: &World, number: u64) -> Claim {
    let now_s = world.clock.now_ms() / 1000;
    let claim = World::claim_of(number, SessionKind::Visitor, now_s, room.reset_epoch);
    let position = room.position(number);
    let rank = position.unwrap_or(MAX_QUEUE_NUMBER);
    Claim { position, rank, draws: room.draws.len(), ..claim }
}

async fn the_pool_is_who_joined_from_the_opening_until_the_start(world: World) {
    world.schedule(limited(2), &[sale()]).await;
    world.at(ms(OPENS) - 1);
    assert_eq!(world.join(5, JoinMode::Enter).await.pool, None);
    world.at(ms(OPENS));
    assert_eq!(world.join(1, JoinMode::Enter).await.pool, Some(0), "before any tick");
    Leader::new(1).tick(&world).await;
    assert_eq!(world.join(2, JoinMode::Queue).await.pool, Some(0));
    world.at(ms(STARTS) - 1);
    assert_eq!(world.join(3, JoinMode::Enter).await.pool, Some(0));
    world.at(ms(STARTS));
    assert_eq!(world.join(4, JoinMode::Enter).await.pool, None, "before any tick");
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (6, 11, "d1"));
    let room = world.snapshot().await;
    let waits = |number| room.awaits_draw(number);
    assert_eq!([5, 6, 11, 12].map(waits), [false, true, true, false]);
}

async fn a_pool_that_no_leader_looked_at_is_exact_too(world: World) {
    world.schedule(limited(2), &[sale()]).await;
    world.at(ms(OPENS) - 1);
    world.join(5, JoinMode::Enter).await;
    world.at(ms(OPENS));
    world.join(6, JoinMode::Enter).await;
    // Nobody turned a page: it is the put that notices.
    world.schedule(limited(3), &[sale()]).await;
    world.at(ms(STARTS) - 1);
    world.join(1, JoinMode::Enter).await;
    world.at(ms(STARTS));
    world.schedule(limited(4), &[sale()]).await;
    world.join(9, JoinMode::Enter).await;
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last), (6, 12));
}

async fn a_pool_that_only_leaders_looked_at_is_exact_too(world: World) {
    world.schedule(limited(2), &[sale()]).await;
    world.at(ms(OPENS) - 1);
    world.join(5, JoinMode::Enter).await;
    let mut leader = Leader::new(1);
    world.at(ms(OPENS));
    leader.tick(&world).await;
    let open = pool(&world).await;
    assert_eq!((open.first, open.last, open.is_closed()), (6, 0, false));
    world.join(6, JoinMode::Enter).await;
    world.at(ms(STARTS));
    leader.tick(&world).await;
    world.join(9, JoinMode::Enter).await;
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last, pool.count()), (6, 11, 6));
}

/// Whatever it claims, whatever the operator does, before the start and between start and draw.
async fn nobody_in_the_pool_enters_before_the_draw(world: World) {
    let overrides =
        Overrides { queueing_method: Some(QueueingMethod::Passthrough), ..Overrides::default() };
    let open = Event { overrides, ..sale() };
    world.schedule(limited(50), std::slice::from_ref(&open)).await;
    world.at(ms(OPENS));
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    world.join(20, JoinMode::Enter).await;
    world.store.increment(&world.room, 10).await.unwrap();
    for at in [ms(OPENS) + 1, ms(STARTS) - 1, ms(STARTS), ms(STARTS) + 5_000] {
        world.at(at);
        let room = world.snapshot().await;
        for number in [1, 7, 15, 20] {
            let known = claim_in(&room, &world, number);
            assert_eq!(known.position, None);
            assert_eq!(world.claims(known.clone()).await, ClaimOutcome::NotServed);
            for position in [0, 1, number, 20, 1_000_000] {
                for won in [false, true] {
                    let forged = Claim { position: Some(position), won, ..known.clone() };
                    let outcome = world.claims(forged).await;
                    let refused = matches!(outcome, ClaimOutcome::NoSeat | ClaimOutcome::NotServed);
                    assert!(refused, "{number} at {position}: {outcome:?}");
                }
            }
        }
        assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0);
        leader.tick(&world).await;
        let room = world.snapshot().await;
        assert_eq!((room.active, room.admitted, room.is_open()), (0, 0, false), "{at}");
    }
    let pool = pool(&world).await;
    assert!(try_draw(&world, 1, &open, &pool).await.unwrap());
    let room = world.snapshot().await;
    assert!(room.is_open(), "now the event's method is in force");
    token(world.claims(claim_in(&room, &world, 20)).await);
}

async fn after_the_draw_everyone_enters_by_the_place_that_was_drawn(world: World) {
    world.schedule(patient(2), &[sale()]).await;
    world.at(ms(OPENS) - 1);
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 6]).await;
    world.at(ms(OPENS));
    crowd.seconds(1).await;
    crowd.join(&[Habit::OnTime; 30]).await;
    crowd.quiet_seconds(STARTS - OPENS - 3).await;
    world.at(ms(STARTS));
    crowd.step().await;
    crowd.join(&[Habit::OnTime; 4]).await;
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last), (7, 36));
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    let room = world.snapshot().await;
    let place = |number| room.position(number).unwrap();
    let drawn: BTreeSet<u64> = (7..=36).map(place).collect();
    assert_eq!(drawn, (7..=36).collect(), "each place once");
    assert_ne!((7..=36).map(place).collect::<Vec<_>>(), (7..=36).collect::<Vec<_>>());
    assert_eq!([1, 6, 37, 40].map(place), [1, 6, 37, 40], "those before and after keep theirs");
    crowd.seconds(250).await;
    let entered: Vec<u64> = crowd.entered().into_iter().map(place).collect();
    assert_eq!(entered.len(), 40, "all got in");
    let overtaken = entered.iter().enumerate().map(|(nth, place)| place.abs_diff(nth as u64 + 1));
    assert!(overtaken.max().unwrap() <= 4, "{entered:?}");
    assert_eq!(room.admitted, 2);
    assert_eq!(world.snapshot().await.admitted, 40);
}

async fn nobody_enters_by_a_place_that_was_given_up_before_the_draw(world: World) {
    let numbers = [2, 5];
    let give_up = async |draws: usize, position: Option<u64>| {
        let places = numbers.map(|number| GivenUp { number, position, network: None });
        let seen = (world.reset_epoch().await, draws);
        world.store.give_up(&world.room, seen, &places).await.unwrap()
    };
    world.schedule(patient(8), &[sale()]).await;
    world.at(ms(OPENS));
    Leader::new(1).tick(&world).await;
    world.join(8, JoinMode::Enter).await;
    assert_eq!(give_up(0, None).await, [true, true]);
    world.at(ms(STARTS));
    Leader::new(1).tick(&world).await;
    let drawn = pool(&world).await;
    assert!(try_draw(&world, 1, &sale(), &drawn).await.unwrap());
    world.store.increment(&world.room, 8).await.unwrap();
    world.ripens();
    let room = world.snapshot().await;
    for number in 1..=8 {
        let outcome = world.claims(claim_in(&room, &world, number)).await;
        let is_over = matches!(outcome, ClaimOutcome::SessionEnded);
        assert_eq!(is_over, numbers.contains(&number), "{number}: {outcome:?}");
    }
    assert!(!give_up(1, room.position(2)).await[0], "they are over");
    assert_eq!(world.snapshot().await.admitted, 6);
}

/// Of 40 who are drawn, and as many numbers that nobody has as are left out where somebody is silent.
async fn draw_with_a_gap(world: &World) {
    world.schedule(RoomSettings::default(), &[sale()]).await;
    world.at(ms(OPENS));
    Leader::new(2).tick(world).await;
    world.join(20, JoinMode::Enter).await;
    wipe_and_reconcile(world, |_| {}, &["a"]).await;
    world.join(20, JoinMode::Enter).await;
    world.at(ms(STARTS));
    Leader::new(2).tick(world).await;
    let pool = world.try_begin(2).await.unwrap().pool;
    assert!(pool.count() > UNSEEN_NUMBERS, "{pool:?}");
    assert!(try_draw(world, 2, &sale(), &pool).await.unwrap());
}

/// Numbers that nobody has are drawn with the others, so nobody knows whose places they have.
async fn increments_after_a_draw_serve_so_many_places_of_it(world: World) {
    draw_with_a_gap(&world).await;
    assert_eq!(world.store.increment(&world.room, 30).await.unwrap(), 30);
    assert_eq!(world.store.increment(&world.room, 5).await.unwrap(), 35);
}

/// Nor is it waited for as many as are nobody's, in the mean.
async fn reports_after_a_draw_do_not_wait_for_numbers_that_nobody_has(world: World) {
    draw_with_a_gap(&world).await;
    let reset_epoch = world.reset_epoch().await;
    for nth in 1..=5 {
        let replacing = Replacing { reset_epoch, departures: &[], exited: 10, max_size: 10 };
        let name = format!("report-{nth}");
        let report = world.store.replace_gone(&world.room, &name, replacing).await.unwrap();
        assert!(report.by >= 5, "{nth}: {report:?}");
    }
}

async fn a_drawn_position_expires_like_any_other(world: World) {
    let pool = collected(&world, RoomSettings::default(), 10).await;
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    world.store.increment(&world.room, 3).await.unwrap();
    let room = world.snapshot().await;
    let number_at = |place| (1..=10).find(|number| room.position(*number) == Some(place)).unwrap();
    let left = async |number| {
        let claim = claim_in(&room, &world, number);
        let place = vestibule_domain::Place { entered_at: 0, ..claim.place };
        let position = room.position(number).unwrap();
        world.store.position_expiry(&world.room, room.reset_epoch, &place, position).await.unwrap()
    };
    let (second, third, fourth) = (number_at(2), number_at(3), number_at(4));
    assert_eq!(left(third).await, PositionExpiry::Claimable { seconds_left: 900 });
    assert_eq!(left(fourth).await, PositionExpiry::NotServed);
    world.seconds(900);
    world.tick(1).await;
    let aws = |number| {
        let claim = claim_in(&room, &world, number);
        let place = vestibule_domain::Place { entered_at: 0, ..claim.place };
        Claim { kind: SessionKind::AwsStyle, place, ..claim }
    };
    let last = RoomSettings { total_active_users: Some(9), ..RoomSettings::default() };
    world.schedule(last, &[sale()]).await;
    token(world.claims(aws(second)).await);
    world.seconds(1);
    world.tick(1).await;
    assert_eq!(world.claims(aws(third)).await, ClaimOutcome::PositionExpired);
    let room = world.snapshot().await;
    assert_eq!((room.expired_position, room.expired), (3, 2), "one of three entered");
}

/// An operator serves the line long before the draw.
async fn serving_before_the_draw_costs_nobody_its_position(world: World) {
    let short = RoomSettings { position_expiry_seconds: Some(60), ..limited(50) };
    world.schedule(short, &[sale()]).await;
    world.at(ms(OPENS));
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    world.join(10, JoinMode::Enter).await;
    world.store.increment(&world.room, 10).await.unwrap();
    while world.clock.now_ms() < ms(STARTS) {
        world.seconds(10);
        leader.tick(&world).await;
    }
    let pool = pool(&world).await;
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    leader.tick(&world).await;
    let room = world.snapshot().await;
    assert_eq!(room.expired_position, 0, "its time runs from the draw");
    for number in 1..=10 {
        let claim = claim_in(&room, &world, number);
        let entered_at = u32::try_from(moment(OPENS)).unwrap();
        let place = vestibule_domain::Place { entered_at, ..claim.place };
        token(world.claims(Claim { place, ..claim }).await);
    }
}

async fn a_draw_is_drawn_once(world: World) {
    let pool = collected(&world, limited(5), 10).await;
    assert!(try_draw(&world, 8, &sale(), &pool).await.unwrap());
    let drawn = world.snapshot().await;
    let published = world.store.read_draws(&world.room).await.unwrap();
    assert_eq!(published["d1"].participants, Some(10));
    let stale = try_draw(&world, 7, &sale(), &pool).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })), "{stale:?}");
    assert!(!try_draw(&world, 8, &sale(), &pool).await.unwrap());
    let empty = Pool { first: 0, last: 0, ..pool };
    assert!(!try_draw(&world, 9, &sale(), &empty).await.unwrap());
    let after = world.snapshot().await;
    assert_eq!((after.draws, after.pool_first), (drawn.draws, 0));
    assert_eq!(world.store.read_draws(&world.room).await.unwrap(), published);
    let room = world.snapshot().await;
    let claim = claim_in(&room, &world, 1);
    assert_ne!(world.claims(claim).await, ClaimOutcome::SessionEnded);
}

async fn a_draw_of_another_pool_changes_nothing(world: World) {
    let pool = collected(&world, limited(5), 10).await;
    for other in [
        Pool { last: 9, ..pool.clone() },
        Pool { first: 2, ..pool.clone() },
        Pool { first: 0, last: 0, ..pool.clone() },
    ] {
        assert!(!try_draw(&world, 1, &sale(), &other).await.unwrap(), "{other:?}");
    }
    let room = world.snapshot().await;
    assert_eq!((room.draws.len(), room.pool_first, room.pool_last), (0, 1, 10));
    assert!(world.store.read_draws(&world.room).await.unwrap().is_empty());
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
}

async fn nobody_came_early_into_an_empty_room(world: World) {
    let pool = collected(&world, limited(5), 0).await;
    assert!(pool.is_empty(), "nobody waits for it: {pool:?}");
    let room = world.snapshot().await;
    assert!(!room.is_held() && !room.awaits_draw(1));
    let joined = world.join(3, JoinMode::Enter).await;
    assert_eq!((joined.seated, joined.pool), (3, None), "whoever comes after the start enters");
    let nobody = Pool { first: 0, last: 0, draw_id: "d1".into() };
    assert!(try_draw(&world, 1, &sale(), &nobody).await.unwrap());
    assert!(!try_draw(&world, 1, &sale(), &nobody).await.unwrap());
    let room = world.snapshot().await;
    assert_eq!((room.draws.len(), room.position(2)), (0, Some(2)));
    let published = world.store.read_draws(&world.room).await.unwrap();
    assert_eq!(published["d1"].participants, Some(0));
    token(world.claims(claim_in(&room, &world, 2)).await);
}

async fn nobody_came_early_into_a_room_with_a_line(world: World) {
    world.schedule(limited(1), &[sale()]).await;
    world.join(4, JoinMode::Enter).await;
    let pool = collected(&world, limited(1), 0).await;
    assert!(pool.is_empty(), "{pool:?}");
    let room = world.snapshot().await;
    assert!(!room.is_held() && (1..=9).all(|number| room.position(number) == Some(number)));
    assert_eq!(world.join(1, JoinMode::Enter).await.pool, None);
    Leader::new(1).tick(&world).await;
    world.ripens();
    token(world.claims(claim_in(&room, &world, 2)).await);
}

async fn a_cancelled_draw_leaves_everyone_in_order_of_arrival(world: World) {
    world.schedule(limited(5), &[sale()]).await;
    world.at(ms(OPENS));
    world.join(8, JoinMode::Enter).await;
    world.schedule(limited(5), &[]).await;
    assert_eq!(world.join(1, JoinMode::Enter).await.pool, None, "the pool is closed");
    assert_eq!(world.claims(world.claim_now(1).await).await, ClaimOutcome::NotServed);
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (1, 8, "d1"));
    let record = DrawRecord::cancelled(&world.room, &SEED);
    let cancel = || world.store.draw(&world.room, 1, &pool, None, Some(&record));
    assert!(cancel().await.unwrap());
    assert!(!cancel().await.unwrap(), "once");
    Leader::new(1).tick(&world).await;
    world.ripens();
    let room = world.snapshot().await;
    assert!((1..=9).all(|number| room.position(number) == Some(number)));
    for number in 1..=5 {
        token(world.claims(claim_in(&room, &world, number)).await);
    }
    assert_eq!(world.store.read_draws(&world.room).await.unwrap()["d1"], record);
}

async fn a_pre_queue_that_is_let_go_is_drawn_if_it_comes_together_again(world: World) {
    let off = Event { suspended: true, ..sale() };
    world.schedule(limited(5), &[sale()]).await;
    world.at(ms(OPENS));
    world.join(8, JoinMode::Enter).await;
    world.schedule(limited(5), &[off]).await;
    let waiting = pool(&world).await;
    assert!(waiting.is_closed());
    assert!(world.store.draw(&world.room, 1, &waiting, None, None).await.unwrap());
    assert!(world.store.read_draws(&world.room).await.unwrap().is_empty(), "nothing is revealed");
    assert!(!world.snapshot().await.is_held());
    world.schedule(limited(5), &[sale()]).await;
    world.join(7, JoinMode::Enter).await;
    world.at(ms(STARTS));
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last), (9, 15));
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    let room = world.snapshot().await;
    assert_eq!(room.position(8), Some(8));
    let drawn: BTreeSet<u64> = (9..=15).filter_map(|number| room.position(number)).collect();
    assert_eq!(drawn, (9..=15).collect());
}

async fn a_reset_in_the_pre_queue_begins_the_pool_anew(world: World) {
    world.schedule(limited(5), &[sale()]).await;
    world.at(ms(OPENS));
    Leader::new(1).tick(&world).await;
    world.join(8, JoinMode::Enter).await;
    world.store.reset(&world.room).await.unwrap();
    let room = world.snapshot().await;
    assert!(room.is_held(), "the pre-queue is still open");
    let joined = world.join(4, JoinMode::Enter).await;
    assert_eq!((joined.first, joined.seated, joined.pool), (1, 0, Some(0)));
    world.at(ms(STARTS));
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (1, 4, "d1"));
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    world.store.reset(&world.room).await.unwrap();
    let room = world.snapshot().await;
    assert_eq!((room.draws.len(), room.position(3)), (0, Some(3)));
    assert_eq!(world.join(2, JoinMode::Enter).await.seated, 2);
    token(world.claims(claim_in(&room, &world, 1)).await);
}

/// Its beacon may be awaited for half a minute. Of whom the record spoke nobody could tell.
async fn a_draw_that_was_begun_before_a_reset_changes_nothing(world: World) {
    let pool = collected(&world, limited(5), 0).await;
    assert!(pool.is_empty());
    let before = world.snapshot().await.reset_epoch;
    world.store.reset(&world.room).await.unwrap();
    let after = world.snapshot().await.reset_epoch;
    let publish = async |reset_epoch| {
        let record = record_of(&world, &sale(), &Draw::new(1, 0, SEED), reset_epoch);
        let pool = Pool { draw_id: "d1".into(), ..Pool::default() };
        world.store.draw(&world.room, 1, &pool, None, Some(&record)).await.unwrap()
    };
    assert!(!publish(before).await);
    assert!(world.store.read_draws(&world.room).await.unwrap().is_empty());
    assert!(publish(after).await);
    let records = world.store.read_draws(&world.room).await.unwrap();
    assert_eq!(records["d1"].reset_epoch, Some(after));
}

async fn two_draws_one_after_the_other_share_no_place(world: World) {
    let second = Event {
        prequeue_start: Some(moment(ENDS)),
        draw_id: "d2".into(),
        ..Event { name: event("second", 0, 1).name, start: moment(ENDS + 600), ..sale() }
    };
    let second = Event { end: moment(ENDS + 1_200), ..second };
    let events = [sale(), second.clone()];
    world.schedule(limited(5), &events).await;
    let mut leader = Leader::new(1);
    world.at(ms(OPENS));
    leader.tick(&world).await;
    world.join(9, JoinMode::Enter).await;
    world.at(ms(STARTS));
    leader.tick(&world).await;
    let first = pool(&world).await;
    assert!(try_draw(&world, 1, &sale(), &first).await.unwrap());
    world.join(3, JoinMode::Enter).await;
    world.at(ms(ENDS));
    leader.tick(&world).await;
    assert_eq!(world.join(11, JoinMode::Enter).await.pool, Some(1), "the second draw's index");
    world.at(ms(ENDS + 600));
    leader.tick(&world).await;
    let pool = pool(&world).await;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (13, 23, "d2"));
    let before = world.snapshot().await;
    assert!(try_draw(&world, 1, &second, &pool).await.unwrap());
    let room = world.snapshot().await;
    let places: BTreeSet<u64> = (1..=23).filter_map(|number| room.position(number)).collect();
    assert_eq!(places, (1..=23).collect());
    assert!((1..=12).all(|number| room.position(number) == before.position(number)));
    let stale = claim_in(&before, &world, 1);
    assert_eq!(world.claims(stale).await, ClaimOutcome::NotServed, "it knows of one draw only");
}

async fn a_record_that_is_lost_alone_is_missed(world: World) {
    let pool = collected(&world, limited(5), 40).await;
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    world.server.ask::<()>(redis::cmd("DEL").arg("vestibule:room:{sale}:draws")).await;
    let again = try_draw(&world, 1, &sale(), &pool).await;
    assert!(matches!(again, Err(StoreError::Rewound)), "{again:?}");
}

async fn a_wiped_store_keeps_every_place_and_the_open_pool(world: World) {
    let second = Event { draw_id: "d2".into(), prequeue_start: Some(moment(ENDS)), ..sale() };
    let second = Event { start: moment(ENDS + 600), end: moment(ENDS + 1_200), ..second };
    let second = Event { name: event("second", 0, 1).name, ..second };
    let pool_1 = collected(&world, limited(5), 40).await;
    assert!(try_draw(&world, 1, &sale(), &pool_1).await.unwrap());
    world.schedule(limited(5), &[sale(), second.clone()]).await;
    world.join(3, JoinMode::Enter).await;
    world.at(ms(ENDS));
    Leader::new(1).tick(&world).await;
    world.join(7, JoinMode::Enter).await;
    let last = world.snapshot().await;
    let (config, drawn) =
        (world.config().await, world.store.read_draws(&world.room).await.unwrap());
    world.server.flush().await;
    world.seconds(3);
    let seen = Testimony { queue_counter: 52, ..testimony(&last) };
    world.reconcile(&[seen], &[], &config).await;
    world.store.restore_draws(&world.room, &drawn).await.unwrap();
    let back = world.snapshot().await;
    for number in 1..=52 {
        assert_eq!(back.position(number), last.position(number), "{number}");
    }
    assert_eq!((back.pool_first, back.pool_last), (44, 0), "the pool is open");
    assert_eq!(world.store.read_draws(&world.room).await.unwrap(), drawn);
    let joined = world.join(5, JoinMode::Enter).await;
    assert_eq!(joined.pool, Some(1));
    assert!(joined.first > 52);
    assert_eq!(world.claims(claim_in(&back, &world, 50)).await, ClaimOutcome::NotServed);
    world.at(ms(ENDS + 600));
    let mut leader = Leader::new(2);
    leader.tick(&world).await;
    world.join(1, JoinMode::Enter).await;
    let pool = world.try_begin(2).await.unwrap().pool;
    assert_eq!((pool.first, pool.last, pool.draw_id.as_str()), (44, joined.first + 4, "d2"));
    assert!(try_draw(&world, 2, &second, &pool).await.unwrap());
    let room = world.snapshot().await;
    let holders = (44..=52).chain(joined.first..joined.first + 5);
    let places: Vec<u64> = holders.filter_map(|number| room.position(number)).collect();
    assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), 14);
    assert!(places.iter().all(|place| (44..=joined.first + 4).contains(place)));
    for number in 1..=43 {
        assert_eq!(room.position(number), last.position(number), "the first draw stands");
    }
}

async fn a_hundred_thousand_take_every_place_once(world: World) {
    const CROWD: u64 = 100_000;
    world.schedule(limited(9), &[sale()]).await;
    world.join(17, JoinMode::Enter).await;
    world.at(ms(OPENS));
    Leader::new(1).tick(&world).await;
    for _ in 0..10 {
        world.join(CROWD / 10, JoinMode::Enter).await;
    }
    // More come only where a leader sees it.
    world.try_begin(1).await.unwrap();
    world.at(ms(STARTS));
    world.join(5, JoinMode::Enter).await;
    let pool = pool(&world).await;
    assert_eq!(pool.count(), CROWD);
    assert!(try_draw(&world, 1, &sale(), &pool).await.unwrap());
    let room = world.snapshot().await;
    let mut taken = vec![false; usize::try_from(CROWD).unwrap() + 22];
    for number in 1..=CROWD + 22 {
        let place = usize::try_from(claim_in(&room, &world, number).position.unwrap()).unwrap();
        assert!(!std::mem::replace(&mut taken[place - 1], true), "{number}: {place} is taken");
    }
    assert!(taken.into_iter().all(|taken| taken));
}
