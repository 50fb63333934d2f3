//! Scheduled events: transitions to the millisecond, whoever leads and when.

use std::sync::Arc;

use vestibule_domain::{
    QueueingMethod, RoomSettings,
    schedule::{Event, Overrides, RoomConfig},
};
use vestibule_store::{
    Claim, ClaimOutcome, Departure, EndedAs, JoinMode, PutOutcome, SessionKind, StoreError, Touch,
};

use crate::{
    crowd::{Crowd, Habit},
    world::{Leader, START_MS, World, limited, patient, token},
};

crate::on_every_server!(
    a_pre_queue_opens_to_the_millisecond,
    an_event_starts_to_the_millisecond,
    an_event_ends_to_the_millisecond,
    session_length_and_renewal_are_the_events_while_it_is_in_force,
    the_method_is_the_events_while_it_is_in_force,
    whoever_came_early_enters_in_order_of_arrival,
    two_leaders_turn_one_page_once,
    a_page_of_an_outdated_program_is_not_turned,
    a_put_in_the_middle_of_a_phase_keeps_the_phase,
    an_event_that_is_deleted_is_over_at_once,
    events_in_a_row_follow_each_other_exactly,
    a_leader_that_was_away_over_two_transitions_catches_up,
    a_leader_that_was_away_plans_by_what_is_in_force_now,
    an_event_inherits_what_the_room_is_at_that_moment,
    everyone_counts_as_there_after_an_event_that_turned_people_away,
    a_scheduled_reject_gives_nobody_up_even_while_nobody_leads,
    a_suspended_event_and_a_suspended_room_know_no_events,
);

/// Seconds after the start of the test.
const OPENS: u64 = 600;
const STARTS: u64 = 1_200;
const ENDS: u64 = 1_800;

/// A moment so many seconds after the start, unix seconds.
pub(crate) fn moment(seconds: u64) -> u64 {
    START_MS / 1000 + seconds
}

fn ms(seconds: u64) -> u64 {
    moment(seconds) * 1000
}

pub(crate) fn event(name: &str, start: u64, end: u64) -> Event {
    let (start, end) = (moment(start), moment(end));
    let json = format!(r#"{{"name":"{name}","event_start_time":{start},"event_end_time":{end}}}"#);
    serde_json::from_str(&json).unwrap()
}

/// An event with a pre-queue from [`OPENS`] on, and these limits.
fn sale(ceiling: u64) -> Event {
    let overrides = Overrides {
        total_active_users: Some(ceiling),
        new_users_per_minute: Some(ceiling),
        ..Overrides::default()
    };
    Event { prequeue_start: Some(moment(OPENS)), overrides, ..event("sale", STARTS, ENDS) }
}

async fn switch_phase(world: &World, epoch: u64) {
    let config = world.config().await;
    let now_ms = world.clock.now_ms();
    assert!(world.store.switch_phase(&world.room, epoch, &config, now_ms).await.unwrap());
}

/// Everyone inside leaves.
async fn clear(world: &World, last: u64) {
    let end = |number| Departure {
        number,
        ended_as: EndedAs::Completed,
        seat: vestibule_domain::SeatEnds::AtOnce,
    };
    let departures: Vec<_> = (1..=last).map(end).collect();
    let epoch = world.reset_epoch().await;
    world.store.leave(&world.room, epoch, &departures).await.unwrap();
}

async fn a_pre_queue_opens_to_the_millisecond(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    world.at(ms(OPENS) - 1);
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 1);
    assert!(world.snapshot().await.event.is_none());
    world.at(ms(OPENS));
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0);
    world.store.increment(&world.room, 1).await.unwrap();
    assert_eq!(world.claims(world.claim_now(2).await).await, ClaimOutcome::NoSeat);
    let room = world.snapshot().await;
    assert!(room.is_prequeueing() && room.is_held());
    assert_eq!(room.settings.total_active_users, Some(50));
}

async fn an_event_starts_to_the_millisecond(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    world.at(ms(OPENS));
    switch_phase(&world, 1).await;
    world.join(60, JoinMode::Enter).await;
    world.store.increment(&world.room, 60).await.unwrap();
    world.at(ms(STARTS) - 1);
    assert_eq!(world.claims(world.claim_now(1).await).await, ClaimOutcome::NoSeat);
    assert!(world.snapshot().await.is_prequeueing());
    world.at(ms(STARTS));
    for number in 1..=50 {
        token(world.claims(world.claim_now(number).await).await);
    }
    assert_eq!(
        world.claims(world.claim_now(51).await).await,
        ClaimOutcome::NoSeat,
        "50, not 5 or 60"
    );
    let room = world.snapshot().await;
    assert!(!room.is_prequeueing() && room.event.is_some());
}

async fn an_event_ends_to_the_millisecond(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    world.at(ms(STARTS));
    switch_phase(&world, 1).await;
    assert_eq!(world.join(30, JoinMode::Enter).await.seated, 30);
    world.at(ms(ENDS) - 1);
    clear(&world, 30).await;
    assert_eq!(world.join(7, JoinMode::Enter).await.seated, 7, "the event's ceiling");
    world.at(ms(ENDS));
    assert_eq!(world.join(1, JoinMode::Enter).await.seated, 0, "the room's own");
    clear(&world, 37).await;
    let room = world.snapshot().await;
    assert_eq!((room.event, room.settings), (None, limited(5)));
    world.store.increment(&world.room, 1).await.unwrap();
    world.ripens();
    token(world.claims(world.claim_now(38).await).await);
    let quiet = world.join(9, JoinMode::Enter).await;
    assert_eq!(quiet.seated, 4, "and no rate");
}

async fn session_length_and_renewal_are_the_events_while_it_is_in_force(world: World) {
    let overrides = Overrides {
        session_duration_seconds: Some(40),
        disable_session_renewal: Some(true),
        ..Overrides::default()
    };
    let sale = Event { overrides, ..event("sale", STARTS, ENDS) };
    world.schedule(limited(9), &[sale]).await;
    let touch = async |number, (issued_at, expires_at)| {
        let reset_epoch = world.reset_epoch().await;
        let touch = Touch { reset_epoch, issued_at, expires_at, ..World::touch_for(number) };
        let touched = world.store.touch(&world.room, "k", "i", &[touch]).await.unwrap().remove(0);
        touched.session.map(|record| (record.issued_at, record.expires_at))
    };
    let mut lengths = Vec::new();
    for at in [ms(STARTS) - 1, ms(STARTS), ms(ENDS) - 1, ms(ENDS)] {
        world.at(at);
        if at == ms(STARTS) {
            switch_phase(&world, 1).await;
        }
        let joined = world.join(1, JoinMode::Enter).await;
        assert_eq!(joined.seated, 1);
        lengths.push(joined.expires_at - joined.issued_at);
    }
    assert_eq!(lengths, [300, 40, 40, 300]);
    // Number 3 came in the event's last millisecond; now the room's renewal is in force.
    world.seconds(30);
    let (now, joined) = (moment(ENDS + 30), moment(ENDS) - 1);
    assert_eq!(touch(3, (joined, joined + 40)).await, Some((now, now + 300)));
    world.store.delete_room(&world.room, None).await.unwrap();
    let overrides = Overrides { disable_session_renewal: Some(true), ..Overrides::default() };
    let fixed = Event { overrides, ..event("fixed", ENDS + 60, ENDS + 600) };
    world.schedule(limited(9), &[fixed]).await;
    let joined = world.join(1, JoinMode::Enter).await;
    let times = (joined.issued_at, joined.expires_at);
    world.at(ms(ENDS + 60) + 200_000);
    assert_eq!(touch(1, times).await, Some(times), "in the event nothing is renewed");
}

async fn the_method_is_the_events_while_it_is_in_force(world: World) {
    let overrides =
        Overrides { queueing_method: Some(QueueingMethod::Passthrough), ..Overrides::default() };
    world.schedule(limited(1), &[Event { overrides, ..event("open", STARTS, ENDS) }]).await;
    let mut seated = Vec::new();
    for at in [ms(STARTS) - 1, ms(STARTS), ms(ENDS) - 1, ms(ENDS)] {
        world.at(at);
        if at == ms(STARTS) {
            switch_phase(&world, 1).await;
        }
        seated.push(world.join(4, JoinMode::Enter).await.seated);
    }
    assert_eq!(seated, [1, 4, 4, 0]);
}

async fn whoever_came_early_enters_in_order_of_arrival(world: World) {
    let sale = Event { overrides: Overrides::default(), ..sale(1) };
    world.schedule(patient(3), &[sale]).await;
    world.at(ms(OPENS));
    let mut crowd = Crowd::at(&world).await;
    crowd.seconds(1).await;
    crowd.join(&[Habit::OnTime; 20]).await;
    crowd.quiet_seconds(STARTS - OPENS - 3).await;
    assert_eq!(crowd.now_ms(), ms(STARTS - 3));
    assert_eq!(crowd.entered(), [] as [u64; 0], "nobody before the start");
    crowd.join(&[Habit::OnTime; 5]).await;
    crowd.seconds(120).await;
    let entered = crowd.entered();
    assert_eq!(entered.len(), 25);
    assert!(
        entered.iter().enumerate().all(|(nth, n)| n.abs_diff(nth as u64 + 1) <= 4),
        "{entered:?}"
    );
}

async fn two_leaders_turn_one_page_once(world: World) {
    let draw = Event { draw: true, draw_id: "d".into(), ..sale(50) };
    world.schedule(limited(5), &[draw]).await;
    world.at(ms(OPENS));
    switch_phase(&world, 7).await;
    world.join(10, JoinMode::Enter).await;
    world.at(ms(STARTS));
    let (config, world) = (world.config().await, Arc::new(world));
    let turns = [7, 8, 7, 8].map(|epoch| {
        let (world, config) = (Arc::clone(&world), config.clone());
        tokio::spawn(async move {
            world.store.switch_phase(&world.room, epoch, &config, world.clock.now_ms()).await
        })
    });
    let mut turned = 0;
    for turn in turns {
        match turn.await.unwrap() {
            Ok(true) => turned += 1,
            other => assert!(matches!(other, Err(StoreError::Fenced { .. })), "{other:?}"),
        }
    }
    assert!(turned >= 2, "the newer leader's");
    let stale = world.store.switch_phase(&world.room, 7, &config, world.clock.now_ms()).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })), "{stale:?}");
    let stale = world.try_begin(7).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })), "{stale:?}");
    let mut leader = Leader::new(8);
    let pool = leader.tick(&world).await.report.pool;
    assert!(!leader.switched, "it is turned");
    assert_eq!((pool.first, pool.last), (1, 10), "closed once, at the start");
    world.at(ms(ENDS));
    assert_eq!(world.snapshot().await.settings, limited(5), "and the next phase is in its place");
}

async fn a_page_of_an_outdated_program_is_not_turned(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    let outdated = world.config().await;
    world.schedule(limited(6), &[]).await;
    world.at(ms(STARTS));
    let now_ms = world.clock.now_ms();
    assert!(!world.store.switch_phase(&world.room, 1, &outdated, now_ms).await.unwrap());
    let room = world.snapshot().await;
    assert_eq!((room.event, room.settings), (None, limited(6)));
    assert!(!world.try_begin(1).await.unwrap().phase_is_over);
    let unversioned = RoomConfig { version: 0, ..outdated };
    assert!(!world.store.switch_phase(&world.room, 1, &unversioned, now_ms).await.unwrap());
}

async fn a_put_in_the_middle_of_a_phase_keeps_the_phase(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    for (at, prequeueing) in [(OPENS + 1, true), (STARTS + 1, false)] {
        world.at(ms(at));
        // Without a turn: the put itself must know what is under way.
        world.schedule(limited(at), &[sale(50)]).await;
        let room = world.snapshot().await;
        assert_eq!(room.event.unwrap().prequeueing, prequeueing);
        assert_eq!(room.settings.total_active_users, Some(50));
        assert!(!world.try_begin(1).await.unwrap().phase_is_over);
    }
    world.at(ms(ENDS) - 1);
    assert_eq!(world.snapshot().await.settings.total_active_users, Some(50));
    world.at(ms(ENDS));
    assert_eq!(world.snapshot().await.settings, limited(STARTS + 1));
}

async fn an_event_that_is_deleted_is_over_at_once(world: World) {
    world.schedule(limited(5), &[sale(50)]).await;
    world.at(ms(OPENS) + 1);
    assert_eq!(world.join(3, JoinMode::Enter).await.seated, 0);
    let RoomConfig { version, settings, .. } = world.config().await;
    let without = RoomConfig { version, settings, ..RoomConfig::default() };
    let put = world.store.put_config(&world.room, &without).await.unwrap();
    assert_eq!(put, PutOutcome::Changed);
    let room = world.snapshot().await;
    assert_eq!((room.event.clone(), room.settings.clone()), (None, limited(5)));
    assert!(!room.is_held());
    Leader::new(1).tick(&world).await;
    world.ripens();
    token(world.claims(world.claim_now(1).await).await);
    world.at(ms(STARTS));
    assert_eq!(world.snapshot().await.settings, limited(5), "and it does not come back");
}

/// Four events, each beginning when the last one ends; the leader looks in once in each.
async fn events_in_a_row_follow_each_other_exactly(world: World) {
    let events: Vec<Event> = (0..4_u64)
        .map(|nth| {
            let overrides = Overrides {
                total_active_users: Some(100 + nth),
                new_users_per_minute: Some(10 + nth),
                ..Overrides::default()
            };
            let start = STARTS + nth * 60;
            Event { overrides, ..event(&format!("e{nth}"), start, start + 60) }
        })
        .collect();
    world.schedule(limited(5), &events).await;
    let mut leader = Leader::new(1);
    let ceiling = async || world.snapshot().await.settings.total_active_users.unwrap();
    let mut before = 5;
    for nth in 0..4 {
        let start = ms(STARTS + nth * 60);
        world.at(start - 1);
        assert_eq!(ceiling().await, before);
        world.at(start);
        assert_eq!(ceiling().await, 100 + nth);
        world.clock.advance_ms(25_000);
        let report = leader.tick(&world).await.report;
        assert!(leader.switched);
        assert_eq!(report.settings().total_active_users, Some(100 + nth));
        leader.tick(&world).await;
        assert!(!leader.switched, "once");
        before = 100 + nth;
    }
    world.at(ms(STARTS + 240) - 1);
    assert_eq!(ceiling().await, 103);
    world.at(ms(STARTS + 240));
    assert_eq!(world.snapshot().await.settings, limited(5));
}

async fn a_leader_that_was_away_over_two_transitions_catches_up(world: World) {
    let second = Event { overrides: sale(70).overrides, ..event("second", ENDS + 600, ENDS + 900) };
    world.schedule(limited(5), &[sale(50), second]).await;
    Leader::new(1).tick(&world).await;
    world.at(ms(ENDS) + 5);
    let mut leader = Leader::new(2);
    leader.tick(&world).await;
    assert!(leader.switched);
    let room = world.snapshot().await;
    assert_eq!((room.event, room.settings), (None, limited(5)), "as it is now");
    leader.tick(&world).await;
    assert!(!leader.switched);
    world.at(ms(ENDS + 600) - 1);
    assert_eq!(world.snapshot().await.settings, limited(5));
    world.at(ms(ENDS + 600));
    assert_eq!(world.snapshot().await.settings.total_active_users, Some(70), "and the next one");
}

async fn a_leader_that_was_away_plans_by_what_is_in_force_now(world: World) {
    let wide = Event { prequeue_start: None, ..sale(300) };
    world.schedule(patient(5), &[wide]).await;
    world.at(ms(STARTS) - 5_000);
    world.join(200, JoinMode::Queue).await;
    Leader::new(1).tick(&world).await;
    let before = world.snapshot().await.serving_counter;
    world.at(ms(ENDS) + 5);
    Leader::new(2).tick(&world).await;
    let served = world.snapshot().await.serving_counter - before;
    assert!(served <= 6, "five seats, and {served} more were served: none of the others has come");
}

async fn an_event_inherits_what_the_room_is_at_that_moment(world: World) {
    let overrides = Overrides { session_duration_seconds: Some(99), ..Overrides::default() };
    let sale = Event { overrides, ..event("sale", STARTS, ENDS) };
    world.schedule(limited(5), std::slice::from_ref(&sale)).await;
    world.at(ms(STARTS));
    switch_phase(&world, 1).await;
    assert_eq!(world.join(6, JoinMode::Enter).await.seated, 5);
    let wider = RoomSettings { position_expiry_seconds: Some(7), ..limited(8) };
    world.schedule(wider.clone(), std::slice::from_ref(&sale)).await;
    let expected = RoomSettings { session_duration_seconds: 99, ..wider };
    assert_eq!(world.snapshot().await.settings, expected);
    world.store.increment(&world.room, 1).await.unwrap();
    world.ripens();
    let inside = token(world.claims(world.claim_now(6).await).await);
    assert_eq!(inside.expires_at - inside.issued_at, 99);
    let joined = world.join(9, JoinMode::Enter).await;
    assert_eq!((joined.seated, joined.expires_at - joined.issued_at), (2, 99));
    let held = RoomSettings { queue_all: true, ..limited(80) };
    world.schedule(held, &[sale]).await;
    world.store.increment(&world.room, 5).await.unwrap();
    let claim = Claim { won: true, ..world.claim_now(10).await };
    assert_eq!(world.claims(claim).await, ClaimOutcome::NoSeat, "queue_all goes before the event");
}

fn rejecting() -> Event {
    let overrides =
        Overrides { queueing_method: Some(QueueingMethod::Reject), ..Overrides::default() };
    Event { overrides, ..event("closed", STARTS, ENDS) }
}

async fn everyone_counts_as_there_after_an_event_that_turned_people_away(world: World) {
    world.schedule(patient(3), &[rejecting()]).await;
    world.at(ms(STARTS) - 20_000);
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 203]).await;
    crowd.seconds(30).await;
    crowd.quiet_seconds(ENDS - STARTS - 12).await;
    let served = world.snapshot().await.serving_counter;
    // The first tick after the end is the one that turns the page.
    world.at(ms(ENDS) + 100);
    let tick = crowd.leader.tick(&world).await;
    assert!(crowd.leader.switched && tick.is_gathering());
    let room = world.snapshot().await;
    assert!(room.serving_counter < served + 12, "{served} -> {}", room.serving_counter);
    assert_eq!(room.excused_until_ms, ms(ENDS));
    let entered = crowd.entries.len();
    crowd.all_look().await;
    crowd.seconds(60).await;
    assert_eq!(crowd.line.len() + crowd.entries.len(), 203, "nobody has lost its place");
    let order = &crowd.entered()[entered..];
    assert!(order.len() > 10 && order.iter().all(|number| *number < 60), "{order:?}");
}

async fn a_scheduled_reject_gives_nobody_up_even_while_nobody_leads(world: World) {
    world.schedule(patient(3), &[rejecting()]).await;
    world.at(ms(STARTS) - 5_000);
    let mut crowd = Crowd::at(&world).await;
    crowd.join(&[Habit::OnTime; 9]).await;
    crowd.all_look().await;
    world.at(ms(STARTS) + 1);
    crowd.leader.tick(&world).await;
    // Far longer than the grace time; the leader is gone when it ends.
    world.at(ms(ENDS) + 1);
    crowd.all_look().await;
    assert!(crowd.line.values().all(|v| v.waiter.heard_at == ms(ENDS) + 1), "all checked in");
}

async fn a_suspended_event_and_a_suspended_room_know_no_events(world: World) {
    let off = Event { suspended: true, ..sale(50) };
    world.schedule(limited(5), &[off]).await;
    world.at(ms(OPENS));
    assert_eq!(world.join(2, JoinMode::Enter).await.seated, 2);
    let room = RoomSettings { suspended: true, ..limited(5) };
    world.schedule(room, &[sale(50)]).await;
    world.at(ms(OPENS) + 10);
    assert!(world.join(1, JoinMode::Enter).await.suspended);
    assert!(world.snapshot().await.event.is_none());
    let outcome = world.claim(3, SessionKind::AwsStyle).await;
    assert!(matches!(outcome, ClaimOutcome::Uncounted(_)), "{outcome:?}");
}
