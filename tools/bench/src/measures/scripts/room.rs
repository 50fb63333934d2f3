//! A large room: filled by the scripts themselves, as many visitors at a time as services send together.

use std::time::Duration;

use anyhow::{Context, Result};
use vestibule_domain::{
    Place, RoomId, RoomSettings, RoomSnapshot, network_limits::NetworkLimits, roll::Roll,
    schedule::RoomConfig, tick::TickState,
};
use vestibule_store::{
    CallerBindings, Claim, Departure, EndedAs, Join, JoinMode, ManualClock, Push, SessionKind,
    Store, batch,
};

/// The leader's fencing epoch.
pub(super) const EPOCH: u64 = 1;
/// The time-out of calls, which may take long when they should not.
pub(super) const ANSWER: Duration = Duration::from_mins(1);
/// As many newcomers as services send together,
pub(super) const JOINS_TOGETHER: u64 = 512;
/// departures and so on,
pub(super) const TOGETHER: u64 = batch::TOGETHER as u64;
/// and claims.
pub(super) const CLAIMS_TOGETHER: usize = 24;
pub(super) const ISSUER: &str = "https://bench";
pub(super) const KEY: &str = "bench";

/// A store, its time, and the name of a room.
pub(super) type At<'a> = (Store, ManualClock, &'a str);

/// A room with its leader.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) store: Store,
    pub(super) clock: ManualClock,
    pub(super) name: RoomId,
    pub(super) reset_epoch: u64,
    roll: Roll,
    tick_state: TickState,
}

// === impl Room ===

impl Room {
    /// A new room.
    pub(super) async fn open((store, clock, name): At<'_>, settings: RoomSettings) -> Result<Self> {
        let name = RoomId::new(name)?;
        let config = RoomConfig { settings, ..RoomConfig::default() };
        store.put_config(&name, &config).await?;
        let (roll, tick_state) = <(Roll, TickState)>::default();
        let mut room = Self { store, clock, name, reset_epoch: 0, roll, tick_state };
        room.reset_epoch = room.snapshot().await?.reset_epoch;
        Ok(room)
    }

    pub(super) async fn snapshot(&self) -> Result<RoomSnapshot> {
        self.store.read_snapshot(&self.name).await?.context("the room is there")
    }

    /// So many come.
    pub(super) async fn joins(&self, mode: JoinMode, visitors: u64) -> Result<()> {
        for come in (0..visitors).step_by(512) {
            let call = self.store.call_name();
            let join = Join {
                call: &call,
                again: false,
                region: "local",
                count: JOINS_TOGETHER.min(visitors - come),
                mode,
                key_id: KEY,
                issuer: ISSUER,
                networks: &[],
                limits: NetworkLimits::default(),
                max_session_seconds: None,
            };
            self.store.join(&self.name, &join).await?;
        }
        Ok(())
    }

    /// These ask for seats, in calls of this size.
    pub(super) async fn claims(
        &self,
        kind: SessionKind,
        numbers: &[u64],
        together: usize,
    ) -> Result<()> {
        for some in numbers.chunks(together) {
            let claims: Vec<_> = some.iter().map(|number| self.claim(kind, *number)).collect();
            self.store.claim(&self.name, KEY, &claims).await?;
        }
        Ok(())
    }

    /// The sessions of these end.
    pub(super) async fn leave(&self, numbers: impl Iterator<Item = u64>) -> Result<()> {
        let ended_as = EndedAs::Completed;
        let leaving: Vec<_> = numbers
            .map(|number| Departure { number, ended_as, seat: vestibule_domain::SeatEnds::AtOnce })
            .collect();
        for some in leaving.chunks(usize::try_from(TOGETHER)?) {
            self.store.leave(&self.name, self.reset_epoch, some).await?;
        }
        Ok(())
    }

    /// The leader ticks.
    pub(super) async fn ticks(&mut self, times: u32) -> Result<()> {
        for _ in 0..times {
            let chunks = self.roll.next();
            let report = self.store.begin_tick(&self.name, &chunks, EPOCH).await?;
            let (counters, counted) = (&report.counters, report.counted.clone());
            let input = self.roll.call(counters, counted, &report.pool, &[], &report.in_force);
            let decision = self.tick_state.decide(&input, report.settings());
            let (room, epoch, push) = (&self.name, self.reset_epoch, Push::Difference);
            self.store.apply_plan(room, EPOCH, epoch, &report, &decision, push).await?;
            self.clock.advance_ms(250);
        }
        Ok(())
    }

    pub(super) fn seconds(&self, seconds: u64) {
        self.clock.advance_ms(seconds * 1000);
    }

    fn claim(&self, kind: SessionKind, number: u64) -> Claim {
        Claim {
            reset_epoch: self.reset_epoch,
            place: Place { number, entered_at: 0, region: 1 },
            position: Some(number),
            rank: number,
            draws: 0,
            won: false,
            kind,
            held_ms: 2_000,
            hold: false,
            request_id: format!("{number:036}"),
            issuer: ISSUER.to_owned(),
            validity_seconds: None,
            network: None,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
    }
}
