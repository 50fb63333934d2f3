//! A night with such a line: it forms while the room is held, and then the room opens.

use serde_json::json;
use tokio::task::JoinSet;
use vestibule_domain::RoomId;
use vestibule_simulation::{Admission, Cast, RoomPlan, Scenario, Seed, World, in_virtual_time};

use super::line::{Kind, Line};
use crate::guests::{AwsGuest, Hall, WebGuest, longest_overtaking, ticket_of};

pub(crate) const SEATS: u64 = 20;
/// People stay for five to fifteen seconds.
const STAYS_MS: std::ops::Range<u64> = 5_000..15_000;
/// Tokens of the AWS-style calls are valid for so long: not as long as a request for them is held.
const VALID_MS: u64 = 7_000;
/// The line begins to form then, ms.
const FORMS_MS: u64 = 3_000;
/// The use of the seats counts from so long after the room has opened, ms,
const COUNTED_FROM_MS: u64 = 10_000;
/// for so long,
const COUNTED_MS: u64 = 40_000;
/// looked at so often.
const EVERY_MS: u64 = 250;
/// So many take numbers together.
const TOGETHER: usize = 2_000;

/// What was seen of a night.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The share of the seats in which honest people were, while some waited.
    pub(crate) used: f64,
    /// The most seats that were ever taken.
    pub(crate) most: u64,
    /// By how much somebody who kept asking was overtaken, ms.
    pub(crate) overtaken_ms: u64,
    /// When, after the room had opened, the seats were full for the first time, ms.
    pub(crate) full_ms: Option<u64>,
    pub(crate) broken: Vec<String>,
}

/// Plays a night with so many honest people.
pub(crate) fn play(line: Line, honest: usize, seed: u64) -> Seen {
    let settings = json!({
        "total_active_users": SEATS,
        "token_validity_seconds": VALID_MS / 1000,
        "queue_all": true,
    });
    let scenario = Scenario {
        seed: Seed(seed),
        length_ms: 0,
        services: (2, 1),
        regions: vec!["eu".to_owned()],
        rooms: vec![RoomPlan { name: "sale".to_owned(), settings }],
        cast: Cast::default(),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    };
    in_virtual_time(async {
        let world = World::start(&scenario, None, false);
        let room = RoomId::new("sale").unwrap();
        let hall = Hall::new(&world, &room, Seed(seed));
        hall.until(FORMS_MS).await;
        form(&hall, &line.people(honest)).await;
        let (mut chance, door) = (Seed(seed).chance("operator", 1), world.door());
        let open = json!({ "queue_all": false });
        let opened = door.command(&mut chance, ("PATCH", "/v1/rooms/sale"), &open).await;
        assert_eq!(opened.unwrap().status, 200);
        let mut what = count(&world, &hall).await;
        let pages = hall.diary.read();
        what.overtaken_ms = longest_overtaking(pages.iter(), hall.now_ms()).0;
        what.broken = world.end().await.broken.iter().map(ToString::to_string).collect();
        what
    })
    .unwrap()
}

/// Looks at the seats.
async fn count(world: &World, hall: &Hall) -> Seen {
    let (mut seen, mut used, mut seats) = (Seen::default(), 0, 0);
    let opened_ms = hall.now_ms();
    while hall.now_ms() < opened_ms + COUNTED_FROM_MS + COUNTED_MS {
        hall.wait(EVERY_MS).await;
        let (now_ms, taken) = (hall.now_ms(), world.seats_taken(&hall.room));
        seen.most = seen.most.max(taken);
        let waiting = hall.diary.waiting(now_ms);
        if taken == SEATS {
            seen.full_ms.get_or_insert(now_ms - opened_ms);
        }
        if now_ms > opened_ms + COUNTED_FROM_MS && waiting > 0 {
            used += taken;
            seats += SEATS;
        }
    }
    seen.used = ratio(used, seats);
    seen
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn ratio(part: u64, of: u64) -> f64 {
    part as f64 / (of as f64).max(1.0)
}

/// Everybody takes a place, in this order.
async fn form(hall: &Hall, people: &[Kind]) {
    let mut number = 0;
    for run in people.chunk_by(|one, next| one == next) {
        match run[0] {
            Kind::AwsGhost | Kind::WebGhost => take_places(hall, run[0], run.len()).await,
            kind => {
                for _ in run {
                    number += 1;
                    come(hall, kind, number);
                    hall.wait(5).await;
                }
            }
        }
    }
}

/// Ghosts take places.
async fn take_places(hall: &Hall, kind: Kind, count: usize) {
    let mut left = count;
    while left > 0 {
        let mut taking = JoinSet::new();
        for _ in 0..left.min(TOGETHER) {
            let hall = hall.clone();
            taking.spawn(async move {
                let room = hall.room.as_str();
                let number = async |admission: &Admission| match kind {
                    Kind::AwsGhost => admission.assign_queue_num(room).await.map(drop),
                    _ => admission.join(room, None).await.map(drop),
                };
                hall.visit(0, number).await
            });
        }
        left -= left.min(TOGETHER);
        taking.join_all().await;
    }
}

/// Somebody comes who stays in line.
fn come(hall: &Hall, kind: Kind, number: u64) {
    let mut chance = hall.seed.chance("guest", number);
    let comes_ms = hall.now_ms();
    match kind {
        Kind::Aws => {
            let asks_every_ms = chance.within(1_000..1_650);
            let guest = AwsGuest { number, comes_ms, asks_every_ms, stays_ms: VALID_MS };
            tokio::spawn(guest.visit(hall.clone()));
        }
        Kind::Idler => drop(tokio::spawn(idle(hall.clone(), number))),
        _ => {
            let (asks_every_ms, stays_ms) = (chance.within(700..1_300), chance.within(STAYS_MS));
            let guest = WebGuest { number, comes_ms, asks_every_ms, stays_ms };
            tokio::spawn(guest.visit(hall.clone()));
        }
    }
}

/// Asks every second where it stands, and never for a seat.
async fn idle(hall: Hall, number: u64) {
    let room = hall.room.as_str();
    let joined = hall.visit(number, async |admission| admission.join(room, None).await).await;
    let Some(mut ticket) = joined.as_ref().and_then(ticket_of) else { return };
    loop {
        hall.wait(1_000).await;
        let asked =
            hall.visit(number, async |admission| admission.status(room, ticket).await).await;
        ticket = asked.as_ref().and_then(ticket_of).unwrap_or(ticket);
    }
}
