//! A crowd in one room, and a leader of its own: what both do to Redis in the life of a line.

use std::time::Duration;

use anyhow::{Context, Result};
use vestibule_domain::{
    Place, QueueingMethod, RoomId, RoomSettings,
    check_in::{self, LineConditions},
    network_limits::NetworkLimits,
    presence::{Band, Spot},
    roll::Roll,
    schedule::RoomConfig,
    tick::TickState,
};
use vestibule_store::{
    CallerBindings, Claim, Clock, Departure, EndedAs, Join, JoinMode, MOST_CHECK_INS, Push,
    SessionKind, Store,
};
use vestibule_tests::Redis;

use crate::measures::script_times::ScriptTimes;

const ROOM: &str = "bench-long-line";
const SEATS: u64 = 1_000;
/// Newcomers of one call, as the services send them under load,
const TOGETHER: u64 = 500;
/// and claims.
const CLAIMS_TOGETHER: usize = 32;
/// Rounds of the life at the door: a tick, claims, departures.
pub(super) const ROUNDS: u32 = 60;
/// The leader's fencing epoch.
const EPOCH: u64 = 1;
const ANSWER: Duration = Duration::from_secs(10);

/// Everyone in the room.
#[derive(Debug)]
pub(super) struct Crowd {
    store: Store,
    room: RoomId,
    visitors: u64,
    reset_epoch: u64,
    roll: Roll,
    tick_state: TickState,
    /// Those who asked for seats lately, in order of their places.
    at_door: Vec<u64>,
}

// === impl Crowd ===

impl Crowd {
    /// A room of a thousand seats, to which `visitors` will come.
    pub(super) async fn over(redis: &Redis, visitors: u64) -> Result<Self> {
        let store = Store::open(&redis.url(), Clock::Server, ANSWER)?;
        let room = RoomId::new(ROOM)?;
        let settings = RoomSettings { total_active_users: Some(SEATS), ..RoomSettings::default() };
        let config = RoomConfig { settings, ..RoomConfig::default() };
        store.put_config(&room, &config).await?;
        let snapshot = store.read_snapshot(&room).await?.context("the room is there")?;
        Ok(Self {
            store,
            room,
            visitors,
            reset_epoch: snapshot.reset_epoch,
            roll: Roll::default(),
            tick_state: TickState::default(),
            at_door: Vec::new(),
        })
    }

    /// Everyone joins.
    pub(super) async fn joins(&mut self, times: &mut ScriptTimes) -> Result<()> {
        let mut come = 0;
        while come < self.visitors {
            let call = self.store.call_name();
            let join = Join {
                call: &call,
                again: false,
                region: "local",
                count: TOGETHER.min(self.visitors - come),
                mode: JoinMode::Enter,
                key_id: "bench",
                issuer: "https://bench",
                networks: &[],
                limits: NetworkLimits::default(),
                max_session_seconds: None,
            };
            self.store.join(&self.room, &join).await?;
            come += join.count;
            if come % (TOGETHER * 1_000) == 0 {
                times.read().await?;
            }
        }
        times.read().await
    }

    /// Everyone checks in once, with the interval that is told at its place.
    pub(super) async fn checks_in(&mut self, times: &mut ScriptTimes) -> Result<()> {
        let mut first = 1;
        while first <= self.visitors {
            let last = (first + MOST_CHECK_INS as u64 - 1).min(self.visitors);
            let check_ins =
                (first..=last).map(|number| (Spot::Position(number), self.band(number)));
            let mut check_ins: Vec<_> = check_ins.collect();
            check_ins.sort_unstable_by_key(|(spot, band)| (*band, *spot));
            self.store.check_in(&self.room, self.reset_epoch, check_ins).await?;
            first = last + 1;
            if first % (MOST_CHECK_INS as u64 * 1_000) == 1 {
                times.read().await?;
            }
        }
        times.read().await
    }

    /// The leader ticks, people ask for seats, far more than there are, and leave again.
    pub(super) async fn is_let_in(&mut self, times: &mut ScriptTimes) -> Result<()> {
        self.at_door = (SEATS + 1..=SEATS + 4 * TOGETHER).collect();
        let mut inside: Vec<u64> = (1..=SEATS).collect();
        for _ in 0..ROUNDS {
            self.ticks().await?;
            let leaving = inside.drain(..inside.len().min(100)).map(|number| Departure {
                number,
                ended_as: EndedAs::Completed,
                seat: vestibule_domain::SeatEnds::AtOnce,
            });
            let leaving: Vec<_> = leaving.collect();
            self.store.leave(&self.room, self.reset_epoch, &leaving).await?;
            for some in self.at_door.chunks(CLAIMS_TOGETHER) {
                self.ask(some).await?;
            }
            times.read().await?;
        }
        Ok(())
    }

    /// The operator starts afresh.
    pub(super) async fn is_reset(&mut self, times: &mut ScriptTimes) -> Result<()> {
        self.store.reset(&self.room).await?;
        times.read().await
    }

    async fn ticks(&mut self) -> Result<()> {
        let chunks = self.roll.next();
        let report = self.store.begin_tick(&self.room, &chunks, EPOCH).await?;
        let (counters, counted) = (&report.counters, report.counted.clone());
        let input = self.roll.call(counters, counted, &report.pool, &[], &report.in_force);
        let decision = self.tick_state.decide(&input, report.settings());
        let (room, epoch, push) = (&self.room, self.reset_epoch, Push::Difference);
        self.store.apply_plan(room, EPOCH, epoch, &report, &decision, push).await?;
        Ok(())
    }

    async fn ask(&self, numbers: &[u64]) -> Result<()> {
        let claims: Vec<_> = numbers.iter().map(|number| self.claim(*number)).collect();
        self.store.claim(&self.room, "bench", &claims).await?;
        Ok(())
    }

    fn claim(&self, number: u64) -> Claim {
        Claim {
            reset_epoch: self.reset_epoch,
            place: Place { number, entered_at: 0, region: 1 },
            position: Some(number),
            rank: number,
            draws: 0,
            won: false,
            kind: SessionKind::Visitor,
            held_ms: 2_000,
            hold: false,
            request_id: String::new(),
            issuer: "https://bench".to_owned(),
            validity_seconds: None,
            network: None,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
    }

    fn band(&self, number: u64) -> Band {
        let conditions = LineConditions {
            people_ahead: number,
            waiting: self.visitors,
            polling: self.visitors,
            admissions_per_second: 50.0,
            poll_budget: 2_000,
            ..LineConditions::default()
        };
        Band::for_interval(check_in::interval_ms(QueueingMethod::Fifo, &conditions, 0.5))
    }
}
