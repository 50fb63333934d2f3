//! What the clock of Redis does not begin or end when it is set: an event's pre-queue, and the time of a signing key.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vestibule_domain::RoomId;
use vestibule_simulation::{Fault, FaultKind, RoomPlan, Scenario, Seed, World, in_virtual_time};

use crate::{
    guests::{Hall, Page, WebGuest},
    nothing_planned,
};

const HOUR_MS: i64 = 3_600_000;
/// By when all are ready, ms.
const READY_MS: u64 = 5_000;
/// When the clock is set, ms.
const JUMPS_MS: u64 = 60_000;
/// When somebody writes, ms.
const WRITES_MS: u64 = 62_000;
/// When the event starts, ms, to a second.
const STARTS_MS: u64 = READY_MS + 305_000;
/// So many wait for it.
const CROWD: u64 = 10;

/// Who writes after the clock was set.
#[derive(Debug, Clone, Copy)]
enum Writes {
    /// An operator, who changes another setting.
    Operator,
    /// The leader, who brings back what Redis has lost.
    Leader,
}

/// A room of a few services. With `faults`.
fn scenario(faults: Vec<Fault>) -> Scenario {
    let settings = json!({
        "total_active_users": CROWD, "session_duration_seconds": 3_600, "aws_style_api": false,
    });
    let rooms = vec![RoomPlan { name: "sale".to_owned(), settings }];
    Scenario { rooms, faults, ..nothing_planned(1, (2, 2)) }
}

fn hall(world: &World) -> Hall {
    Hall::new(world, &RoomId::new("sale").unwrap(), Seed(1))
}

/// An operator calls, and is answered.
async fn command(world: &World, method: &str, path: &str, body: &Value) -> Value {
    let mut chance = Seed(1).chance("operator", 1);
    let reply = world.door().command(&mut chance, (method, path), body).await.unwrap();
    assert!(reply.status < 300, "{reply:?}");
    reply.body
}

/// A crowd waits for the draw of an event when the clock is set, and somebody writes then. What became of everybody.
fn play(jump_ms: i64, writes: Writes) -> BTreeMap<u64, Page> {
    let wipe =
        Fault { number: 0, at_ms: WRITES_MS, kind: FaultKind::Wipe, lasts_ms: 0, back_ms: 0 };
    let faults = match writes {
        Writes::Operator => Vec::new(),
        Writes::Leader => vec![wipe],
    };
    in_virtual_time(async {
        let world = World::start(&scenario(faults), None, false);
        let hall = hall(&world);
        hall.until(READY_MS).await;
        announce_draw(&world).await;
        for number in 0..CROWD {
            let comes_ms = READY_MS + 10_000 + number * 10;
            let (asks_every_ms, stays_ms) = (3_000, 86_400_000);
            let guest = WebGuest { number, comes_ms, asks_every_ms, stays_ms };
            tokio::spawn(guest.visit(hall.clone()));
        }
        hall.until(JUMPS_MS).await;
        world.network().step_clock(jump_ms);
        hall.until(WRITES_MS).await;
        if let Writes::Operator = writes {
            let settings = json!({ "total_active_users": CROWD + 1 });
            command(&world, "PATCH", "/v1/rooms/sale", &settings).await;
        }
        hall.until(STARTS_MS + 60_000).await;
        hall.diary.read()
    })
    .unwrap()
}

/// An event begins in five minutes, and whoever comes before is drawn a place.
async fn announce_draw(world: &World) {
    let opens_s = world.network().true_ms() / 1000 + 2;
    let starts_s = opens_s + 303;
    let event = json!({
        "prequeue_start_time": opens_s, "event_start_time": starts_s,
        "event_end_time": starts_s + 3_600, "draw_at_event_start": true,
    });
    command(world, "PUT", "/v1/rooms/sale/events/drop", &event).await;
}

/// The keys that gateways are told, the one that signs first.
async fn kids(hall: &Hall) -> Vec<String> {
    let jwks = hall.send(0, "GET", "/.well-known/jwks.json", &Value::Null).await.unwrap().body;
    let kid = |key: &Value| key["kid"].as_str().unwrap().to_owned();
    jwks["keys"].as_array().unwrap().iter().map(kid).collect()
}

#[test]
fn who_waits_for_a_draw_waits_on_whoever_writes_after_the_clock_was_set() {
    for jump_ms in [HOUR_MS, -HOUR_MS] {
        for writes in [Writes::Operator, Writes::Leader] {
            let pages = play(jump_ms, writes);
            let turns = pages.values().filter_map(|page| page.turn_ms.or(page.entered_ms));
            let early: Vec<_> = turns.filter(|ms| *ms < STARTS_MS - 1_000).collect();
            assert!(early.is_empty(), "{jump_ms} ms, {writes:?}: {early:?}");
            let entered = pages.values().filter(|page| page.entered_ms.is_some()).count();
            assert_eq!(entered as u64, CROWD, "{jump_ms} ms, {writes:?}");
        }
    }
}

#[test]
fn an_announced_key_signs_no_earlier_because_the_clock_was_set_ahead() {
    let told = in_virtual_time(async {
        let world = World::start(&scenario(Vec::new()), None, false);
        let hall = hall(&world);
        hall.until(READY_MS).await;
        let old = kids(&hall).await.remove(0);
        let path = "/v1/keys/rotate?signs_in_seconds=300";
        let new = command(&world, "POST", path, &Value::Null).await["kid"].clone();
        world.network().step_clock(HOUR_MS);
        hall.until(READY_MS + 290_000).await;
        assert_eq!(kids(&hall).await[..], [old.clone(), new.as_str().unwrap().to_owned()]);
        hall.until(READY_MS + 305_000).await;
        assert_eq!(kids(&hall).await[..], [new.as_str().unwrap().to_owned(), old]);
    });
    told.unwrap();
}

#[test]
fn a_key_is_published_for_as_long_as_its_tokens_last_though_the_clock_was_set_back() {
    let told = in_virtual_time(async {
        let world = World::start(&scenario(Vec::new()), None, false);
        let hall = hall(&world);
        hall.until(JUMPS_MS).await;
        let old = kids(&hall).await.remove(0);
        world.network().step_clock(-2 * HOUR_MS);
        hall.until(WRITES_MS).await;
        command(&world, "POST", "/v1/keys/rotate?signs_in_seconds=0", &Value::Null).await;
        hall.until(WRITES_MS + 30_000).await;
        let kids = kids(&hall).await;
        assert_eq!((kids.len(), &kids[1]), (2, &old), "its last token is valid still");
    });
    told.unwrap();
}
