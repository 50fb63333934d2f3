//! A crowd that a leader did not see come: because it was late, or because another led then. It must know all
//! the same when those who are next ask, or it takes them for gone and serves others in their place.

use std::collections::BTreeMap;

use serde_json::json;
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, Which, World, in_virtual_time};

use crate::{
    guests::{Hall, Page, PunctualGuest, most_overtaken},
    nothing_planned,
};

const CEILING: u64 = 6;
const CROWD: u64 = 120;
/// Those at the door: as many as there are seats, and the standby group, four seconds' worth of admissions:
/// stays of a second or more let in at most six a second, which may be taken for half as much again.
const STANDBY: usize = 42;
/// By when all are ready, ms.
const READY_MS: u64 = 5_000;
const STAYS_MS: std::ops::Range<u64> = 1_100..1_500;

/// What goes wrong when the crowd comes.
#[derive(Debug, Clone, Copy)]
enum Goes {
    /// Nobody leads for so long, ms.
    Unled(u64),
    /// The controller that serves the room stops a while after the crowd came, for so long, ms.
    StopsAfter(u64, u64),
}

/// A crowd comes to a room that was made just then. What became of everybody.
fn play(goes: Goes, seed: u64) -> BTreeMap<u64, Page> {
    in_virtual_time(async {
        let world = World::start(&nothing_planned(seed, (3, 2)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
        hall.until(READY_MS).await;
        create_room(&world, seed).await;
        let made_ms = hall.now_ms();
        if let Goes::Unled(ms) = goes {
            freeze_controllers(&world, |_| true, ms);
        }
        let mut chance = Seed(seed).chance("crowd", 0);
        for number in 0..CROWD {
            let comes_ms = made_ms + 100 + number * 2;
            let guest = PunctualGuest { number, comes_ms, stays_ms: chance.within(STAYS_MS) };
            tokio::spawn(guest.visit(hall.clone()));
        }
        if let Goes::StopsAfter(after_ms, ms) = goes {
            hall.until(made_ms + after_ms).await;
            let served = server(&world, &hall.room);
            freeze_controllers(&world, |at| Some(at) == served, ms);
        }
        hall.until(made_ms + 60_000).await;
        hall.diary.read()
    })
    .unwrap()
}

async fn create_room(world: &World, seed: u64) {
    let mut chance = Seed(seed).chance("operator", 1);
    let (put, room) = (("PUT", "/v1/rooms/sale"), json!({ "total_active_users": CEILING }));
    let made = world.door().command(&mut chance, put, &room).await.unwrap();
    assert!(made.status < 300, "{made:?}");
}

/// Which controller serves the room.
pub(crate) fn server(world: &World, room: &RoomId) -> Option<usize> {
    let controllers = world.deployment().ready_controllers();
    controllers.iter().position(|process| process.instance.serves(room).is_some())
}

/// Those of the two controllers stand still for so long, ms.
pub(crate) fn freeze_controllers(world: &World, which: impl Fn(usize) -> bool, ms: u64) {
    let until_ms = world.network().now_ms() + ms;
    for at in (0..2).filter(|at| which(*at)) {
        let node = world.deployment().node(Which::Controller(at)).unwrap();
        world.network().freeze(node, until_ms);
    }
}

fn holds(goes: Goes) {
    for seed in 0..4 {
        let most = most_overtaken(&play(goes, seed));
        assert!(most <= STANDBY, "{goes:?}, seed {seed}: somebody overtook {most}");
    }
}

#[test]
fn a_leader_that_comes_late_knows_when_those_ask_who_came_before() {
    for ms in [0, 700, 1_500, 2_500] {
        holds(Goes::Unled(ms));
    }
}

#[test]
fn a_leader_that_takes_over_knows_when_those_ask_who_came_before() {
    for after_ms in [500, 1_000, 3_000] {
        holds(Goes::StopsAfter(after_ms, 8_000));
    }
}

/// What a new leader first tells of the pace of a slow room, in admissions per second: too few sessions end
/// while nobody leads to know it by them.
fn pace_after_a_takeover(seed: u64) -> f64 {
    in_virtual_time(async {
        let world = World::start(&nothing_planned(seed, (3, 2)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
        hall.until(READY_MS).await;
        create_room(&world, seed).await;
        let (made_ms, mut chance) = (hall.now_ms(), Seed(seed).chance("crowd", 0));
        for number in 0..CROWD / 2 {
            let (comes_ms, stays_ms) = (made_ms + 1_000, chance.within(15_000..25_000));
            tokio::spawn(PunctualGuest { number, comes_ms, stays_ms }.visit(hall.clone()));
        }
        hall.until(made_ms + 90_000).await;
        let served = server(&world, &hall.room).unwrap();
        freeze_controllers(&world, |at| at == served, 60_000);
        let stopped_ms = world.snapshot(&hall.room).unwrap().now_ms;
        loop {
            hall.wait(50).await;
            let process = &world.deployment().ready_controllers()[1 - served];
            let snapshot = process.instance.room("sale").unwrap().snapshot();
            let takes_over = process.instance.serves(&hall.room).is_some();
            if takes_over && snapshot.now_ms > stopped_ms + 1_000 {
                return snapshot.figures.expected_per_second.unwrap();
            }
        }
    })
    .unwrap()
}

#[test]
fn a_leader_that_takes_over_knows_the_pace_that_it_saw_while_another_led() {
    for seed in 0..3 {
        let pace = pace_after_a_takeover(seed);
        assert!((0.15..0.6).contains(&pace), "seed {seed}: six seats, twenty seconds each: {pace}");
    }
}
