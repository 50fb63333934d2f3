//! What holds after every script, read off what the server holds: no script may break it, whatever was
//! sent to it and in whatever order. What only shows over time is the history's judge's.

use std::{collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;
use serde_json::Value;
use vestibule_redis_model::{Hash, Keyspace, SortedSet};

use crate::broken::Broken;

/// Watches all rooms.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    rooms: FxHashMap<String, Seen>,
    /// Who serves each room, and in which term.
    servers: FxHashMap<String, (u64, Arc<str>)>,
}

/// A room after the last script that touched it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Seen {
    reset_epoch: u64,
    generation: u64,
    queue_counter: u64,
    serving_counter: i64,
    admitted: u64,
    /// For which places seats are or were held, and until when, ms.
    holds: BTreeMap<Arc<[u8]>, f64>,
    leader_epoch: u64,
}

/// Scripts of whoever serves a room.
const SERVES: [&str; 5] = ["begin_tick", "apply_plan", "draw", "roll_up", "switch_phase"];

/// Scripts that may move the serving counter back.
const STEPS_BACK: [&str; 3] = ["increment", "reset", "reconcile"];

// === impl Invariants ===

impl Invariants {
    /// What does not hold after `script`, which `who` called with `words`. `refused`: it answered an error.
    pub(crate) fn after(
        &mut self,
        (who, script): (&str, &str),
        words: &[Vec<u8>],
        refused: bool,
        keyspace: &Keyspace,
        (now_ms, clock_ms): (u64, u64),
    ) -> Vec<Broken> {
        let Some(room) = words.get(3).and_then(|key| room_of(key)) else { return Vec::new() };
        let clock_ms = room_ms(keyspace, room, clock_ms);
        let Some(now) = Seen::read(keyspace, room) else {
            self.rooms.remove(room);
            return Vec::new();
        };
        let mut broken = Vec::new();
        let term = term_of(words);
        let other = term.filter(|_| SERVES.contains(&script) && !refused);
        let other = other.and_then(|term| self.is_not_alone(who, room, term));
        let mut found = |invariant, what| broken.push(Broken { at_ms: now_ms, invariant, what });
        if let Some(other) = other {
            found("one serves a room", format!("{room}: {who} and {other} in term {term:?}"));
        }
        if let Some(before) = self.rooms.get(room)
            && before.reset_epoch == now.reset_epoch
        {
            for (invariant, holds) in now.follows(before, script) {
                if !holds {
                    found(invariant, format!("{room}: {script}: {before:?}, then {now:?}"));
                }
            }
            if !refused && term.is_some_and(|term| term < before.leader_epoch) {
                let (term, later) = (term.unwrap_or(0), before.leader_epoch);
                let what =
                    format!("{room}: {script} of term {term} is carried out in term {later}");
                found("stale leaders are refused", what);
            }
            if script == "check_in" {
                let (bytes, most) = presence(keyspace, room, now.queue_counter);
                if bytes > most {
                    let what = format!("{room}: {bytes} bytes of presence, at most {most}");
                    found("memory", what);
                }
            }
            // Whoever comes for a held seat takes no other.
            let called = before.called(&now, clock_ms);
            if now.admitted > before.admitted + called && before.generation == now.generation {
                let (active, ceiling) = seats(keyspace, room, clock_ms);
                if ceiling.is_some_and(|ceiling| active > ceiling) {
                    let ceiling = ceiling.unwrap_or(0);
                    let what = format!("{room}: {script}: {active} seats taken of {ceiling}");
                    found("ceiling", what);
                }
            }
        }
        match self.rooms.get_mut(room) {
            Some(seen) => *seen = now,
            None => drop(self.rooms.insert(room.to_owned(), now)),
        }
        broken
    }

    /// Who else than `who` has served the room in this term.
    fn is_not_alone(&mut self, who: &str, room: &str, term: u64) -> Option<Arc<str>> {
        match self.servers.get(room) {
            Some((last, other)) if *last == term => (**other != *who).then(|| Arc::clone(other)),
            _ => {
                self.servers.insert(room.to_owned(), (term, who.into()));
                None
            }
        }
    }
}

// === impl Seen ===

impl Seen {
    fn read(keyspace: &Keyspace, room: &str) -> Option<Self> {
        let line = keyspace.hash(format!("vestibule:room:{{{room}}}:line"))?;
        let number = |name| number(line, name);
        Some(Self {
            reset_epoch: number("reset_epoch"),
            generation: number("generation"),
            queue_counter: number("queue_counter"),
            serving_counter: text(line, "serving_counter")
                .and_then(|t| t.parse().ok())
                .unwrap_or(0),
            admitted: number("admitted"),
            holds: held_seats(keyspace, room),
            leader_epoch: number("leader_epoch"),
        })
    }

    /// How many came, until `now`, for a seat that was held for them at `clock_ms`.
    fn called(&self, now: &Self, clock_ms: u64) -> u64 {
        let held = self.holds.iter().filter(|(_, until)| **until >= as_score(clock_ms));
        held.filter(|(place, _)| !now.holds.contains_key(*place)).count() as u64
    }

    fn follows(&self, before: &Self, script: &str) -> [(&'static str, bool); 4] {
        let may_step_back = STEPS_BACK.contains(&script);
        [
            ("queue counter rises", self.queue_counter >= before.queue_counter),
            (
                "serving counter rises",
                may_step_back || self.serving_counter >= before.serving_counter,
            ),
            ("admissions rise", self.admitted >= before.admitted),
            ("leader epoch rises", self.leader_epoch >= before.leader_epoch),
        ]
    }
}

/// The room's time when the server's clock stands at `clock_ms`.
fn room_ms(keyspace: &Keyspace, room: &str, clock_ms: u64) -> u64 {
    let line = keyspace.hash(format!("vestibule:room:{{{room}}}:line"));
    let ahead = line.and_then(|line| text(line, "clock_ahead")?.parse().ok()).unwrap_or(0);
    clock_ms.saturating_add_signed(ahead)
}

/// For which places seats are or were held, and until when.
fn held_seats(keyspace: &Keyspace, room: &str) -> BTreeMap<Arc<[u8]>, f64> {
    let holds = keyspace.sorted_set(format!("vestibule:room:{{{room}}}:holds"));
    let holds = holds.into_iter().flat_map(SortedSet::iter);
    holds.map(|(place, until)| (Arc::clone(place), until)).collect()
}

/// Seats taken by live sessions, and how many there are.
pub(crate) fn seats(keyspace: &Keyspace, room: &str, clock_ms: u64) -> (u64, Option<u64>) {
    let ceiling = phase(keyspace, room, clock_ms).and_then(|phase| {
        if phase["open"] == Value::Bool(true) || phase["suspended"] == Value::Bool(true) {
            return None; // Everyone may enter.
        }
        let ceiling = phase.get("total_active_users")?;
        ceiling.as_u64().or_else(|| ceiling.as_str()?.parse().ok())
    });
    (sessions_from(keyspace, room, clock_ms), ceiling)
}

/// How many sessions last until `from_ms`, or longer.
fn sessions_from(keyspace: &Keyspace, room: &str, from_ms: u64) -> u64 {
    let sessions = keyspace.sorted_set(format!("vestibule:room:{{{room}}}:sessions"));
    sessions.map_or(0, |sessions| {
        // A session's score is its last ms.
        sessions.iter().rev().take_while(|(_, end)| *end >= as_score(from_ms)).count() as u64
    })
}

/// How many sessions Redis keeps: those that are over until they are forgotten.
pub(crate) fn sessions_kept(keyspace: &Keyspace, room: &str) -> usize {
    keyspace.sorted_set(format!("vestibule:room:{{{room}}}:sessions")).map_or(0, SortedSet::len)
}

/// How many bytes tell who is there, and how many there may be: a bit for each number handed out, in each
/// band and generation that counts.
fn presence(keyspace: &Keyspace, room: &str, numbers: u64) -> (u64, u64) {
    let prefix = format!("vestibule:room:{{{room}}}:there:");
    let keys = keyspace.keys().into_iter().filter(|key| key.starts_with(prefix.as_bytes()));
    let bytes: usize = keys.filter_map(|key| keyspace.text(key)).map(<[u8]>::len).sum();
    (bytes as u64, 64 + 2 * numbers)
}

#[expect(clippy::cast_precision_loss, reason = "times in ms have 41 bits")]
fn as_score(ms: u64) -> f64 {
    ms as f64
}

/// How many seats are free for whoever waits; `None`: it is not known, or something else than the ceiling
/// decides.
pub(crate) fn free_seats(keyspace: &Keyspace, room: &str, clock_ms: u64) -> Option<u64> {
    let clock_ms = room_ms(keyspace, room, clock_ms);
    let (_, ceiling) = seats(keyspace, room, clock_ms);
    let phase = phase(keyspace, room, clock_ms)?;
    let is = |name| phase[name] == Value::Bool(true);
    if is("held") || is("rejects") || !phase["new_users_per_minute"].is_null() {
        return None;
    }
    let counters = keyspace.hash(format!("vestibule:room:{{{room}}}:line"))?;
    // An operator who takes the counter below zero holds everyone.
    if text(counters, "serving_counter").is_some_and(|counter| counter.starts_with('-')) {
        return None;
    }
    let owed = if number(counters, "unconfirmed_until") >= clock_ms {
        number(counters, "unconfirmed")
    } else {
        0
    };
    // Sessions that have ended count on while somebody who is silent may have renewed them.
    let counted_from_ms = if number(counters, "kept_until") >= clock_ms {
        number(counters, "kept_from").min(clock_ms)
    } else {
        clock_ms
    };
    Some(ceiling?.saturating_sub(sessions_from(keyspace, room, counted_from_ms) + owed))
}

/// When the room was ticked last, by the server's clock, ms.
pub(crate) fn ticked_ms(keyspace: &Keyspace, room: &str) -> Option<u64> {
    let line = keyspace.hash(format!("vestibule:room:{{{room}}}:line"))?;
    Some(number(line, "ticked_at")).filter(|ticked_at| *ticked_at > 0)
}

/// Whether people enter in order of arrival.
pub(crate) fn is_in_order(keyspace: &Keyspace, room: &str) -> bool {
    let settings = keyspace.hash(format!("vestibule:room:{{{room}}}:settings"));
    settings
        .and_then(|settings| text(settings, "settings"))
        .and_then(|settings| serde_json::from_str::<Value>(settings).ok())
        .is_some_and(|settings| settings["queueing_method"] == "fifo")
}

/// The phase in force, as scripts read it.
fn phase(keyspace: &Keyspace, room: &str, clock_ms: u64) -> Option<Value> {
    let settings = keyspace.hash(format!("vestibule:room:{{{room}}}:settings"))?;
    let over = text(settings, "until")?.parse().is_ok_and(|until: u64| clock_ms >= until);
    serde_json::from_str(text(settings, if over { "next.phase" } else { "phase" })?).ok()
}

/// The term in which a leader wrote; `None`: no leader's script.
fn term_of(words: &[Vec<u8>]) -> Option<u64> {
    let document = std::str::from_utf8(words.last()?).ok()?;
    let (_, term) = document.split_once("\"leader_epoch\":\"")?;
    term.split_once('"')?.0.parse().ok()
}

/// The name of the room that `key` is of.
pub(crate) fn room_of(key: &[u8]) -> Option<&str> {
    let key = std::str::from_utf8(key).ok()?.strip_prefix("vestibule:room:{")?;
    key.split_once('}').map(|(room, _)| room)
}

fn text<'a>(hash: &'a Hash, name: &str) -> Option<&'a str> {
    hash.get(name.as_bytes()).and_then(|value: &Arc<[u8]>| std::str::from_utf8(value).ok())
}

fn number(hash: &Hash, name: &str) -> u64 {
    text(hash, name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use vestibule_redis_model::{Engine, Options, Server};

    use super::*;

    /// How many of three seats are free at `clock_ms`, where one session lasts until 1000 ms and another until 9000, and
    /// the line says this.
    fn free_at(clock_ms: u64, line: &str) -> Option<u64> {
        let mut server = Server::new(Engine::default(), Options::default());
        for command in [
            r#"HSET vestibule:room:{r}:settings until 99999 phase {"total_active_users":3}"#,
            "ZADD vestibule:room:{r}:sessions 1000 1 9000 2",
            &format!("HSET vestibule:room:{{r}}:line {line}"),
        ] {
            let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
            server.call(0, &words);
        }
        free_seats(server.snapshot().keyspace(), "r", clock_ms)
    }

    #[test]
    fn seats_that_may_be_somebodys_are_not_free() {
        let known = "serving_counter 5";
        assert_eq!((free_at(1_000, known), free_at(1_001, known)), (Some(1), Some(2)));
        let owed = "unconfirmed 1 unconfirmed_until 5000";
        assert_eq!((free_at(5_000, owed), free_at(5_001, owed)), (Some(1), Some(2)));
        let kept = "kept_from 900 kept_until 5000";
        assert_eq!((free_at(5_000, kept), free_at(5_001, kept)), (Some(1), Some(2)));
        let ended_before = "kept_from 1001 kept_until 5000";
        assert_eq!(free_at(5_000, ended_before), Some(2), "it had ended before the loss");
    }
}
