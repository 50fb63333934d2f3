//! Many sessions that end at once: a tick forgets more of them than one call of its script does.

use serde_json::json;
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, World, in_virtual_time};

use crate::{
    guests::{Hall, PunctualGuest},
    nothing_planned,
};

/// As many as one tick forgets, with three further calls.
const CROWD: usize = 1_200;
/// As many as one call forgets: see `begin_tick.lua`.
const CALL_FORGETS: usize = 300;
const SESSION_S: u64 = 10;
/// Their last session has begun by then, ms after the first came.
const INSIDE_MS: u64 = 5_000;
/// How often is looked, ms.
const LOOKS_EVERY_MS: u64 = 10;
/// So many looks last longer than a tick, and not as long as two.
const LOOKS: usize = 10;

/// How many sessions Redis kept at each look, from when everybody was inside until nobody was.
fn kept() -> Vec<usize> {
    in_virtual_time(async {
        let world = World::start(&nothing_planned(1, (2, 1)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(1));
        hall.until(5_000).await;
        let settings =
            json!({ "total_active_users": CROWD, "session_duration_seconds": SESSION_S });
        let mut chance = Seed(1).chance("operator", 1);
        let put = ("PUT", "/v1/rooms/sale");
        let made = world.door().command(&mut chance, put, &settings).await.unwrap();
        assert!(made.status < 300, "{made:?}");
        let comes_ms = hall.now_ms() + 1_000;
        for number in 0..CROWD as u64 {
            let guest = PunctualGuest { number, comes_ms, stays_ms: u64::from(u32::MAX) };
            tokio::spawn(guest.visit(hall.clone()));
        }
        hall.until(comes_ms + INSIDE_MS).await;
        let mut kept = vec![world.sessions_kept(&hall.room)];
        while kept.last() != Some(&0) && hall.now_ms() < comes_ms + INSIDE_MS + SESSION_S * 2_000 {
            hall.wait(LOOKS_EVERY_MS).await;
            kept.push(world.sessions_kept(&hall.room));
        }
        kept
    })
    .unwrap()
}

#[test]
fn a_tick_forgets_more_sessions_than_one_of_its_calls() {
    let kept = kept();
    assert_eq!((kept.first(), kept.last()), (Some(&CROWD), Some(&0)));
    let of_a_tick = kept.windows(LOOKS).map(|looks| looks[0] - looks[LOOKS - 1]).max();
    assert!(of_a_tick > Some(CALL_FORGETS), "{of_a_tick:?}");
}
