//! What a store loses, and what it is given back.

use vestibule_domain::{
    presence::Band,
    restoration::{Restoration, WatermarkReport},
};

use super::{Called, Chances, Pair};
use crate::compared::random::{epoch, instance, leader, number, once_in, one};

/// The parts of a room, by the last word of their keys.
const PARTS: [&str; 18] = [
    "line",
    "line",
    "settings",
    "sessions",
    "records",
    "tokens",
    "entered:0",
    "unattended:0",
    "rate",
    "rows",
    "grants",
    "draws",
    "door",
    "asked",
    "passed",
    "seatless",
    "there",
    "traffic",
];

/// One key of a room is lost, or all of it, or everything.
pub(super) async fn lose(pair: &mut Pair, chances: &mut Chances, room: usize) {
    if once_in(chances, 6) {
        return pair.command("FLUSHALL".to_owned(), &redis::cmd("FLUSHALL")).await;
    }
    let part = one(chances, &PARTS);
    let key = if part == "there" {
        let generation = Band::ALL[0].generation(pair.clock.now_ms());
        format!("vestibule:room:{{{}}}:there:line:0:{generation}:0", pair.rooms[room])
    } else {
        format!("vestibule:room:{{{}}}:{part}", pair.rooms[room])
    };
    pair.command(format!("{key} is lost"), redis::cmd("DEL").arg(key)).await;
}

/// Restores a room, which as a rule was lost before.
pub(super) async fn restore(pair: &mut Pair, chances: &mut Chances, room: usize) -> Called {
    let (id, memory) = (pair.rooms[room].clone(), &mut pair.memory[room]);
    let Some(mut last) = memory.snapshot.clone() else { return Ok(()) };
    let (leader, config) = (leader(chances, memory), memory.config.clone());
    let mut to = Restoration::new(&last, &[], &config);
    if once_in(chances, 2) {
        to.queue_counter += chances.below(50);
        to.serving_counter += one(chances, &[-5, 0, 20]);
        to.admitted_last_minute = chances.below(40);
        to.active += chances.below(4);
        to.presence_seconds = chances.below(100);
        to.seats_held_seconds = chances.below(400);
    }
    last.figures.unattended = chances.below(3);
    if !once_in(chances, 4) {
        let keys = ["line", "settings", "rows", "rate"];
        for part in keys.iter().take(usize::try_from(chances.below(5)).unwrap()) {
            let key = format!("vestibule:room:{{{id}}}:{part}");
            pair.command(format!("{key} is lost"), redis::cmd("DEL").arg(key)).await;
        }
    }
    let name = format!("restore({id}, {last:?}, {leader}, {to:?})");
    pair.one(name, async |side| side.store.restore(&last, leader, &to, &config).await).await?;
    Ok(())
}

pub(super) async fn report_watermarks(
    pair: &mut Pair,
    chances: &mut Chances,
    room: usize,
) -> Called {
    let (id, memory, who) = (pair.rooms[room].clone(), &pair.memory[room], instance(chances));
    let seen = WatermarkReport {
        reset_epoch: epoch(chances, memory),
        queue_counter: number(chances, memory).min(100_000),
        serving_counter: once_in(chances, 2).then(|| i64::try_from(chances.below(50)).unwrap()),
        admitted: chances.below(50),
        active: chances.below(5),
    };
    let name = format!("report_watermarks({id}, {who}, {seen:?})");
    pair.one(name, async |side| side.store.report_watermarks(&id, who, &seen).await).await?;
    Ok(())
}
