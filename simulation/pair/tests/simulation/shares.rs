//! Many rooms among several controllers: each is served by one of them, and soon by another one if that is gone.

use std::collections::{BTreeMap, BTreeSet};

use vestibule_domain::RoomId;
use vestibule_simulation::{
    Cast, Fault, FaultKind, Part, Person, Role, RoomPlan, Scenario, Seed, Which, World,
    in_virtual_time, run,
};

use crate::{bounds, night::seats};

const ROOMS: usize = 8;
/// By when all serve, and people wait in every room, ms.
const READY_MS: u64 = 6_000;
/// How often it is looked, ms.
const LOOK_MS: u64 = 50;

/// Eight rooms of three seats with twelve people each, who come within a second or so.
fn evening(seed: u64, controllers: usize) -> Scenario {
    let name = |nth| RoomPlan { name: format!("room-{nth}"), settings: seats(3) };
    let person = |nth: u64| Person {
        arrives_ms: 2_500 + nth * 20,
        patience_ms: None,
        returns_after_ms: None,
        stays_ms: 6_000,
        says_goodbye: true,
        hidden: false,
        throttled: false,
        tabs: 1,
        browses: true,
    };
    let parts = (0..96_u64).zip((0..ROOMS).cycle());
    let cast = parts.map(|(number, room)| Part {
        number,
        room,
        role: Role::Polite(person(number)),
        origin: None,
    });
    Scenario {
        seed: Seed(seed),
        length_ms: 45_000,
        services: (2, controllers),
        regions: vec!["eu".to_owned()],
        rooms: (0..ROOMS).map(name).collect(),
        cast: Cast(cast.collect()),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    }
}

fn rooms() -> Vec<RoomId> {
    (0..ROOMS).map(|nth| RoomId::new(format!("room-{nth}")).unwrap()).collect()
}

/// Which controllers take themselves for those who serve a room, in their terms.
fn servers(world: &World, room: &RoomId) -> Vec<(Which, u64)> {
    let places = world.deployment().all().into_iter();
    let controllers = places.filter(|which| matches!(which, Which::Controller(_)));
    let running = controllers.filter(|which| world.deployment().node(*which).is_some());
    let ready = world.deployment().ready_controllers();
    let serve = running
        .zip(&ready)
        .filter_map(|(which, process)| process.instance.serves(room).map(|term| (which, term)));
    serve.collect()
}

/// Who leads.
fn leader(world: &World) -> Which {
    let ready = world.deployment().ready_controllers();
    Which::Controller(ready.iter().position(|one| one.instance.leads().is_some()).unwrap())
}

async fn wait_until(world: &World, at_ms: u64) {
    tokio::time::sleep_until(world.network().moment(at_ms)).await;
}

/// Which rooms each serves: every room has one.
fn shares(world: &World) -> BTreeMap<Which, BTreeSet<RoomId>> {
    let mut shares = BTreeMap::<Which, BTreeSet<RoomId>>::new();
    for room in rooms() {
        let servers = servers(world, &room);
        assert_eq!(servers.len(), 1, "{room}: {servers:?}");
        shares.entry(servers[0].0).or_default().insert(room);
    }
    shares
}

/// For how long each room was not ticked, at most, from now until `until_ms`.
async fn longest_pauses(world: &World, until_ms: u64) -> BTreeMap<RoomId, u64> {
    let mut longest: BTreeMap<RoomId, u64> = BTreeMap::new();
    while world.network().now_ms() < until_ms {
        wait_until(world, world.network().now_ms() + LOOK_MS).await;
        for room in rooms() {
            let pause_ms = world.ticked_ago_ms(&room).unwrap();
            let longest = longest.entry(room).or_default();
            *longest = pause_ms.max(*longest);
        }
    }
    longest
}

/// One of two controllers dies: the rooms that each of them served, and their pauses.
fn one_dies(seed: u64, is_leader: bool) -> [Vec<u64>; 2] {
    in_virtual_time(async {
        let world = World::start(&evening(seed, 2), Some(&bounds()), false);
        wait_until(&world, READY_MS).await;
        let shares = shares(&world);
        assert_eq!(shares.len(), 2, "both serve: {shares:?}");
        let quiet = longest_pauses(&world, READY_MS + 2_000).await;
        assert!(quiet.values().all(|ms| *ms <= 400), "{quiet:?}");
        let leads = leader(&world);
        let dies = *shares.keys().find(|which| (**which == leads) == is_leader).unwrap();
        world.kill(dies);
        let pauses = longest_pauses(&world, READY_MS + 12_000).await;
        let left = servers(&world, &rooms()[0]);
        assert!(left.len() == 1 && left[0].0 != dies, "{left:?}");
        let outcome = world.end().await;
        assert!(outcome.broken.is_empty(), "seed {seed}: {:?}", outcome.broken);
        let of = |is_dead: bool| {
            let of = shares.iter().filter(|(which, _)| (**which == dies) == is_dead);
            of.flat_map(|(_, rooms)| rooms).map(|room| pauses[room]).collect()
        };
        [of(true), of(false)]
    })
    .unwrap()
}

#[test]
fn the_rooms_of_a_member_that_dies_are_served_by_others_and_theirs_go_on() {
    for seed in 0..4 {
        let [dead, others] = one_dies(seed, false);
        assert!(dead.iter().all(|ms| (1_700..=3_500).contains(ms)), "seed {seed}: {dead:?}");
        assert!(others.iter().all(|ms| *ms <= 1_000), "seed {seed}: {others:?}");
    }
}

#[test]
fn when_the_leader_dies_every_room_is_served_again_within_five_seconds() {
    for seed in 0..4 {
        let [dead, others] = one_dies(seed, true);
        assert!(
            dead.iter().chain(&others).all(|ms| *ms <= 5_000),
            "seed {seed}: {dead:?} {others:?}"
        );
    }
}

#[test]
fn a_controller_that_comes_takes_its_share_and_no_room_pauses() {
    in_virtual_time(async {
        let mut scenario = evening(1, 3);
        // The third is there again after two seconds.
        scenario.faults.push(Fault {
            number: 1,
            at_ms: READY_MS,
            kind: FaultKind::Upgrade,
            lasts_ms: 16_000,
            back_ms: 0,
        });
        let world = World::start(&scenario, Some(&bounds()), false);
        wait_until(&world, READY_MS - LOOK_MS).await;
        assert_eq!(shares(&world).len(), 3);
        let pauses = longest_pauses(&world, READY_MS + 20_000).await;
        assert_eq!(shares(&world).len(), 3);
        assert!(pauses.values().all(|ms| *ms <= 1_500), "{pauses:?}");
        let outcome = world.end().await;
        assert!(outcome.broken.is_empty(), "{:?}", outcome.broken);
    })
    .unwrap();
}

#[test]
fn no_room_goes_wrong_when_connections_break_and_servers_are_split() {
    for seed in 0..12 {
        let mut scenario = evening(seed, 2 + usize::try_from(seed % 2).unwrap());
        let kinds = [FaultKind::Cut, FaultKind::Split, FaultKind::Cut, FaultKind::Weather];
        for (number, kind) in (0..).zip(kinds) {
            let at_ms = 4_000 + number * 6_000 + seed * 137;
            scenario.faults.push(Fault { number, at_ms, kind, lasts_ms: 5_000, back_ms: 1_500 });
        }
        let outcome = run(&scenario, &bounds(), false).unwrap();
        assert!(outcome.broken.is_empty(), "seed {seed}: {:?}", outcome.broken);
    }
}
