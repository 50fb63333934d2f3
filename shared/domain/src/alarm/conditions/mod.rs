//! The conditions of the alarms, as the rules for Prometheus have them, by what one controller knows. For how long each
//! has to hold is the alarm's.

use super::{Alarm, Condition};
use crate::RoomSnapshot;

/// More free seats than this part of the tighter limit are too many while people wait.
const FREE: f64 = 0.1;
/// Below so many places ghosts are no alarm.
const FEW_PLACES: u64 = 100;
/// By how much told waits may be off: half of the true one, or a minute.
const OFF_BY_SECONDS: f64 = 60.0;
/// For how long it is told that Redis had gone back, ms.
const REWOUND_FOR_MS: u64 = 600_000;
/// A room of which nothing was heard for so long is not served, ms. One that rests is heard of every four seconds.
const UNHEARD_MS: u64 = 10_000;
/// Minutes should be closed this long after they ended, seconds.
const CLOSED_WITHIN: u64 = 180;
const KEY_IS_OLD: u64 = 365 * 86_400;
const TOKEN_ENDS: u64 = 3 * 86_400;
/// Whoever makes a token for an hour knows that it ends.
const DAY: u64 = 86_400;

/// How a room looks.
#[derive(Debug, Clone, Copy)]
pub struct SeenRoom<'a> {
    /// The room itself.
    pub room: &'a RoomSnapshot,
    /// The mean of two minutes of the seats that are free; `None`: it has no limit.
    pub free: Option<f64>,
    /// The means of ten minutes of waits that were told, and of what became of them, in seconds.
    pub waits: Option<(f64, f64)>,
}

/// How the rest looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenDeployment {
    /// Now, ms.
    pub now_ms: u64,
    /// When a room was last brought back that Redis had lost, ms.
    pub restored_at_ms: Option<u64>,
    /// Redis writes nothing to a disk.
    pub not_persistent: bool,
    /// Redis throws keys away.
    pub evicts: bool,
    /// How long ago each room was heard of, ms.
    pub unheard_ms: Vec<u64>,
    /// Up to when this controller has closed the minutes of its rooms, unix seconds; `None`: it had none to close.
    pub closed_upto: Option<u64>,
    /// The keys that sign: their names, and when they were made, unix seconds.
    pub keys: Vec<(String, u64)>,
    /// An older secret opens what it sealed.
    pub secret_is_being_replaced: bool,
    /// API tokens that end: their names, when they were made and when they end, unix seconds.
    pub tokens: Vec<(String, u64, u64)>,
}

/// The conditions that hold in a room.
#[must_use]
pub fn room_conditions(seen: SeenRoom<'_>) -> Vec<Condition> {
    let (room, waiting) = (&seen.room.room, seen.room.figures.waiting);
    let mut found = Vec::new();
    let mut hold = |alarm, summary: String| {
        let (subject, room) = (room.as_str().to_owned(), Some(room.clone()));
        found.push(Condition { alarm, subject, room, summary });
    };
    if waiting > 0 {
        hold(Alarm::QueueingBegan, format!("Room {room}: people wait in line ({waiting} now)"));
    }
    if let Some(free) = seen.too_many_free() {
        let summary = format!("Room {room}: seats stand empty while people wait ({free:.0} free)");
        hold(Alarm::SeatsEmpty, summary);
    }
    if let Some(ghosts) = seen.ghosts() {
        let summary = format!("Room {room}: of most places in line nobody is there");
        hold(Alarm::GhostsInLine, format!("{summary} ({ghosts} ghosts)"));
    }
    if let Some(off) = seen.off_by() {
        hold(Alarm::EstimatesOff, format!("Room {room}: told waits are off by {off:.0} s"));
    }
    found
}

/// The conditions that hold in the deployment.
#[must_use]
pub fn deployment_conditions(seen: &SeenDeployment) -> Vec<Condition> {
    let now = seen.now_ms / 1_000;
    let mut found = Vec::new();
    let mut hold = |alarm, subject: &str, summary: String| {
        found.push(Condition { alarm, subject: subject.to_owned(), room: None, summary });
    };
    if seen.restored_at_ms.is_some_and(|at| seen.now_ms.saturating_sub(at) <= REWOUND_FOR_MS) {
        let summary = "Redis had gone back: rooms were brought to their latest state";
        hold(Alarm::RedisRewound, "", summary.to_owned());
    }
    if seen.not_persistent {
        hold(Alarm::RedisNotPersistent, "", "Redis writes nothing to a disk".to_owned());
    }
    if seen.evicts {
        let summary = "Redis throws keys away when its memory is full";
        hold(Alarm::RedisEvicts, "", summary.to_owned());
    }
    let unheard = seen.unheard_ms.iter().filter(|ms| **ms > UNHEARD_MS).count();
    if unheard > 0 {
        let summary = "Rooms that no controller serves, so that their lines stand still";
        hold(Alarm::RoomsNotServed, "", format!("{summary}: {unheard}"));
    }
    if let Some(behind) = seen.closed_upto.map(|upto| now.saturating_sub(upto))
        && behind > CLOSED_WITHIN
    {
        let summary = format!("The leader has not written the history for {behind} s");
        hold(Alarm::HistoryNotWritten, "", summary);
    }
    for (kid, made) in &seen.keys {
        let age = now.saturating_sub(*made);
        if age > KEY_IS_OLD {
            let summary = format!("The key that signs tokens is {} days old", age / DAY);
            hold(Alarm::SigningKeyOld, kid, summary);
        }
    }
    if seen.secret_is_being_replaced {
        let summary = "An older secret has opened what it sealed for a week";
        hold(Alarm::OldSecretStays, "", summary.to_owned());
    }
    for (name, made, end) in &seen.tokens {
        if now < *end && end - now < TOKEN_ENDS && made + DAY <= now {
            let hours = (end - now) / 3_600;
            hold(Alarm::ApiTokenEnds, name, format!("The API token {name} ends in {hours} h"));
        }
    }
    found
}

// === impl SeenRoom ===

#[expect(clippy::cast_precision_loss, reason = "counts of people")]
impl SeenRoom<'_> {
    /// How many seats are free, if these are too many.
    fn too_many_free(self) -> Option<f64> {
        let settings = &self.room.settings;
        let limits = settings.total_active_users.into_iter().chain(settings.new_users_per_minute);
        let tighter = limits.min()?;
        let people_wait = self.room.figures.waiting > 0 && self.room.is_queueing();
        self.free.filter(|free| people_wait && *free > FREE * tighter as f64)
    }

    /// How many places nobody holds any more, if these are most.
    fn ghosts(self) -> Option<u64> {
        let waiting = self.room.figures.waiting;
        let places = self.room.numbers_waiting(self.room.progress());
        let places = Some(places).filter(|places| *places >= FEW_PLACES)?;
        let ghosts = places.saturating_sub(waiting);
        (waiting > 0 && 2 * ghosts > places).then_some(ghosts)
    }

    /// By how many seconds told waits are off, if that is too much.
    fn off_by(self) -> Option<f64> {
        let (told, waited) = self.waits?;
        let off = (told - waited).abs();
        (off > (0.5 * waited).max(OFF_BY_SECONDS)).then_some(off)
    }
}

#[cfg(test)]
mod tests;
