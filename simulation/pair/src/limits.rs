//! Limited nights: rooms have limits per network, small enough to bite, and bind sessions; visitors have addresses; and
//! hoarders and sharers come. All of it is drawn from generators of its own, so that every other night, and all else of
//! these, is what it was without.

use serde_json::{Value, json};

use crate::{
    Chance, Operation, OperationKind, RoomPlan, Seed,
    visitors::{Cast, Origin, Part, Role},
};

/// Operations that change limits have numbers from here on.
const OPERATIONS_FROM: u64 = 1_000;

/// Whether the night of `seed` is one, of which this share is.
pub(crate) fn are_drawn(seed: Seed, share: f64) -> bool {
    seed.chance("limits", 0).happens(share)
}

/// Limits these rooms.
pub(crate) fn limit_rooms(seed: Seed, rooms: &mut [RoomPlan]) {
    for (at, room) in (0..).zip(rooms) {
        let mut chance = seed.chance("limits of room", at);
        let limits = limits_per_network(&mut chance);
        let bind = *chance.one_of(&["none", "network", "network_and_agent"]);
        let uses = json!({
            "bind_sessions": bind,
            "max_session_seconds": chance.happens(0.3).then(|| chance.within(5..40)),
            "requests_per_session_per_second": chance.happens(0.3).then(|| chance.within(1..20)),
        });
        for more in [limits, uses] {
            if let (Some(settings), Value::Object(more)) = (room.settings.as_object_mut(), more) {
                settings.extend(more);
            }
        }
    }
}

fn limits_per_network(chance: &mut Chance) -> Value {
    let mut one = |among: &[u64]| chance.happens(0.7).then(|| *chance.one_of(among));
    let (joins, places, seats) = (one(&[1, 2, 3, 5, 10]), one(&[1, 2, 3, 8]), one(&[1, 2, 3, 5]));
    let mode = if chance.happens(0.2) { "log" } else { "enforce" };
    json!({
        "joins_per_network_per_minute": joins,
        "places_per_network": places,
        "seats_per_network": seats,
        "network_limit_mode": mode,
    })
}

/// Gives every visitor an origin, and brings hoarders and sharers.
pub(crate) fn bring_company(seed: Seed, cast: &mut Cast, rooms: usize, arrive_ms: u64) {
    for part in &mut cast.0 {
        part.origin = Some(Origin::draw(seed, part.number));
    }
    let visitors = cast.0.len() as u64;
    let groups = seed.chance("groups", 0).within(1..4);
    cast.0
        .extend((visitors..visitors + groups).map(|number| group(seed, number, rooms, arrive_ms)));
}

fn group(seed: Seed, number: u64, rooms: usize, arrive_ms: u64) -> Part {
    let mut chance = seed.chance("group", number);
    let room = usize::try_from(chance.within(0..rooms as u64)).unwrap_or(0);
    let begins_ms = chance.within(0..(arrive_ms / 2).max(1));
    let times_per_second = *chance.one_of(&[2, 5, 20]);
    let clients = chance.within(2..30);
    let times = (begins_ms, clients, times_per_second);
    let role = if chance.happens(0.6) {
        // Half of them are where others are, too.
        let shared = chance.happens(0.5);
        let network = if shared { Origin::draw_shared(seed, number) } else { 20 + number % 20 };
        Role::Hoarders { network, times }
    } else {
        Role::Sharers { times }
    };
    Part { number, room, role, origin: None }
}

/// In some nights the limits of a room are changed.
pub(crate) fn change_limits(
    seed: Seed,
    rooms: usize,
    (from_ms, to_ms): (u64, u64),
) -> Option<Operation> {
    let mut chance = seed.chance("limits change", 0);
    chance.happens(0.3).then(|| Operation {
        number: OPERATIONS_FROM,
        at_ms: chance.within(from_ms..to_ms),
        room: usize::try_from(chance.within(0..rooms as u64)).unwrap_or(0),
        what: OperationKind::Patch(limits_per_network(&mut chance)),
    })
}
