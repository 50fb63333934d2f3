//! Random rooms and pools that Redis lost while a service was silent: how many wait becomes right, and nobody is told
//! of people whom nobody has seen.

use vestibule_domain::{
    Draw, QueueingMethod, RoomSettings,
    draw::{DrawRecord, Pool},
    schedule::{Event, EventState},
};
use vestibule_store::{ClaimOutcome, JoinMode, SessionKind};

use crate::{
    crowd::{Crowd, Habit},
    events::{event, moment},
    world::{Leader, World, patient, testimony},
};

crate::on_every_server!(
    in_a_random_room_nobody_is_told_of_numbers_that_are_over,
    the_first_of_an_empty_random_room_enters_at_once,
    in_a_pool_and_after_its_draw_only_those_who_are_heard_wait,
    numbers_that_were_lost_are_not_all_taken_for_aws_style_visitors,
    an_aws_style_visitor_who_enters_after_a_loss_waits_no_more,
);

const SEATS: u64 = 5;
/// Within this time everyone who is there has been heard, in seconds.
const GATHERED: u64 = 75;

/// Seats are soon nobody's if their holders do not return.
fn random() -> RoomSettings {
    let queueing_method = QueueingMethod::Random;
    RoomSettings { queueing_method, session_duration_seconds: 10, ..patient(SEATS) }
}

/// A crowd in which everybody who leaves comes back as somebody else, for so long.
async fn busy(world: &World, people: usize, seconds: u64) -> Crowd<'_> {
    let mut crowd = Crowd::at(world).await;
    (crowd.step_ms, crowd.stay_ms) = (500, 2_000);
    crowd.join(&vec![Habit::OnTime; people]).await;
    for _ in 0..2 * seconds {
        let left = crowd.step().await;
        if !left.is_empty() {
            crowd.join(&vec![Habit::OnTime; left.len()]).await;
        }
    }
    crowd
}

/// Redis loses everything; who was inside does not come back, and a service is silent.
async fn lose(crowd: &mut Crowd<'_>) {
    let world = crowd.world;
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    world.seconds(1);
    world.reconcile(&[seen], &["silent"], &config).await;
    crowd.inside.clear();
    crowd.leader = Leader::new(2);
}

#[track_caller]
fn is_about(found: u64, expected: usize) {
    let expected = expected as u64;
    assert!(found.abs_diff(expected) <= 2 + expected / 10, "{found} instead of {expected}");
}

/// What somebody is told who comes now, in seconds: three of four will have entered by then.
fn longest_wait(crowd: &Crowd<'_>) -> f64 {
    let room = &crowd.room;
    let outlook = room.outlook(room.queue_counter + 1, room.now_ms, room.progress());
    outlook.wait.quartiles.map_or(0.0, |quartiles| quartiles[2])
}

async fn in_a_random_room_nobody_is_told_of_numbers_that_are_over(world: World) {
    world.open(random()).await;
    let mut crowd = busy(&world, 40, 200).await;
    assert!(crowd.entries.len() > 300, "{} entered", crowd.entries.len());
    is_about(crowd.room.waiting(), crowd.line.len());
    let told = longest_wait(&crowd);
    assert!(told > 0.0);
    lose(&mut crowd).await;
    for _ in 0..30 {
        crowd.seconds(1).await;
        let (waiting, most) = (crowd.room.waiting(), crowd.line.len() as u64 + SEATS);
        assert!(waiting <= most, "{waiting} for {}", crowd.line.len());
        let told_now = longest_wait(&crowd);
        assert!(told_now <= 4.0 * told, "{told_now} s instead of {told} s");
    }
    let entered = crowd.entries.len();
    crowd.seconds(5).await;
    assert!(crowd.entries.len() > entered || crowd.line.is_empty(), "nobody enters");
    crowd.stay_ms = 60_000;
    crowd.seconds(GATHERED - 35).await;
    is_about(crowd.room.waiting(), crowd.line.len());
}

async fn the_first_of_an_empty_random_room_enters_at_once(world: World) {
    world.open(random()).await;
    let mut crowd = busy(&world, 40, 100).await;
    while !crowd.line.is_empty() || !crowd.inside.is_empty() {
        crowd.step().await;
    }
    lose(&mut crowd).await;
    // Until then the seats may be those of somebody whom the silent service let in.
    crowd.seconds(13).await;
    let joined = crowd.join(&[Habit::OnTime]).await;
    let mut steps = 0;
    while !crowd.line.is_empty() {
        crowd.step().await;
        steps += 1;
        assert!(steps < 10, "{} waits for {} s", joined.first, steps / 2);
    }
}

async fn in_a_pool_and_after_its_draw_only_those_who_are_heard_wait(world: World) {
    let (draw_id, commitment) = ("d1".to_owned(), Some("ab".to_owned()));
    let prequeue_start = Some(moment(60));
    let sale = Event { prequeue_start, draw: true, draw_id, commitment, ..event("sale", 300, 900) };
    world.schedule(random(), std::slice::from_ref(&sale)).await;
    world.at(moment(60) * 1000);
    let mut crowd = Crowd::at(&world).await;
    crowd.step_ms = 500;
    crowd.leader.tick(&world).await;
    crowd.room = world.snapshot().await;
    crowd.join(&[Habit::OnTime; 50]).await;
    crowd.seconds(20).await;
    lose(&mut crowd).await;
    for _ in 0..GATHERED {
        crowd.seconds(1).await;
        assert!(crowd.room.waiting() <= 50 + SEATS, "{} wait", crowd.room.waiting());
    }
    is_about(crowd.room.waiting(), 50);
    crowd.join(&[Habit::OnTime; 5]).await;
    crowd.seconds(5).await;
    is_about(crowd.room.waiting(), 55);

    crowd.quiet_seconds((moment(300) * 1000 - world.clock.now_ms()) / 1000 + 1).await;
    let pool = world.try_begin(2).await.unwrap().pool;
    assert!(pool.is_closed(), "{pool:?}");
    drawn(&world, &sale, &pool).await;
    crowd.seconds(5).await;
    is_about(crowd.room.waiting(), crowd.line.len());
    crowd.seconds(GATHERED).await;
    is_about(crowd.room.waiting(), crowd.line.len());
    assert!(crowd.entries.len() > 10, "{} have entered", crowd.entries.len());
}

async fn drawn(world: &World, sale: &Event, pool: &Pool) {
    let draw = Draw::new(pool.first, pool.count(), [7; 32]);
    let promise = DrawRecord::before_draw(&world.room, sale, EventState::Running).unwrap();
    let record = promise.drawn(&draw, &[7; 32], None, world.clock.now_ms() / 1000);
    let draws = [draw];
    assert!(world.store.draw(&world.room, 2, pool, Some(&draws), Some(&record)).await.unwrap());
}

async fn numbers_that_were_lost_are_not_all_taken_for_aws_style_visitors(world: World) {
    world.open(RoomSettings { session_duration_seconds: 30, ..random() }).await;
    world.join(10, JoinMode::Queue).await;
    let mut crowd = busy(&world, 40, 200).await;
    assert!(crowd.entries.len() > 300, "{} entered", crowd.entries.len());
    assert_eq!(crowd.room.figures.unattended, 10);
    is_about(crowd.room.waiting(), crowd.line.len() + 10);
    lose(&mut crowd).await;
    crowd.stay_ms = 60_000;
    let served = crowd.room.serving_counter;
    crowd.seconds(GATHERED + 10).await;
    assert_eq!(crowd.room.serving_counter, served, "nobody is served in order");
    assert!(crowd.room.figures.unattended <= 10, "{:?}", crowd.room.figures);
    let (waiting, line) = (crowd.room.waiting(), crowd.line.len() as u64);
    assert!((line..=line + 12).contains(&waiting), "{waiting} for {line} and 10");
}

async fn an_aws_style_visitor_who_enters_after_a_loss_waits_no_more(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(20, JoinMode::Queue).await;
    let (mut seen, config) = (testimony(&world.snapshot().await), world.config().await);
    seen.last.figures.unattended = 20;
    world.server.flush().await;
    world.reconcile(&[seen], &[], &config).await;
    world.store.increment(&world.room, 5).await.unwrap();
    world.ripens();
    assert_eq!(world.tick(2).await.input.unattended, 20);
    let entered = world.claim(3, SessionKind::AwsStyle).await;
    assert!(matches!(entered, ClaimOutcome::Entered(_)), "{entered:?}");
    assert_eq!(world.tick(2).await.input.unattended, 19);
}
