//! Presence: who is still there, who counts as waiting, and who keeps its place.

use vestibule_domain::{Lease, QueueingMethod, RoomSettings, poll::WaiterState, presence::Spot};
use vestibule_store::JoinMode;

use crate::{
    crowd::{Crowd, Habit},
    events::{event, moment},
    world::{Leader, START_MS, World, limited, patient},
};

crate::on_every_server!(
    a_hidden_tab_is_there_for_62_seconds_and_gone_after,
    whoever_closed_the_tab_is_not_waiting_and_holds_no_slot,
    a_winner_is_counted_once,
    whoever_waits_for_a_draw_is_counted_once,
    leases_that_are_gone_are_swept,
    a_pause_of_all_leaders_is_held_against_nobody,
    every_tick_notes_its_time,
    a_place_is_kept_for_the_grace_time,
);

async fn a_hidden_tab_is_there_for_62_seconds_and_gone_after(world: World) {
    world.open(patient(0)).await;
    world.join(3, JoinMode::Queue).await;
    let epoch = world.reset_epoch().await;
    let lease = Lease::granted(Spot::Position(2), 0, world.clock.now_ms(), 1_000);
    world.store.check_in(&world.room, epoch, [(lease, 1)]).await.unwrap();
    let lapses = u64::from(lease.slice) * 1000;
    let seen = async |ms: u64| {
        world.at(ms);
        let input = world.store.begin_tick(&world.room, &[], 1).await.unwrap().input;
        // The three AWS-style ones stand at 1 to 3 too.
        let more = |crowd: f64| crowd > 3.5;
        (more(input.attending.between(0, 3)), more(input.there.between(0, 3)))
    };
    assert_eq!(seen(lapses).await, (true, true));
    assert_eq!(seen(lapses + 1).await, (false, true), "overdue, and still there");
    assert_eq!(seen(lapses + 62_000).await, (false, true));
    assert_eq!(seen(lapses + 62_001).await, (false, false));
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
    crowd.seconds(90).await;
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
    crowd.stay_ms = 600_000;
    crowd.join(&[Habit::OnTime; 105]).await;
    let mut winners = 0;
    for _ in 0..160 {
        crowd.step().await;
        assert!(crowd.room.figures.waiting.abs_diff(100) <= 1, "{}", crowd.room.figures.waiting);
        let report = world.store.begin_tick(&world.room, &[], 1).await.unwrap();
        winners = winners.max(report.input.winners);
    }
    assert!(winners > 0, "some stand at the door: the seats are taken");
    crowd.seconds(70).await;
    let report = world.store.begin_tick(&world.room, &[], 1).await.unwrap();
    let line = crowd.line.values();
    let won = line.filter(|visitor| visitor.waiter.lease.unwrap().has_won()).count();
    assert_eq!(report.input.winners, won as u64);
    assert_eq!(report.input.waiting(), 100);
    let behind = report.input.there.between(0, 105);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let apart = behind + won as f64;
    assert!((apart - 100.0).abs() < 0.01, "{behind} and {won} winners");
}

async fn whoever_waits_for_a_draw_is_counted_once(world: World) {
    let prequeue_start = Some(moment(60));
    let sale = vestibule_domain::schedule::Event {
        prequeue_start,
        draw: true,
        draw_id: "d".into(),
        ..event("sale", 600, 900)
    };
    world.schedule(patient(3), &[sale]).await;
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
    let report = world.store.begin_tick(&world.room, &[], 1).await.unwrap();
    assert!((report.input.there.between(10, 35) - 25.0).abs() < 0.01);
    let leases = crowd.line.range(11..).filter_map(|(_, visitor)| visitor.waiter.lease);
    assert!(leases.into_iter().all(|lease| lease.pool() == Some(0)));
    for number in 11..=20 {
        crowd.closes_the_tab(number);
    }
    crowd.seconds(90).await;
    assert_eq!(crowd.room.figures.waiting, 22);
}

async fn leases_that_are_gone_are_swept(world: World) {
    world.open(patient(0)).await;
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 50]).await;
    crowd.seconds(20).await;
    crowd.line.clear();
    crowd.seconds(90).await;
    let mut length = redis::cmd("HLEN");
    let key = "vestibule:room:{sale}:presence";
    let leases: u64 = world.server.ask(length.arg(key)).await;
    assert_eq!(leases, 0);
    assert_eq!(crowd.room.figures.waiting, 0);
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
    let report = world.store.begin_tick(&world.room, &[], 2).await.unwrap();
    assert!(!report.input.is_presence_complete());
    assert!(report.input.waiting() >= 39, "{}", report.input.waiting());
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
    assert!(world.store.begin_tick(&world.room, &[], 2).await.is_err(), "a stale leader");
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
