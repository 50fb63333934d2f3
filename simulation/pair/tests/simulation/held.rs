//! A room that is held again a moment after it was opened: whoever had its turn then, and could not come, has it once the
//! room goes on. Whoever takes these for gone serves others in their place.

use serde_json::{Value, json};
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, World, in_virtual_time};

use crate::{
    guests::{Hall, PunctualGuest},
    nothing_planned,
};

const CEILING: usize = 60;
const CROWD: u64 = 500;
/// Those who stand by for the next seats.
const STANDBY: u64 = 40;
/// By when all are ready, ms.
const READY_MS: u64 = 5_000;
/// How long they wait for the opening, for how long it goes on, and for how long the room is held then, ms.
const WAITS_MS: u64 = 30_000;
const OPEN_MS: u64 = 2_000;
const HELD_MS: u64 = 60_000;

/// The positions of those who have entered, a while after the room goes on.
fn play(seed: u64) -> Vec<u64> {
    let pages = in_virtual_time(async {
        let world = World::start(&nothing_planned(seed, (3, 2)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
        hall.until(READY_MS).await;
        command(&world, "PUT", &json!({ "total_active_users": CEILING, "queue_all": true })).await;
        let comes_ms = hall.now_ms() + 100;
        for number in 0..CROWD {
            let stays_ms = u64::from(u32::MAX);
            let guest = PunctualGuest { number, comes_ms: comes_ms + number * 5, stays_ms };
            tokio::spawn(guest.visit(hall.clone()));
        }
        for (after_ms, is_held) in [(WAITS_MS, false), (OPEN_MS, true), (HELD_MS, false)] {
            hall.wait(after_ms).await;
            command(&world, "PATCH", &json!({ "queue_all": is_held })).await;
        }
        hall.wait(30_000).await;
        hall.diary.read()
    });
    let entered = pages.unwrap().into_values().filter(|page| page.entered_ms.is_some());
    entered.map(|page| page.position.unwrap()).collect()
}

async fn command(world: &World, method: &str, body: &Value) {
    let mut chance = Seed(1).chance("operator", 1);
    let done = world.door().command(&mut chance, (method, "/v1/rooms/sale"), body).await.unwrap();
    assert!(done.status < 300, "{done:?}");
}

#[test]
fn who_had_its_turn_before_a_hold_has_it_after_it() {
    for seed in 0..3 {
        let entered = play(seed);
        assert_eq!(entered.len(), CEILING, "seed {seed}");
        let last = *entered.iter().max().unwrap();
        assert!(last <= CEILING as u64 + STANDBY, "seed {seed}: position {last} is inside");
    }
}
