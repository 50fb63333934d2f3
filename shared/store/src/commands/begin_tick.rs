//! Surveying: the first half of the leader's tick.

use vestibule_domain::{
    Draw, Lease, RoomId, RoomSettings,
    plan::TickInput,
    presence::{Crowd, Presence},
    schedule::EventInForce,
    slots::Usage,
};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

/// Records of AWS-style tokens are kept this long after they expired, in seconds: a repeated call
/// still gets the same answer, and the operator's list still names them.
const TOKENS_KEPT_SECONDS: u64 = 24 * 3600;

/// A survey, and what the leader needs besides the plan.
#[derive(Debug, Clone)]
pub struct TickReport {
    /// What the plan is made from.
    pub survey: TickInput,
    /// The settings in force.
    pub settings: RoomSettings,
    /// The event in force.
    pub event: Option<EventInForce>,
    /// Those who wait for a draw.
    pub pool: Pool,
    /// The version of the room's config.
    pub config_version: u64,
    /// Whether a phase is over and the page must be turned.
    pub phase_is_over: bool,
    /// Leases whose holders are gone, to be cleared away.
    pub gone: Vec<String>,
}

/// The numbers that wait for a draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// The first; 0: nobody waits for one.
    pub first: u64,
    /// The last; 0: more may come.
    pub last: u64,
    /// Which draw it is.
    pub draw_id: String,
}

type Answer = (
    (u64, u64, i64, u64, u64, u64, u64, u64, u64, u64),
    Vec<(String, u64)>,
    Vec<(u64, u64, u64)>,
    u64,
    (u64, u64, String, u32),
    (String, String, u64, u8),
);

/// What leases say of a room.
struct Roll<'a> {
    now_ms: u64,
    queue_counter: u64,
    expired_position: u64,
    draws: &'a [Draw],
    draw_count: u32,
    pool: &'a Pool,
    attending: Vec<Crowd>,
    there: Vec<Crowd>,
    winners: u64,
    gone: Vec<String>,
}

// === impl Pool ===

impl Pool {
    /// Whether nobody waits for a draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Whether it is closed and waits to be drawn.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.first > 0 && self.last > 0
    }

    /// How many it holds, once it is closed.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.is_closed() { (self.last + 1).saturating_sub(self.first) } else { 0 }
    }
}

impl Store {
    /// Lets go of what has run out in a room, and says how it stands. `draws` are those that the
    /// caller knows of. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn begin_tick(
        &self,
        room: &RoomId,
        draws: &[Draw],
        epoch: u64,
    ) -> Result<TickReport, StoreError> {
        let parts = [
            Part::Line,
            Part::Sessions,
            Part::Records,
            Part::Tokens,
            Part::Settings,
            Part::Rate,
            Part::Rows,
            Part::Entered,
            Part::Door,
            Part::Presence,
            Part::Unattended,
        ];
        let mut call = self.timed(&scripts::BEGIN_TICK, &keys(room, parts));
        call.arg(epoch).arg(TOKENS_KEPT_SECONDS);
        report(self.run(&call).await?, draws)
    }
}

fn report(answer: Answer, draws: &[Draw]) -> Result<TickReport, StoreError> {
    let (line, leases, unattended, rate_resumes_at_ms, pool, config) = answer;
    let (now_ms, queue_counter, serving, expired_position, active, last_minute, ..) = line;
    let (.., promised, promised_at_ms, presence_from, admitted) = line;
    let (first, last, draw_id, draw_count) = pool;
    let (settings, event, config_version, phase_is_over) = config;
    let settings: RoomSettings = serde_json::from_str(&settings).map_err(StoreError::unexpected)?;
    let event: Option<EventInForce> =
        serde_json::from_str(&event).map_err(StoreError::unexpected)?;
    let pool = Pool { first, last, draw_id };
    let serving_counter = u64::try_from(serving).unwrap_or(0);
    let mut roll = Roll {
        now_ms,
        queue_counter,
        expired_position,
        draws,
        draw_count,
        pool: &pool,
        attending: Vec::new(),
        there: Vec::new(),
        winners: 0,
        gone: Vec::new(),
    };
    for (field, count) in leases {
        roll.take(field, count);
    }
    for (first, last, count) in &unattended {
        roll.count_unattended(*first, *last, *count, serving_counter);
    }
    let prequeueing = event.as_ref().is_some_and(|event| event.prequeueing);
    let paused = settings.queue_all || settings.suspended || prequeueing || !pool.is_empty();
    let (winners, gone) = (roll.winners, roll.gone);
    let survey = TickInput {
        now_ms,
        method: settings.queueing_method,
        queue_counter,
        serving_counter,
        expired_position,
        usage: Usage {
            ceiling: settings.total_active_users,
            active,
            rate: settings.new_users_per_minute,
            admitted_last_minute: last_minute,
        },
        held: paused || serving < 0,
        promised,
        promised_at_ms,
        presence_incomplete_until_ms: presence_from,
        admitted,
        attending: Presence::new(roll.attending, queue_counter),
        there: Presence::new(roll.there, queue_counter),
        unattended: unattended.iter().map(|(_, _, count)| count).sum(),
        winners,
        winners_to_come: 0.0,
        rate_resumes_at_ms,
        silent: false,
        most_served: None,
    };
    let phase_is_over = phase_is_over == 1;
    Ok(TickReport { survey, settings, event, pool, config_version, phase_is_over, gone })
}

// === impl Roll ===

impl Roll<'_> {
    /// Counts the holders of one lease.
    fn take(&mut self, field: String, count: u64) {
        let Ok(lease) = field.parse::<Lease>() else { return self.gone.push(field) };
        let passed = lease.range().is_some_and(|(_, last)| last <= self.expired_position);
        if lease.is_gone(self.now_ms) || passed {
            return self.gone.push(field);
        }
        let attends = !lease.has_lapsed(self.now_ms);
        if lease.has_won() {
            self.winners += if attends { count } else { 0 };
            return;
        }
        let (first, last) = self.range(&lease);
        let crowd = Crowd { first, last, count };
        self.there.push(crowd);
        if attends {
            self.attending.push(crowd);
        }
    }

    /// The positions that a lease may stand for. Before its draw a pool is spread evenly over the
    /// places that it will be given.
    fn range(&self, lease: &Lease) -> (u64, u64) {
        if let Some(range) = lease.range() {
            return range;
        }
        let index = lease.pool().unwrap_or(u32::MAX);
        if let Some(draw) = self.draws.get(index as usize) {
            return (draw.first(), draw.first() + draw.count() - 1);
        }
        if index == self.draw_count && !self.pool.is_empty() {
            let last = if self.pool.is_closed() { self.pool.last } else { self.queue_counter };
            return (self.pool.first, last.max(self.pool.first));
        }
        // Of a draw that was cancelled, or that the caller has not heard of yet.
        (1, self.queue_counter.max(1))
    }

    /// AWS-style visitors are known by their numbers. In a range that was drawn they stand anywhere
    /// in it that has not been served.
    fn count_unattended(&mut self, first: u64, last: u64, count: u64, serving: u64) {
        let drawn = self.draws.iter().find(|draw| draw.contains(first) && draw.contains(last));
        let (first, last) = drawn.map_or((first, last), |draw| {
            let end = draw.first() + draw.count() - 1;
            (draw.first().max(serving + 1).min(end), end)
        });
        let crowd = Crowd { first, last, count };
        self.there.push(crowd);
        self.attending.push(crowd);
    }
}
