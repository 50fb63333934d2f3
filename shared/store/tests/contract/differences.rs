//! Snapshots that are pushed as differences: when they are, and that each, put together with what came before, is the
//! room as it is.

use std::{cell::Cell, time::Duration};

use anyhow::ensure;
use futures_util::StreamExt;
use vestibule_domain::{
    Announcement, Difference, Draw, Formats, RoomSettings, RoomSnapshot, schedule::Event,
};
use vestibule_store::{Feed, JoinMode, KnownRoom, Messages, Push};
use vestibule_tests::eventually;

use crate::{
    events::{event, moment},
    world::{World, decided, limited, patient, testimony},
};

crate::on_every_server!(
    a_whole_snapshot_is_pushed_once_a_second_and_differences_between,
    who_may_not_differ_pushes_whole,
    operators_push_whole_and_differences_follow_from_that,
    a_room_whose_plan_is_dropped_is_pushed_whole,
    a_phase_that_begins_by_itself_is_pushed_whole,
    a_draw_is_pushed_whole,
    a_reconciled_room_is_pushed_whole,
    numbers_that_were_left_out_stay_so_when_presence_is_known,
    a_service_takes_differences_in,
    a_difference_from_what_a_service_has_not_heard_is_ignored,
    nobody_differs_before_everybody_reads_it,
);

const CHANNELS: [&str; 2] = ["vestibule:snapshots", "vestibule:differences"];

/// Hears every push, and puts it together as services do.
struct Listener {
    pushes: Messages,
    last: Option<RoomSnapshot>,
}

impl Listener {
    async fn at(world: &World) -> Self {
        let pushes = world.server.link().subscribe(&CHANNELS).await.unwrap();
        Self { pushes, last: None }
    }

    /// How the next snapshot came; it is the room as it is now.
    async fn next(&mut self, world: &World) -> Push {
        let push = self.hear().await;
        assert_eq!(self.last, Some(world.snapshot().await));
        push
    }

    /// How the next snapshot came.
    async fn hear(&mut self) -> Push {
        let text = self.pushes.next().await.unwrap().payload;
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (push, snapshot) = if json["format"] == Formats::DIFFERENCE {
            let difference: Difference = serde_json::from_value(json).unwrap();
            let whole = self.last.as_ref().and_then(|last| difference.over(last));
            (Push::Difference, whole.unwrap_or_else(|| panic!("of another snapshot: {text}")))
        } else {
            (Push::Whole, serde_json::from_value(json).unwrap())
        };
        self.last = Some(snapshot);
        push
    }

    /// How the snapshot of a tick by the leader of this term comes.
    async fn tick(&mut self, world: &World, epoch: u64) -> Push {
        world.tick(epoch).await;
        self.next(world).await
    }
}

/// A room with a line, and who has heard its last whole snapshot this very moment.
async fn told(world: &World, settings: RoomSettings) -> Listener {
    world.open(settings).await;
    let mut listener = Listener::at(world).await;
    world.join(9, JoinMode::Enter).await;
    world.seconds(1);
    assert_eq!(listener.tick(world, 1).await, Push::Whole);
    listener
}

async fn a_whole_snapshot_is_pushed_once_a_second_and_differences_between(world: World) {
    let mut listener = told(&world, limited(3)).await;
    for step in 1..=12 {
        world.clock.advance_ms(250);
        world.join(1, JoinMode::Enter).await;
        let expected = if step % 4 == 0 { Push::Whole } else { Push::Difference };
        assert_eq!(listener.tick(&world, 1).await, expected, "step {step}");
    }
    world.clock.advance_ms(999);
    assert_eq!(listener.tick(&world, 1).await, Push::Difference);
    world.clock.advance_ms(1);
    assert_eq!(listener.tick(&world, 1).await, Push::Whole);
}

async fn who_may_not_differ_pushes_whole(world: World) {
    let mut listener = told(&world, limited(3)).await;
    world.clock.advance_ms(250);
    let (tick, epoch) = (world.begin(1).await, world.reset_epoch().await);
    let decision = decided(&tick.input);
    let apply = world.store.apply_plan(&world.room, 1, epoch, &tick.report, &decision, Push::Whole);
    apply.await.unwrap();
    assert_eq!(listener.next(&world).await, Push::Whole);
    assert_eq!(listener.tick(&world, 1).await, Push::Difference);
}

async fn operators_push_whole_and_differences_follow_from_that(world: World) {
    let mut listener = told(&world, limited(3)).await;
    for change in 0..3 {
        world.clock.advance_ms(10);
        match change {
            0 => drop(world.put(patient(5)).await),
            1 => drop(world.store.increment(&world.room, 2).await.unwrap()),
            _ => drop(world.store.reset(&world.room).await.unwrap()),
        }
        assert_eq!(listener.next(&world).await, Push::Whole, "change {change}");
        world.join(2, JoinMode::Enter).await;
        assert_eq!(listener.tick(&world, 1).await, Push::Difference, "after change {change}");
    }
}

/// What the leader tells is of the line before the reset.
async fn a_room_whose_plan_is_dropped_is_pushed_whole(world: World) {
    let mut listener = told(&world, limited(3)).await;
    let tick = world.begin(1).await;
    world.clock.advance_ms(10);
    world.store.reset(&world.room).await.unwrap();
    assert_eq!(listener.next(&world).await, Push::Whole);
    world.apply(1, &tick, &decided(&tick.input)).await;
    assert_eq!(listener.next(&world).await, Push::Whole);
}

/// Nobody changes anything: the same script finds other settings in force.
async fn a_phase_that_begins_by_itself_is_pushed_whole(world: World) {
    world.schedule(limited(3), &[event("sale", 600, 1_200)]).await;
    let mut listener = Listener::at(&world).await;
    world.join(9, JoinMode::Enter).await;
    world.at(moment(600) * 1000 - 2);
    assert_eq!(listener.tick(&world, 1).await, Push::Whole);
    world.clock.advance_ms(1);
    assert_eq!(listener.tick(&world, 1).await, Push::Difference);
    let tick = world.begin(1).await;
    world.clock.advance_ms(1);
    world.apply(1, &tick, &decided(&tick.input)).await;
    assert_eq!(listener.next(&world).await, Push::Whole);
    let begun = listener.last.as_ref().unwrap().event.as_ref().unwrap();
    assert_eq!(begun.name.as_str(), "sale");
    world.apply(1, &tick, &decided(&tick.input)).await;
    assert_eq!(listener.next(&world).await, Push::Difference);
}

async fn a_draw_is_pushed_whole(world: World) {
    let sale = Event {
        prequeue_start: Some(moment(600)),
        draw: true,
        draw_id: "d1".to_owned(),
        commitment: Some("ab".to_owned()),
        ..event("sale", 1_200, 3_600)
    };
    world.schedule(limited(3), &[sale]).await;
    world.at(moment(600) * 1000);
    world.join(9, JoinMode::Enter).await;
    world.at(moment(1_200) * 1000);
    world.tick(1).await;
    world.seconds(1);
    let mut listener = Listener::at(&world).await;
    assert_eq!(listener.tick(&world, 1).await, Push::Whole);
    let pool = world.try_begin(1).await.unwrap().pool;
    let draws = [Draw::new(pool.first, pool.count(), [7; 32])];
    assert!(world.store.draw(&world.room, 1, &pool, Some(&draws), None).await.unwrap());
    assert_eq!(listener.next(&world).await, Push::Whole);
    assert_eq!(listener.tick(&world, 1).await, Push::Difference);
    assert_eq!(listener.last.unwrap().draws, draws);
}

/// Redis loses everything, and a service is silent.
async fn lose(world: &World) {
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    world.reconcile(&[seen], &["silent"], &config).await;
}

async fn a_reconciled_room_is_pushed_whole(world: World) {
    let mut listener = told(&world, limited(3)).await;
    world.clock.advance_ms(10);
    lose(&world).await;
    assert_eq!(listener.next(&world).await, Push::Whole);
    assert_eq!(listener.tick(&world, 2).await, Push::Difference);
    let last = listener.last.unwrap();
    assert_eq!((last.generation, &*last.awaits), (2, &["silent".to_owned()][..]));
}

async fn numbers_that_were_left_out_stay_so_when_presence_is_known(world: World) {
    let mut listener = told(&world, limited(3)).await;
    lose(&world).await;
    assert_eq!(listener.next(&world).await, Push::Whole);
    let gathered = world.try_begin(2).await.unwrap().counters.presence_from_ms;
    world.at(gathered - 1);
    assert_eq!(listener.tick(&world, 2).await, Push::Whole);
    assert!(!listener.last.as_ref().unwrap().left_out.is_empty());
    world.clock.advance_ms(1);
    assert_eq!(listener.tick(&world, 2).await, Push::Difference);
    assert!(!listener.last.unwrap().left_out.is_empty());
    assert!(world.try_begin(2).await.unwrap().counters.left_out.is_empty());
}

/// Ticks until the service hears it. Its subscription may take a moment: what is pushed before it is not heard. Returns
/// how often it ticked.
async fn tick_until_heard(world: &World, known: &KnownRoom) -> u32 {
    let (ticks, before) = (Cell::new(0), known.snapshot().now_ms);
    let heard = eventually(Duration::from_secs(20), "a difference", async || {
        world.clock.advance_ms(1);
        world.tick(1).await;
        ticks.set(ticks.get() + 1);
        ensure!(known.snapshot().now_ms > before, "not heard yet");
        Ok(())
    });
    heard.await.unwrap();
    ticks.get()
}

/// Waits until the service knows the room as it is.
async fn catches_up(world: &World, known: &KnownRoom) {
    let known = eventually(Duration::from_secs(20), "the last push", async || {
        ensure!(*known.snapshot() == world.snapshot().await, "not heard yet");
        Ok(())
    });
    known.await.unwrap();
}

async fn a_service_takes_differences_in(world: World) {
    let mut listener = told(&world, limited(3)).await;
    let feed = Feed::new(world.another_store(), "service".to_owned());
    feed.refresh().await.unwrap();
    let known = feed.room("sale").unwrap();
    let taken_in = async {
        let ticks = tick_until_heard(&world, &known).await;
        catches_up(&world, &known).await;
        ticks
    };
    let ticks = tokio::select! {
        biased;
        () = feed.clone().run() => unreachable!("it runs until it is dropped"),
        ticks = taken_in => ticks,
    };
    for _ in 0..ticks {
        assert_eq!(listener.hear().await, Push::Difference);
    }
}

/// Taken in, it would be later than everything that comes after it.
const STRAY: &str = r#"{"format":2,"room":"sale","basis":"nobody's","seq":1000,"now_ms":9000000000000,
    "queue_counter":1000,"serving_counter":1000,"admitted":1000,"active":0,"unconfirmed":0,"expired":0,"left":0,
    "expired_position":0,"admitted_last_minute":0,"tokens_until":0,"cumulative_hazard":0,
    "figures":{"others":{},"positions":[],"people":[]}}"#;

async fn a_difference_from_what_a_service_has_not_heard_is_ignored(world: World) {
    world.open(limited(3)).await;
    let feed = Feed::new(world.another_store(), "service".to_owned());
    feed.refresh().await.unwrap();
    let known = feed.room("sale").unwrap();
    let goes_on = async {
        tick_until_heard(&world, &known).await;
        world.server.ask::<u64>(redis::cmd("PUBLISH").arg(CHANNELS[1]).arg(STRAY)).await;
        world.clock.advance_ms(1);
        world.tick(1).await;
        catches_up(&world, &known).await;
    };
    tokio::select! {
        biased;
        () = feed.clone().run() => unreachable!("it runs until it is dropped"),
        () = goes_on => {}
    }
}

async fn nobody_differs_before_everybody_reads_it(world: World) {
    world.open(limited(3)).await;
    let older = Announcement { reads: Formats::WRITTEN, ..Announcement::OURS };
    let feed = Feed::new(world.another_store(), "leader".to_owned());
    assert_eq!(feed.push_for_all(), Push::Whole, "it does not know who runs");
    let becomes = async |push| {
        eventually(Duration::from_secs(20), "another way to push", async || {
            ensure!(feed.push_for_all() == push);
            Ok(())
        })
        .await
        .unwrap();
    };
    let upgraded = async {
        becomes(Push::Difference).await;
        world.store.announce("older", older).await.unwrap();
        becomes(Push::Whole).await;
        world.store.announce("older", Announcement::OURS).await.unwrap();
        becomes(Push::Difference).await;
    };
    tokio::select! {
        biased;
        () = feed.clone().run() => unreachable!("it runs until it is dropped"),
        () = upgraded => {}
    }
}
