//! What becomes of a crowd when the clock of Redis is set.

use std::ops::RangeInclusive;

use serde_json::json;
use vestibule_domain::RoomId;
use vestibule_simulation::{Cast, RoomPlan, Scenario, Seed, World, in_virtual_time};

use crate::guests::{Hall, WebGuest};

/// So many people wait for so many seats, and nobody leaves.
const SEATS: u64 = 3;
const WAIT: u64 = 20;
const HOUR_MS: i64 = 3_600_000;

/// A crowd that has come together by the first of these seconds; then Redis's clock is set, and every second it is
/// noted how many the leader takes to be waiting.
fn counted_after(step_ms: i64, seconds: RangeInclusive<u64>) -> Vec<u64> {
    let scenario = Scenario {
        seed: Seed(1),
        length_ms: 0,
        services: (2, 1),
        regions: vec!["eu".to_owned()],
        rooms: vec![RoomPlan {
            name: "sale".to_owned(),
            settings: json!({ "total_active_users": SEATS, "session_duration_seconds": 86_400 }),
        }],
        cast: Cast::default(),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    };
    let counted = in_virtual_time(async {
        let world = World::start(&scenario, None, false);
        let room = RoomId::new("sale").unwrap();
        let hall = Hall::new(&world, &room, Seed(1));
        for number in 0..SEATS + WAIT {
            let (comes_ms, stays_ms) = (3_000 + number * 10, 86_400_000);
            let guest = WebGuest { number, comes_ms, asks_every_ms: 1_000, stays_ms };
            tokio::spawn(guest.visit(hall.clone()));
        }
        hall.until(seconds.start() * 1_000).await;
        world.network().step_clock(step_ms);
        let mut counted = Vec::new();
        for second in seconds {
            hall.until(second * 1_000 + 999).await;
            counted.push(world.snapshot(&room).unwrap().figures.waiting);
        }
        counted
    });
    counted.unwrap()
}

#[test]
fn a_clock_that_is_set_ahead_makes_nobody_absent() {
    assert_eq!(counted_after(HOUR_MS, 70..=200), [WAIT; 131]);
}

#[test]
fn a_clock_that_is_set_back_makes_nobody_absent() {
    assert_eq!(counted_after(-HOUR_MS, 70..=200), [WAIT; 131]);
}
