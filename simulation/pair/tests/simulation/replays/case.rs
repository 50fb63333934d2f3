//! A case: a room, a small honest crowd, and a few attackers, all drawn under a seed.

use std::ops::Range;

use serde_json::{Value, json};
use vestibule_simulation::{Cast, Chance, RoomPlan, Scenario, Seed};

use super::attacker::{Attacker, Repeats, Way};
use crate::guests::{AwsGuest, WebGuest};

/// From when on people come, ms: the room is there by then.
pub(crate) const OPEN_MS: u64 = 3_000;
/// From when on they come where places are drawn, ms: shortly before the draw.
const DRAWN_OPEN_MS: u64 = 300_000;
/// How many of the rooms in order of arrival draw their places.
const DRAWN: f64 = 0.15;
/// Tokens of the AWS-style calls are valid for so long, ms.
const VALID_MS: u64 = 5_000;
/// How long people and attackers stay, ms.
const STAYS_MS: Range<u64> = 1_500..6_000;
/// The numbers of attackers begin here.
const ATTACKERS: u64 = 1_000;

/// A case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) room: Room,
    pub(crate) admissions: usize,
    pub(crate) guests: Vec<WebGuest>,
    pub(crate) aws_guests: Vec<AwsGuest>,
    pub(crate) attackers: Vec<Attacker>,
    pub(crate) length_ms: u64,
}

/// A room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) is_random: bool,
    /// Whether the places of those who came before an event are drawn at its start.
    pub(crate) is_drawn: bool,
    pub(crate) ceiling: Option<u64>,
    pub(crate) rate: Option<u64>,
}

// === impl Case ===

impl Case {
    /// The case of `seed`.
    pub(crate) fn draw(seed: u64) -> Self {
        let mut chance = Seed(seed).chance("case", 0);
        let mut room = Room::draw(&mut chance);
        room.is_drawn = !room.is_random && Seed(seed).chance("case", 1).happens(DRAWN);
        let open_ms = if room.is_drawn { DRAWN_OPEN_MS } else { OPEN_MS };
        let over_ms = chance.within(500..6_000);
        let aws = if chance.happens(0.3) { 0.3 } else { 0.0 };
        let (mut guests, mut aws_guests) = (Vec::new(), Vec::new());
        for number in 0..chance.within(6..18) {
            let comes_ms = open_ms + chance.within(0..over_ms);
            if chance.happens(aws) {
                let asks_every_ms = chance.within(1_000..2_000);
                aws_guests.push(AwsGuest { number, comes_ms, asks_every_ms, stays_ms: VALID_MS });
            } else {
                let (asks_every_ms, stays_ms) =
                    (chance.within(700..1_300), chance.within(STAYS_MS));
                guests.push(WebGuest { number, comes_ms, asks_every_ms, stays_ms });
            }
        }
        let attackers = (ATTACKERS..ATTACKERS + chance.within(1..5))
            .map(|number| attacker(number, &mut chance, open_ms..open_ms + over_ms))
            .collect();
        let admissions = usize::try_from(chance.within(1..4)).unwrap();
        let length_ms = open_ms + over_ms + if room.rate.is_some() { 70_000 } else { 40_000 };
        Self { seed, room, admissions, guests, aws_guests, attackers, length_ms }
    }

    /// The world that it is played in. `world` decides what is chance in services and network.
    pub(crate) fn scenario(&self, world: u64, defect: Option<(&str, &str)>) -> Scenario {
        Scenario {
            seed: Seed(world),
            length_ms: self.length_ms,
            services: (self.admissions, 1),
            regions: vec!["eu".to_owned()],
            rooms: vec![RoomPlan { name: "sale".to_owned(), settings: self.room.settings() }],
            cast: Cast::default(),
            operations: Vec::new(),
            faults: Vec::new(),
            defect: defect.map(|(instead_of, does)| (instead_of.to_owned(), does.to_owned())),
        }
    }

    /// The same case with attackers who send everything again, from now until long after.
    pub(crate) fn attacked(&self) -> Self {
        let mut chance = Seed(self.seed).chance("attack", 0);
        let repeats = Repeats {
            times: *chance.one_of(&[1, 4, 12]),
            at_once: *chance.one_of(&[0.1, 0.5, 0.9]),
            until_ms: self.length_ms,
        };
        let repeating = |one: &Attacker| Attacker { repeats: Some(repeats), ..*one };
        Self { attackers: self.attackers.iter().map(repeating).collect(), ..self.clone() }
    }
}

fn attacker(number: u64, chance: &mut Chance, within_ms: Range<u64>) -> Attacker {
    let comes_ms = chance.within(within_ms);
    let gives_up = Way::GivesUp(comes_ms + chance.within(500..10_000));
    let way = *chance.one_of(&[Way::Enters, Way::Enters, Way::EntersByToken, gives_up, Way::Aws]);
    let drawn_ms = chance.within(STAYS_MS);
    let stays_ms = match way {
        Way::Aws => VALID_MS,
        // It leaves before its tokens end.
        Way::EntersByToken => drawn_ms.min(VALID_MS - 1_000),
        _ => drawn_ms,
    };
    let (asks_every_ms, mixes) = (chance.within(700..1_300), chance.unit() / 2.0);
    Attacker { number, comes_ms, asks_every_ms, way, stays_ms, mixes, repeats: None }
}

// === impl Room ===

impl Room {
    fn draw(chance: &mut Chance) -> Self {
        let is_random = chance.happens(0.15);
        let (ceiling, rate) = match chance.within(0..5) {
            0 if chance.happens(0.5) => (None, Some(chance.within(6..15))),
            0 => (Some(20), Some(chance.within(6..15))),
            _ => (Some(chance.within(1..6)), None),
        };
        Self { is_random, is_drawn: false, ceiling, rate }
    }

    fn settings(self) -> Value {
        json!({
            "queueing_method": if self.is_random { "random" } else { "fifo" },
            "total_active_users": self.ceiling,
            "new_users_per_minute": self.rate,
            "token_validity_seconds": VALID_MS / 1000,
        })
    }
}
