//! A crowd that waited for a draw is there, though nobody has asked at its own place yet: each asks when it was told to
//! while it waited. Whoever takes the silent ones for gone serves others in their place.

use std::collections::BTreeMap;

use serde_json::json;
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, World, in_virtual_time};

use crate::{
    guests::{Hall, Page, PunctualGuest, most_overtaken},
    late_leader::{freeze_controllers, server},
    nothing_planned,
};

const CEILING: usize = 30;
const CROWD: u64 = 300;
/// Those who are served with the seats that are free, and stand by for the next ones.
const SERVED: usize = 2 * CEILING;
/// By when all are ready, ms.
const READY_MS: u64 = 5_000;
/// For how long whoever serves the room stops, ms.
const STOPS_MS: u64 = 20_000;
const STAYS_MS: std::ops::Range<u64> = 20_000..30_000;

/// How people wait for a draw.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// So many of them may ask in a second.
    polls: u64,
    /// How long the pre-queue is open, in seconds.
    prequeue_s: u64,
    /// When they come, before the draw, ms: long enough for each to have asked some times.
    comes_before_ms: u64,
}

/// Each asks every half minute or so, and the pre-queue is as short as one may be.
const HALF_A_MINUTE: Waiting = Waiting { polls: 10, prequeue_s: 300, comes_before_ms: 100_000 };

/// What became of everybody who waited for a draw. So long after it whoever serves the room stops for a while, ms.
fn play(seed: u64, stops_after_ms: Option<u64>) -> BTreeMap<u64, Page> {
    play_with(seed, stops_after_ms, HALF_A_MINUTE)
}

fn play_with(seed: u64, stops_after_ms: Option<u64>, crowd: Waiting) -> BTreeMap<u64, Page> {
    in_virtual_time(async {
        let world = World::start(&nothing_planned(seed, (3, 2)), None, false);
        let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
        hall.until(READY_MS).await;
        let opens_s = world.network().true_ms() / 1000 + 2;
        let starts_s = opens_s + crowd.prequeue_s;
        command(
            &world,
            seed,
            "/v1/rooms/sale",
            &json!({ "total_active_users": CEILING, "poll_budget_per_second": crowd.polls }),
        )
        .await;
        let event = json!({
            "prequeue_start_time": opens_s, "event_start_time": starts_s,
            "event_end_time": starts_s + 3_600, "draw_at_event_start": true,
        });
        command(&world, seed, "/v1/rooms/sale/events/drop", &event).await;
        let draw_ms = hall.now_ms() + starts_s * 1_000 - world.network().true_ms();
        let mut chance = Seed(seed).chance("crowd", 0);
        for number in 0..CROWD {
            let comes_ms = draw_ms - crowd.comes_before_ms + number * 10;
            let guest = PunctualGuest { number, comes_ms, stays_ms: chance.within(STAYS_MS) };
            tokio::spawn(guest.visit(hall.clone()));
        }
        if let Some(after_ms) = stops_after_ms {
            hall.until(draw_ms + after_ms).await;
            let served = server(&world, &hall.room);
            freeze_controllers(&world, |at| Some(at) == served, STOPS_MS);
        }
        hall.until(draw_ms + 800_000).await;
        hall.diary.read()
    })
    .unwrap()
}

async fn command(world: &World, seed: u64, path: &str, body: &serde_json::Value) {
    let mut chance = Seed(seed).chance("operator", 1);
    let made = world.door().command(&mut chance, ("PUT", path), body).await.unwrap();
    assert!(made.status < 300, "{made:?}");
}

/// Nobody overtakes more than this.
fn holds(stops_after_ms: Option<u64>, most: usize) {
    for seed in 0..2 {
        let overtaken = most_overtaken(&play(seed, stops_after_ms));
        assert!(overtaken <= most, "seed {seed}: somebody overtook {overtaken}");
    }
}

#[test]
fn those_who_waited_for_a_draw_enter_in_the_order_drawn_though_they_ask_when_they_were_told_to() {
    holds(None, SERVED);
}

/// Each is told to ask after some minutes.
#[test]
fn those_who_were_told_to_ask_late_are_waited_for() {
    let crowd = Waiting { polls: 2, prequeue_s: 600, comes_before_ms: 400_000 };
    let pages = play_with(0, None, crowd);
    let overtaken = most_overtaken(&pages);
    assert!(overtaken <= SERVED, "somebody overtook {overtaken}");
}

#[test]
fn a_leader_that_takes_over_after_a_draw_knows_who_waited_for_it() {
    // It does not know who of them were served and have not come, and so serves as many again.
    holds(Some(500), 2 * SERVED);
}
