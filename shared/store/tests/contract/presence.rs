//! Presence: who is still there, who counts as waiting, and who keeps its place.

use vestibule_domain::{
    QueueingMethod, RoomSettings,
    poll::WaiterState,
    presence::{Band, Spot},
    schedule::Event,
};
use vestibule_store::JoinMode;

use crate::{
    crowd::{Crowd, Habit},
    events::{event, moment},
    world::{Leader, START_MS, World, limited, patient, people},
};

crate::on_every_server!(
    a_hidden_tab_is_there_for_more_than_a_minute_and_gone_after,
    whoever_closed_the_tab_is_not_waiting_and_holds_no_slot,
    a_winner_is_counted_once,
    whoever_waits_for_a_draw_is_counted_once,
    everyone_in_a_pool_counts_once_however_it_is_heard,
    whoever_waited_for_a_draw_that_was_called_off_counts_once,
    a_pause_of_all_leaders_is_held_against_nobody,
    every_tick_notes_its_time,
    a_place_is_kept_for_the_grace_time,
);

/// Each looks for the last time at another moment of a generation.
async fn a_hidden_tab_is_there_for_more_than_a_minute_and_gone_after(world: World) {
    world.open(patient(0)).await;
    let mut crowd = Crowd::at(&world).await;
    for _ in 0..8 {
        crowd.join(&[Habit::Hidden]).await;
        crowd.seconds(5).await;
    }
    let looked: Vec<u64> = crowd.line.values().map(|visitor| visitor.looks_at - 60_000).collect();
    let is_there = async |ms: u64| {
        world.at(ms);
        let there = world.begin(1).await.input.there;
        (0..8).map(|after| people(&there, after, after + 1) == 1).collect::<Vec<bool>>()
    };
    for (nth, at) in looked.iter().enumerate() {
        assert!(is_there(at + 64_000).await[nth], "{nth} is late, and still there");
    }
    let last = looked.iter().max().unwrap();
    assert_eq!(is_there(last + 96_000).await, [false; 8]);
}

async fn whoever_closed_the_tab_is_not_waiting_and_holds_no_slot(world: World) {
    world.open(patient(4)).await;
    let mut crowd = Crowd::at(&world).await;
    let habits = [[Habit::OnTime; 20], [Habit::Hidden; 20]].concat();
    crowd.stay_ms = 600_000;
    crowd.join(&habits).await;
    crowd.seconds(70).await;
    assert_eq!(crowd.room.figures.waiting, 36);
    for number in 10..=19 {
        crowd.closes_the_tab(number);
    }
    crowd.seconds(100).await;
    assert_eq!(crowd.room.figures.waiting, 26, "hidden tabs are there, closed ones are not");
    assert_eq!(crowd.room.people_ahead(21, crowd.room.progress()), 6);
    let served = crowd.room.serving_counter;
    assert!(served < 10, "{served}");
    // Four seats come free at once: those who closed the tab are passed over.
    crowd.inside.iter_mut().for_each(|(_, until)| *until = 0);
    crowd.seconds(4).await;
    let entered = crowd.entered();
    assert_eq!(entered.len(), 8, "every seat is taken: {entered:?}");
    // 20 is the sixth of those who are there, so it stands by at the door; nobody else behind does.
    let in_front = |number: &u64| *number < 10 || *number == 20;
    assert!(entered.iter().all(in_front), "by those in front: {entered:?}");
    crowd.inside.iter_mut().for_each(|(_, until)| *until = 0);
    crowd.seconds(63).await;
    assert!(!crowd.line.contains_key(&20), "the next who is there is in");
    assert!(crowd.room.active == 4, "hidden tabs get in when they look");
}

async fn a_winner_is_counted_once(world: World) {
    let method = QueueingMethod::Random;
    world.open(RoomSettings { queueing_method: method, ..patient(5) }).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 105]).await;
    let mut at_door = 0;
    for _ in 0..160 {
        let line = crowd.line.len() as u64;
        crowd.step().await;
        let waiting = crowd.room.figures.waiting;
        assert!(waiting.abs_diff(line) <= 1, "{waiting} of {line}");
        at_door = at_door.max(world.begin(1).await.input.at_door);
    }
    assert!(at_door > 0, "some stand at the door: the seats are taken");
    crowd.stay_ms = 900_000;
    crowd.inside.iter_mut().for_each(|(_, until)| *until += 900_000);
    crowd.seconds(70).await;
    let (tick, line) = (world.begin(1).await, crowd.line.len() as u64);
    assert_eq!(people(&tick.input.there, 0, 105), line, "winners among them");
    assert_eq!(crowd.room.figures.waiting, line);
    let won = crowd.line.keys().filter(|number| crowd.claim_of(**number).won).count();
    assert_eq!(tick.input.at_door, won as u64);
}

/// A pre-queue opens after a minute, and nine minutes later there is a draw.
fn draw_of_a_sale() -> Event {
    let prequeue_start = Some(moment(60));
    Event { prequeue_start, draw: true, draw_id: "d".into(), ..event("sale", 600, 900) }
}

async fn whoever_waits_for_a_draw_is_counted_once(world: World) {
    world.schedule(patient(3), &[draw_of_a_sale()]).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.stay_ms = 900_000;
    crowd.join(&[Habit::OnTime; 10]).await;
    crowd.seconds(61).await;
    crowd.join(&[Habit::OnTime; 20]).await;
    crowd.join(&[Habit::Hidden; 5]).await;
    for _ in 0..10 {
        crowd.seconds(14).await;
        assert_eq!(crowd.room.figures.waiting, 32, "7 before the pool and 25 in it");
    }
    assert_eq!(people(&world.begin(1).await.input.there, 10, 35), 25);
    for number in 11..=20 {
        crowd.closes_the_tab(number);
    }
    crowd.seconds(100).await;
    assert_eq!(crowd.room.figures.waiting, 22);
}

/// Of a pool that an instance has not heard of yet, and of AWS-style clients in it.
async fn everyone_in_a_pool_counts_once_however_it_is_heard(world: World) {
    world.schedule(patient(1), &[draw_of_a_sale()]).await;
    let mut leader = Leader::new(1);
    world.join(1, JoinMode::Enter).await;
    world.join(2, JoinMode::Queue).await;
    world.seconds(61);
    leader.tick(&world).await;
    world.join(3, JoinMode::Enter).await;
    world.join(2, JoinMode::Queue).await;
    let waiting = async |leader: &mut Leader| {
        world.seconds(1);
        leader.tick(&world).await;
        leader.tick(&world).await;
        world.snapshot().await.figures.waiting
    };
    assert_eq!(waiting(&mut leader).await, 7, "the AWS-style clients, too");
    let band = Band::for_interval(0);
    let late = [2, 4, 7].map(|number| (Spot::Position(number), band));
    let told = [4, 5, 7].map(|number| (Spot::Pool { draw: 0, number }, band));
    for check_ins in [late, told] {
        world.store.check_in(&world.room, world.reset_epoch().await, check_ins).await.unwrap();
        assert_eq!(waiting(&mut leader).await, 7);
    }
    for _ in 0..10 {
        world.seconds(10);
        leader.tick(&world).await;
    }
    assert_eq!(waiting(&mut leader).await, 4, "of those nobody knows more than before");
}

/// The next draw's pool has the same name, and bits last longer than a pre-queue that was called off.
async fn whoever_waited_for_a_draw_that_was_called_off_counts_once(world: World) {
    world.schedule(patient(1), &[draw_of_a_sale()]).await;
    world.seconds(61);
    let mut leader = Leader::new(1);
    leader.tick(&world).await;
    world.join(30, JoinMode::Enter).await;
    leader.tick(&world).await;
    world.schedule(patient(1), &[]).await;
    let pool = world.try_begin(1).await.unwrap().pool;
    assert!(world.store.draw(&world.room, 1, &pool, None, None).await.unwrap());
    let asked = (1..=30).map(|number| (Spot::Position(number), Band::for_interval(0)));
    world.store.check_in(&world.room, world.reset_epoch().await, asked).await.unwrap();
    let another = Event { draw_id: "d2".into(), ..draw_of_a_sale() };
    world.schedule(patient(1), &[another]).await;
    world.join(10, JoinMode::Enter).await;
    for _ in 0..3 {
        world.seconds(1);
        leader.tick(&world).await;
    }
    let room = world.snapshot().await;
    assert_eq!((room.pool_first, room.queue_counter, room.figures.waiting), (31, 40, 40));
}

async fn a_pause_of_all_leaders_is_held_against_nobody(world: World) {
    world.open(patient(2)).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.stay_ms = 3_600_000;
    crowd.join(&[Habit::OnTime; 42]).await;
    crowd.seconds(10).await;
    let before = crowd.now_ms();
    world.clock.advance_ms(15_000);
    crowd.all_look().await;
    crowd.leader.tick(&world).await;
    assert_eq!(world.snapshot().await.excused_until_ms, 0, "15 s are no pause");
    world.clock.advance_ms(400_000);
    // Nobody has ticked yet: whoever looks first is not blamed either, once a leader is back.
    Leader::new(2).tick(&world).await;
    let now = world.clock.now_ms();
    assert_eq!(now, before + 415_000);
    assert_eq!(world.snapshot().await.excused_until_ms, now);
    let tick = world.begin(2).await;
    assert!(tick.is_gathering());
    assert_eq!(tick.waiting(), 40, "everyone who is not inside");
    crowd.leader = Leader::new(2);
    crowd.room = world.snapshot().await;
    for number in 3..=42 {
        let state = crowd.look(number).state;
        assert_ne!(state, WaiterState::Expired, "{number}: 400 s without a check-in");
    }
    crowd.send().await;
    world.clock.advance_ms(14_000);
    crowd.leader.tick(&world).await;
    assert_eq!(world.snapshot().await.excused_until_ms, now, "no other pause");
}

async fn every_tick_notes_its_time(world: World) {
    world.open(limited(2)).await;
    let ticked_at = async || {
        let mut read = redis::cmd("HGET");
        let read = read.arg("vestibule:room:{sale}:line").arg("ticked_at");
        world.server.ask::<Option<u64>>(read).await
    };
    assert_eq!(ticked_at().await, None);
    world.seconds(4_000);
    world.tick(3).await;
    assert_eq!(ticked_at().await, Some(START_MS + 4_000_000));
    assert_eq!(world.snapshot().await.excused_until_ms, 0, "a room's first tick ends no pause");
    world.seconds(1);
    world.tick(3).await;
    assert_eq!(ticked_at().await, Some(START_MS + 4_001_000));
    world.seconds(1);
    assert!(world.try_begin(2).await.is_err(), "a stale leader");
    assert_eq!(ticked_at().await, Some(START_MS + 4_001_000), "and it does not count");
    world.store.reset(&world.room).await.unwrap();
    world.seconds(100);
    world.tick(3).await;
    assert_eq!(world.snapshot().await.excused_until_ms, 0, "nor does the first after a reset");
}

async fn a_place_is_kept_for_the_grace_time(world: World) {
    world.open(RoomSettings { presence_grace_seconds: Some(120), ..patient(1) }).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.stay_ms = 3_600_000;
    crowd.join(&[Habit::OnTime; 30]).await;
    crowd.seconds(5).await;
    let (kept, lost) = (crowd.closes_the_tab(9), crowd.closes_the_tab(11));
    let due = kept.waiter.due_at();
    assert!(lost.waiter.due_at() < due + 20_000);
    while crowd.now_ms() + 250 <= due + 120_000 {
        crowd.step().await;
    }
    crowd.line.insert(9, kept);
    let back = crowd.look(9);
    assert_eq!(back.state, WaiterState::Waiting);
    assert_eq!(crowd.room.position(9), Some(9));
    crowd.send().await;
    crowd.seconds(21).await;
    crowd.line.insert(11, lost);
    assert_eq!(crowd.look(11).state, WaiterState::Expired);
}
