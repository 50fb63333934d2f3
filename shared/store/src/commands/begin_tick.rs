//! The first half of the leader's tick.

use redis::{FromRedisValue, ParsingError, Value};
use serde::{Deserialize, Serialize};
use vestibule_domain::{
    RoomId, RoomSettings,
    draw::Pool,
    presence::tally::{BlockBits, ChunkCount},
    roll::{Chunks, Counted, RoomCounters},
    schedule::{EventInForce, InForce},
};

use crate::{Store, StoreError, document, scripts};

/// Records of AWS-style tokens are kept this long after they expired, in seconds: a repeated call
/// still gets the same answer, and the operator's list still names them.
const TOKENS_KEPT_SECONDS: u64 = 24 * 3600;

/// What the leader reads of a room at the beginning of a tick.
#[derive(Debug, Clone)]
pub struct TickReport {
    /// The room's counters.
    pub counters: RoomCounters,
    /// Who is there, as far as this tick counted.
    pub counted: Counted,
    /// The settings and the event in force.
    pub in_force: InForce,
    /// The pool that waits for a draw.
    pub pool: Pool,
    /// The version of the room's config.
    pub config_version: u64,
    /// Whether the written phase is over, so that the leader must switch phases.
    pub phase_is_over: bool,
    /// Whether the room rests from now on; its snapshot was pushed then.
    pub rests: bool,
    /// When something is due by itself in a room that rests, ms; 0: nothing is.
    pub due_ms: u64,
    /// Whether all was forgotten that is over; else further calls go on with it.
    pub swept: bool,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    tokens_kept_seconds: u64,
    line_chunks: &'a [u64],
    pool_chunks: &'a [u64],
    settled: bool,
}

/// The script's reply: a document, and the bits of the blocks that it names, three texts each.
struct Parts {
    document: String,
    bits: Vec<Vec<u8>>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(flatten)]
    counters: RoomCounters,
    line: Vec<ChunkCount>,
    pool: Vec<ChunkCount>,
    near: Vec<u64>,
    pool_first: u64,
    pool_last: u64,
    pool_id: String,
    settings: String,
    event: String,
    config_version: u64,
    phase_is_over: bool,
    rests: bool,
    due_ms: u64,
    swept: bool,
}

impl Store {
    /// Ends expired sessions, positions and seats of a room, counts who is there in some `chunks`, and
    /// reports the room's state. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn begin_tick(
        &self,
        room: &RoomId,
        chunks: &Chunks,
        epoch: u64,
    ) -> Result<TickReport, StoreError> {
        self.begin(room, chunks, false, epoch).await
    }

    /// The same in a room in which nothing has changed for a while. If nobody waits there, it rests from now on: its
    /// snapshot is pushed with this call, and whoever changes it wakes it ([`crate::KnownRoom::was_woken`]).
    ///
    /// # Errors
    /// As [`Self::begin_tick`].
    pub async fn begin_settled_tick(
        &self,
        room: &RoomId,
        chunks: &Chunks,
        epoch: u64,
    ) -> Result<TickReport, StoreError> {
        self.begin(room, chunks, true, epoch).await
    }

    async fn begin(
        &self,
        room: &RoomId,
        chunks: &Chunks,
        settled: bool,
        epoch: u64,
    ) -> Result<TickReport, StoreError> {
        let arguments = Arguments {
            room,
            leader_epoch: epoch,
            tokens_kept_seconds: TOKENS_KEPT_SECONDS,
            line_chunks: &chunks.line,
            pool_chunks: &chunks.pool,
            settled,
        };
        let noting = self.noting(Some(room), Vec::new).await;
        let parts: Result<Parts, _> =
            self.call_for(&scripts::BEGIN_TICK, room, &[], &arguments).await;
        let report = parts.and_then(Parts::report);
        if let Some(noting) = noting {
            noting.settle(&report, |report| Some(report.counters.now_ms), |_| Vec::new());
        }
        report
    }
}

// === impl Parts ===

impl FromRedisValue for Parts {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        let mut texts = Vec::<Vec<u8>>::from_redis_value(value)?.into_iter();
        let document = String::from_utf8(texts.next().unwrap_or_default())
            .map_err(|error| ParsingError::from(error.to_string()))?;
        Ok(Self { document, bits: texts.collect() })
    }
}

impl Parts {
    fn report(self) -> Result<TickReport, StoreError> {
        let document: Document = document::decode(&self.document)?;
        let near = document.near.iter().zip(self.bits.chunks_exact(3)).map(|(block, bits)| {
            let [checked_in, unattended, over] = [0, 1, 2].map(|nth| bits[nth].clone());
            BlockBits { block: *block, checked_in, unattended, over }
        });
        Ok(TickReport {
            counted: Counted { line: document.line, pool: document.pool, near: near.collect() },
            counters: document.counters,
            in_force: InForce {
                settings: document::decode(&document.settings)?,
                event: document::decode(&document.event)?,
            },
            pool: Pool {
                first: document.pool_first,
                last: document.pool_last,
                draw_id: document.pool_id,
            },
            config_version: document.config_version,
            phase_is_over: document.phase_is_over,
            rests: document.rests,
            due_ms: document.due_ms,
            swept: document.swept,
        })
    }
}

// === impl TickReport ===

impl TickReport {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &RoomSettings {
        &self.in_force.settings
    }

    /// The event in force.
    #[must_use]
    pub fn event(&self) -> Option<&EventInForce> {
        self.in_force.event.as_ref()
    }
}
