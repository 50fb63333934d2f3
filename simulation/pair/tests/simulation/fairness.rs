//! Who enters when, where it is exactly known who should: seats that turn over at once, whichever of three
//! admissions is asked; a draw that is checked by its public record; and a random room in which one came first.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vestibule_domain::{Draw, RoomId, draw::from_hex};
use vestibule_simulation::{Cast, RoomPlan, Scenario, Seed, Status, World, in_virtual_time};

use crate::guests::{Hall, Page, WebGuest, longest_overtaking, ticket_of};

/// When people begin to come, ms.
const OPEN_MS: u64 = 3_000;

/// A world of three admissions and one room.
fn world(settings: Value, seed: u64) -> (World, Hall) {
    let scenario = Scenario {
        seed: Seed(seed),
        length_ms: 0,
        services: (3, 1),
        regions: vec!["eu".to_owned()],
        rooms: vec![RoomPlan { name: "sale".to_owned(), settings }],
        cast: Cast::default(),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    };
    let world = World::start(&scenario, None, false);
    let hall = Hall::new(&world, &RoomId::new("sale").unwrap(), Seed(seed));
    (world, hall)
}

/// Guests who come one after the other, and stay for so long.
fn come(hall: &Hall, count: u64, from_ms: u64, stays_ms: u64) {
    for number in 0..count {
        let comes_ms = from_ms + number * 10;
        let guest = WebGuest { number, comes_ms, asks_every_ms: 1_000, stays_ms };
        tokio::spawn(guest.visit(hall.clone()));
    }
}

/// The positions of all who entered, in order of entry; of those of one moment the lowest first.
fn in_order_of_entry(pages: &BTreeMap<u64, Page>) -> Vec<u64> {
    let entered = pages.values().filter_map(|page| Some((page.entered_ms?, page.position?)));
    let mut entered: Vec<_> = entered.collect();
    entered.sort_unstable();
    entered.into_iter().map(|(_, position)| position).collect()
}

#[test]
fn seats_that_turn_over_at_once_go_to_the_next_in_line_whichever_admission_they_ask() {
    for seed in 0..5 {
        let pages = in_virtual_time(async {
            let (_world, hall) = world(json!({ "total_active_users": 5 }), seed);
            come(&hall, 25, OPEN_MS, 4_000);
            hall.until(OPEN_MS + 35_000).await;
            hall.diary.read()
        });
        let pages = pages.unwrap();
        let order = in_order_of_entry(&pages);
        assert_eq!(order.len(), 25, "seed {seed}");
        // Of those who waited.
        let overtaken = longest_overtaking(pages.iter().filter(|(number, _)| **number >= 5), 0);
        assert!(overtaken.0 <= 100, "seed {seed}: {overtaken:?} {order:?}");
    }
}

#[test]
fn after_a_draw_the_order_of_entry_is_that_of_the_public_record() {
    let (pages, record) = in_virtual_time(async {
        let (world, hall) = world(json!({ "total_active_users": 3 }), 1);
        hall.until(OPEN_MS).await;
        let opens_s = world.network().true_ms() / 1000 + 2;
        let (starts_s, mut chance) = (opens_s + 300, Seed(1).chance("operator", 1));
        let event = json!({
            "prequeue_start_time": opens_s, "event_start_time": starts_s,
            "event_end_time": starts_s + 3_600, "draw_at_event_start": true,
        });
        let put = ("PUT", "/v1/rooms/sale/events/drop");
        let reply = world.door().command(&mut chance, put, &event).await.unwrap();
        assert!(reply.status < 300, "{reply:?}");
        come(&hall, 20, OPEN_MS + 280_000, 3_000);
        hall.until(OPEN_MS + 302_000 + 45_000).await;
        let draw = hall.send(0, "GET", "/v1/rooms/sale/draw", &Value::Null).await.unwrap().body;
        (hall.diary.read(), draw)
    })
    .unwrap();
    let record = record.as_array().map_or(record.clone(), |records| records[0].clone());
    let number = |name: &str| record[name].as_u64().unwrap_or_else(|| panic!("{record}"));
    let seed = from_hex(record["seed"].as_str().unwrap()).unwrap();
    let draw = Draw::new(number("first_queue_number"), number("participants"), seed);
    assert_eq!(draw.count(), 20);
    // They came one after the other, so that the guest's number tells its queue number.
    for (guest, page) in &pages {
        assert_eq!(page.position, draw.position(draw.first() + guest), "guest {guest}");
    }
    assert_eq!(in_order_of_entry(&pages).len(), 20);
    let overtaken = longest_overtaking(pages.iter(), 0);
    assert!(overtaken.0 <= 100, "{overtaken:?} {:?}", in_order_of_entry(&pages));
}

/// How many wait for a seat in each round of a random room.
const WAIT: u64 = 6;

/// Plays so many rounds in a random room with one seat: one comes and waits alone, then five others come, and
/// the seat comes free. Returns how often the first one enters.
fn wins_of_the_first(rounds: u64, seed: u64) -> u64 {
    let settings = json!({ "total_active_users": 1, "queueing_method": "random" });
    in_virtual_time(async {
        let (_world, hall) = world(settings, seed);
        hall.until(OPEN_MS).await;
        let (room, mut wins) = (hall.room.as_str(), 0);
        let holder = hall.visit(0, async |admission| admission.join(room, None).await).await;
        let mut inside = holder.as_ref().and_then(ticket_of).unwrap();
        for round in 0..rounds {
            let mut tickets = Vec::new();
            for one in 0..WAIT {
                let joined = hall.visit(one, async |admission| admission.join(room, None).await);
                let joined = joined.await.unwrap();
                assert_eq!(joined.status.status, Status::Waiting, "round {round}");
                tickets.push(ticket_of(&joined).unwrap());
                if one == 0 {
                    assert_eq!(ask_in_turns(&hall, &mut tickets, round, 10).await, None);
                }
            }
            // At any moment between two chances of each.
            let turns = hall.seed.chance("leaves", round).within(4..12);
            assert_eq!(ask_in_turns(&hall, &mut tickets, round + rounds, turns).await, None);
            hall.visit(0, async |admission| admission.leave(room, inside).await).await;
            let winner = ask_in_turns(&hall, &mut tickets, round + 2 * rounds, 200).await;
            let winner = winner.unwrap_or_else(|| panic!("round {round}: nobody enters"));
            wins += u64::from(winner == 0);
            inside = tickets[winner];
            for (one, ticket) in tickets.iter().enumerate().filter(|(one, _)| *one != winner) {
                let one = one as u64;
                hall.visit(one, async |admission| admission.leave(room, *ticket).await).await;
            }
            hall.wait(1_000).await;
        }
        wins
    })
    .unwrap()
}

/// All of them ask so many times, every half second, in another order each time. Returns who is inside.
async fn ask_in_turns(
    hall: &Hall,
    tickets: &mut [vestibule_simulation::Carried],
    seed: u64,
    turns: u64,
) -> Option<usize> {
    let (room, all) = (hall.room.as_str(), tickets.len());
    for turn in 0..turns {
        let mut chance = hall.seed.chance("turn", (seed << 16) | turn);
        let from = usize::try_from(chance.within(0..WAIT)).unwrap();
        for nth in 0..all {
            let one = (from + nth) % all;
            let ticket = tickets[one];
            // The claim of whoever has not won is a status.
            let answer = hall
                .visit(one as u64, async |admission| admission.claim(room, ticket).await)
                .await
                .unwrap();
            tickets[one] = ticket_of(&answer).unwrap_or(ticket);
            if answer.status.status == Status::Admitted {
                return Some(one);
            }
        }
        hall.wait(chance.within(400..600)).await;
    }
    None
}

/// Asserts that of so many rounds the first one entered in a sixth, as far as chance allows.
fn assert_equal_chance(rounds: u64, wins: u64) {
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let (rounds, wins) = (rounds as f64, wins as f64);
    let expected = rounds / 6.0;
    let deviation = (expected * 5.0 / 6.0).sqrt();
    println!("{wins} of {rounds}, expected {expected:.0} ± {deviation:.0}");
    assert!((wins - expected).abs() <= 3.5 * deviation, "{wins} of {rounds}");
}

#[test]
fn in_a_random_room_whoever_waits_alone_first_has_no_more_than_an_equal_chance() {
    assert_equal_chance(120, wins_of_the_first(120, 1));
}

#[test]
#[ignore = "takes minutes"]
fn in_a_random_room_the_same_over_thousands_of_rounds() {
    let wins =
        |seeds: std::ops::Range<u64>| seeds.map(|seed| wins_of_the_first(100, seed)).sum::<u64>();
    let wins = std::thread::scope(|scope| {
        let other = scope.spawn(|| wins(15..30));
        wins(0..15) + other.join().unwrap()
    });
    assert_equal_chance(3_000, wins);
}
