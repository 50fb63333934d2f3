//! Playing a case, and what is seen of it.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;
use tokio::time::sleep;
use vestibule_domain::RoomId;
use vestibule_simulation::{Seed, World, in_virtual_time};

use super::case::{Case, OPEN_MS};
use crate::guests::{Hall, Page};

/// What was seen of a night.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Night {
    /// What became of the honest visitors.
    pub(crate) guests: BTreeMap<u64, Page>,
    /// What became of the attackers.
    pub(crate) attackers: BTreeMap<u64, Page>,
    /// How many seats were taken, every half second.
    pub(crate) seats: Vec<u64>,
    /// What no script may break, and broke.
    pub(crate) broken: Vec<String>,
}

/// How often seats are counted, ms.
pub(crate) const COUNTS_MS: u64 = 500;

/// Plays `case`. `world` decides what is chance in services and network, `defect` is a mistake in the scripts.
pub(crate) fn play(case: &Case, world: u64, defect: Option<(&str, &str)>) -> Night {
    let scenario = case.scenario(world, defect);
    in_virtual_time(async {
        let room = RoomId::new("sale").unwrap();
        let world = World::start(&scenario, None, false);
        let hall = Hall::new(&world, &room, Seed(case.seed));
        if case.room.is_drawn {
            announce_draw(&world, &hall).await;
        }
        for guest in case.guests.clone() {
            tokio::spawn(guest.visit(hall.clone()));
        }
        for guest in case.aws_guests.clone() {
            tokio::spawn(guest.visit(hall.clone()));
        }
        for attacker in case.attackers.clone() {
            tokio::spawn(attacker.live(hall.clone()));
        }
        let mut seats = Vec::new();
        while hall.now_ms() < case.length_ms && !has_everyone_left(case, &hall) {
            sleep(Duration::from_millis(COUNTS_MS)).await;
            seats.push(world.seats_taken(&room));
        }
        let mut guests = hall.diary.read();
        let attackers = guests.split_off(&case.attackers[0].number);
        let broken = world.end().await.broken.iter().map(ToString::to_string).collect();
        Night { guests, attackers, seats, broken }
    })
    .unwrap()
}

/// An event begins in five minutes, and whoever comes before is drawn a place.
async fn announce_draw(world: &World, hall: &Hall) {
    hall.until(OPEN_MS).await;
    let opens_s = world.network().true_ms() / 1000;
    let starts_s = opens_s + 300;
    let event = json!({
        "prequeue_start_time": opens_s, "event_start_time": starts_s,
        "event_end_time": starts_s + 3_600, "draw_at_event_start": true,
    });
    let (mut chance, put) = (hall.seed.chance("operator", 1), "/v1/rooms/sale/events/drop");
    let reply = world.door().command(&mut chance, ("PUT", put), &event).await.unwrap();
    assert!(reply.status < 300, "{reply:?}");
}

/// Whether all honest visitors have been inside and left: then nothing more is to be compared.
fn has_everyone_left(case: &Case, hall: &Hall) -> bool {
    let web = case.guests.iter().map(|guest| guest.number);
    hall.diary.have_left(web.chain(case.aws_guests.iter().map(|guest| guest.number)))
}
