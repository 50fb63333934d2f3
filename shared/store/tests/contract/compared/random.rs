//! Arguments by chance: often colliding, sometimes wrong, rarely enormous.

use vestibule_domain::{
    QueueingMethod, RoomSettings,
    schedule::{Event, Overrides, RoomConfig},
};

use super::pair::Memory;
use crate::crowd::Chances;

/// The greatest integer that Lua holds exactly.
const MOST: u64 = 9_007_199_254_740_991;

/// One of them.
pub(super) fn one<T: Clone>(chances: &mut Chances, of: &[T]) -> T {
    of[usize::try_from(chances.below(of.len() as u64)).unwrap()].clone()
}

/// True once in `n` times.
pub(super) fn once_in(chances: &mut Chances, n: u64) -> bool {
    chances.below(n) == 0
}

pub(super) fn maybe(chances: &mut Chances, of: &[u64]) -> Option<u64> {
    (!once_in(chances, 3)).then(|| one(chances, of))
}

/// By how much the time moves between two calls, ms.
pub(super) fn pause_ms(chances: &mut Chances) -> u64 {
    match chances.below(8) {
        0..=2 => 0,
        3 => one(chances, &[1, 99, 100, 101, 999]),
        4 | 5 => chances.below(5_000),
        6 => one(chances, &[12_000, 20_000, 60_000, 61_001, 120_001]),
        _ => one(chances, &[300_000, 901_000, 3_600_000, 90_000_000]),
    }
}

/// A queue number or a position: as a rule of somebody there.
pub(super) fn number(chances: &mut Chances, memory: &Memory) -> u64 {
    let last = memory.snapshot.as_ref().map_or(5, |room| room.queue_counter);
    match chances.below(12) {
        0 => chances.below(3),
        1 => last.saturating_add(chances.below(4)),
        // In other chunks. If somebody holds a number, all below it were handed out, too.
        2 if once_in(chances, 4) => one(chances, &[130_559, 130_560, 1_000_000]),
        3 => chances.below(last.min(40_000) + 2),
        _ => 1 + chances.below(last.min(12) + 1),
    }
}

/// A reset epoch: as a rule the room's.
pub(super) fn epoch(chances: &mut Chances, memory: &Memory) -> u64 {
    let current = memory.snapshot.as_ref().map_or(7, |room| room.reset_epoch);
    match chances.below(12) {
        0 => one(chances, &[0, 1, MOST]),
        1 => current + 1,
        _ => current,
    }
}

/// The epoch of a leader: as a rule the latest one.
pub(super) fn leader(chances: &mut Chances, memory: &mut Memory) -> u64 {
    match chances.below(10) {
        0 => memory.leader.saturating_sub(1),
        1 => {
            memory.leader += 1 + chances.below(2);
            memory.leader
        }
        _ => memory.leader,
    }
}

pub(super) fn region(chances: &mut Chances) -> &'static str {
    one(chances, &["here", "here", "there", "far-away", "höher"])
}

pub(super) fn key_id(chances: &mut Chances) -> &'static str {
    one(chances, &["k", "k2", "", "with space"])
}

pub(super) fn issuer(chances: &mut Chances) -> &'static str {
    one(chances, &["https://issuer", "https://ä.example/\"x\"", "", "a|b"])
}

pub(super) fn instance(chances: &mut Chances) -> &'static str {
    one(chances, &["a", "b", "c-1"])
}

pub(super) fn config(chances: &mut Chances, now_s: u64) -> RoomConfig {
    let names = ["first", "second"];
    let count = usize::try_from(chances.below(4).saturating_sub(1)).unwrap();
    let events = names[..count].iter().map(|name| event(chances, name, now_s)).collect();
    RoomConfig { settings: settings(chances), events, ..RoomConfig::default() }
}

fn settings(chances: &mut Chances) -> RoomSettings {
    RoomSettings {
        queueing_method: method(chances),
        total_active_users: maybe(chances, &[0, 1, 3, 10, 10, 1_000]),
        new_users_per_minute: maybe(chances, &[0, 1, 7, 20, 61, 1_000]),
        session_duration_seconds: one(chances, &[1, 5, 60, 300, 301]),
        disable_session_renewal: once_in(chances, 4),
        token_validity_seconds: one(chances, &[1, 60, 3_600]),
        position_expiry_seconds: maybe(chances, &[1, 10, 60, 900]),
        advance_on_position_expiry: once_in(chances, 2),
        queue_all: once_in(chances, 10),
        suspended: once_in(chances, 12),
        ..RoomSettings::default()
    }
}

fn method(chances: &mut Chances) -> QueueingMethod {
    use QueueingMethod::{Fifo, Passthrough, Random, Reject};
    one(chances, &[Fifo, Fifo, Fifo, Random, Random, Passthrough, Reject])
}

fn event(chances: &mut Chances, name: &str, now_s: u64) -> Event {
    let opens = now_s + chances.below(400) - 200;
    let start = opens + one(chances, &[0, 5, 300, 4_000]);
    let end = start + one(chances, &[1, 60, 400, 4_000]);
    let json = format!(r#"{{"name":"{name}","event_start_time":{start},"event_end_time":{end}}}"#);
    let drawn = start > opens && once_in(chances, 2);
    Event {
        prequeue_start: (start > opens).then_some(opens),
        draw: drawn,
        draw_id: if drawn { format!("draw-{name}") } else { String::new() },
        commitment: drawn.then(|| "ab".to_owned()),
        suspended: once_in(chances, 8),
        overrides: Overrides {
            total_active_users: maybe(chances, &[0, 2, 50]),
            new_users_per_minute: maybe(chances, &[2, 50]),
            session_duration_seconds: maybe(chances, &[2, 30]),
            disable_session_renewal: None,
            queueing_method: once_in(chances, 3).then(|| method(chances)),
            ..Overrides::default()
        },
        ..serde_json::from_str(&json).unwrap()
    }
}
