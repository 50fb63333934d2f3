//! The first half of the leader's tick.

use serde::{Deserialize, Serialize};
use vestibule_domain::{
    Draw, RoomId, RoomSettings,
    draw::Pool,
    plan::TickInput,
    presence::Crowd,
    roll::{Roll, RoomCounters},
    schedule::{EventInForce, InForce},
};

use crate::{Store, StoreError, document, scripts};

/// Records of AWS-style tokens are kept this long after they expired, in seconds: a repeated call
/// still gets the same answer, and the operator's list still names them.
const TOKENS_KEPT_SECONDS: u64 = 24 * 3600;

/// What the leader reads of a room at the beginning of a tick.
#[derive(Debug, Clone)]
pub struct TickReport {
    /// What the plan is made from.
    pub input: TickInput,
    /// The settings in force.
    pub settings: RoomSettings,
    /// The event in force.
    pub event: Option<EventInForce>,
    /// The pool that waits for a draw.
    pub pool: Pool,
    /// The version of the room's config.
    pub config_version: u64,
    /// Whether the written phase is over, so that the leader must switch phases.
    pub phase_is_over: bool,
    /// Lapsed leases, to be cleared away.
    pub gone: Vec<String>,
}

#[derive(Serialize)]
struct Arguments {
    leader_epoch: u64,
    tokens_kept_seconds: u64,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(flatten)]
    counters: RoomCounters,
    leases: String,
    unattended: Vec<(u64, u64, u64)>,
    pool_first: u64,
    pool_last: u64,
    pool_id: String,
    settings: String,
    event: String,
    config_version: u64,
    phase_is_over: bool,
}

impl Store {
    /// Ends expired sessions, positions and seats of a room, and reports its state. `draws` are those
    /// that the caller knows. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn begin_tick(
        &self,
        room: &RoomId,
        draws: &[Draw],
        epoch: u64,
    ) -> Result<TickReport, StoreError> {
        let arguments = Arguments { leader_epoch: epoch, tokens_kept_seconds: TOKENS_KEPT_SECONDS };
        let noting = self.noting(Some(room), Vec::new).await;
        let reply: Result<Reply, _> = self.call(&scripts::BEGIN_TICK, room, &arguments).await;
        if let Some(noting) = noting {
            noting.settle(&reply, |reply| Some(reply.counters.now_ms), |_| Vec::new());
        }
        reply?.report(draws)
    }
}

// === impl Reply ===

impl Reply {
    fn report(self, draws: &[Draw]) -> Result<TickReport, StoreError> {
        let (counters, unattended) = (&self.counters, self.unattended());
        let pool = Pool { first: self.pool_first, last: self.pool_last, draw_id: self.pool_id };
        let in_force = InForce {
            settings: document::decode(&self.settings)?,
            event: document::decode(&self.event)?,
        };
        let mut roll = Roll::new(counters, &pool, draws, leases(&self.leases), &unattended);
        let gone = std::mem::take(&mut roll.gone);
        let unattended = unattended.iter().map(|crowd| crowd.count).sum();
        Ok(TickReport {
            input: roll.into_tick_input(counters, &pool, &in_force, unattended),
            settings: in_force.settings,
            event: in_force.event,
            pool,
            config_version: self.config_version,
            phase_is_over: self.phase_is_over,
            gone,
        })
    }

    fn unattended(&self) -> Vec<Crowd> {
        let crowds = self.unattended.iter();
        crowds.map(|&(first, last, count)| Crowd { first, last, count }).collect()
    }
}

/// The leases and counts of `lease count lease count …`.
fn leases(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let mut words = text.split_ascii_whitespace();
    std::iter::from_fn(move || Some((words.next()?, words.next()?.parse().ok()?)))
}
