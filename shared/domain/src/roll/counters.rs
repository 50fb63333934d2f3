//! What a tick reads of a room, but for its line.

use serde::Deserialize;

/// The counters of a room at the beginning of a tick.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct RoomCounters {
    /// The store's time, ms.
    pub now_ms: u64,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// The serving counter.
    pub serving_counter: i64,
    /// Positions up to here have expired.
    pub expired_position: u64,
    /// Seats taken.
    pub active: u64,
    /// Admissions of the last 60 seconds.
    pub admitted_last_minute: u64,
    /// Seats that are held for visitors who were called.
    pub held: u64,
    /// Promised a seat by the last plan, and by the join script since.
    pub promised: u64,
    /// Until when presence is incomplete, because the store was just restored or the line could not
    /// check in, ms.
    pub presence_from_ms: u64,
    /// Numbers that were left out while it is: the first and the last of each part.
    pub left_out: Vec<(u64, u64)>,
    /// When somebody was last heard, ms.
    pub heard_at_ms: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// Numbers handed out to AWS-style visitors, since the room's store was lost,
    pub aws_joined: u64,
    /// and sessions of theirs.
    pub aws_admitted: u64,
    /// Newcomers who were next when they came, and were kept out because their network had its seats: they were never
    /// counted as there.
    pub kept_out: u64,
    /// Numbers that nobody has, or that have entered, left or expired.
    pub over: u64,
    /// Whether nobody can be in line; then nobody is counted.
    pub nobody_waits: bool,
    /// How many stand at the door,
    pub at_door: u64,
    /// and some of them: position, and how many stand before it.
    pub door: Vec<(u64, u64)>,
    /// How many ever came to the door, of those known to be there,
    pub came_known: u64,
    /// and of others,
    pub came_unknown: u64,
    /// who came so long after they were served, all together, ms.
    pub came_after_ms: u64,
    /// When the rate limit admits the next one, if its window is used up, ms; else 0.
    pub rate_resumes_at_ms: u64,
    /// How many more its even spread lets in now; `None`: there is no rate.
    #[serde(default)]
    pub spread_left: Option<u64>,
    /// Draws since the reset.
    pub draw_count: u32,
}

// === impl RoomCounters ===

impl RoomCounters {
    pub(super) fn serving(&self) -> u64 {
        u64::try_from(self.serving_counter).unwrap_or(0)
    }
}
