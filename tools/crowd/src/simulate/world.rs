//! A real room in a real Redis, at a time that only the simulation moves. The same scripts and the
//! same rules as in the services; what happens when is decided elsewhere.

use std::time::Duration;

use anyhow::{Context, bail};
use vestibule_domain::{
    Lease, Place, RoomId, RoomSettings, RoomSnapshot, schedule::RoomConfig, tick::TickState,
};
use vestibule_store::{
    Claim, ClaimOutcome, Clock, Departure, EndedAs, Join, JoinMode, Joined, ManualClock,
    SessionKind, Store,
};

use super::traffic::Traffic;

/// Where virtual time begins, ms: the start of some minute.
const START_MS: u64 = 1_789_999_980_000;
/// The only leader there is.
const EPOCH: u64 = 1;
/// Tokens are not made here, so this key signs none.
const KEY: &str = "simulated";
const ISSUER: &str = "simulation";
/// How long Redis may take: time is virtual, so a slow answer is better than none.
const PATIENCE: Duration = Duration::from_mins(1);

/// The room under simulation.
#[derive(Debug)]
pub(super) struct World {
    store: Store,
    clock: ManualClock,
    room: RoomId,
    settings: RoomSettings,
    snapshot: RoomSnapshot,
    tick_state: TickState,
    traffic: Traffic,
}

// === impl World ===

impl World {
    /// Creates a room of a random name. While `held`, nobody enters it.
    ///
    /// # Errors
    /// When Redis cannot be reached, when a controller leads on it, or when the settings are
    /// refused.
    #[expect(clippy::disallowed_methods, reason = "a room of its own for each simulation")]
    pub(super) async fn create(
        redis: &str,
        settings: RoomSettings,
        held: bool,
    ) -> anyhow::Result<Self> {
        check(&settings)?;
        let clock = ManualClock::at(START_MS);
        let store = Store::open(redis, Clock::Manual(clock.clone()), PATIENCE)?;
        store.ping().await.context("Redis does not answer (see --redis)")?;
        if store.leader().await?.is_some() {
            bail!(
                "a controller leads on this Redis, and would move the simulated room along by its \
                 own clock: use a Redis without a deployment"
            );
        }
        let room = RoomId::new(format!("simulation-{:016x}", rand::random::<u64>()))?;
        put(&store, &room, RoomSettings { queue_all: held, ..settings.clone() }).await?;
        let snapshot = read(&store, &room).await?;
        let (tick_state, traffic) = (TickState::default(), Traffic::default());
        Ok(Self { store, clock, room, settings, snapshot, tick_state, traffic })
    }

    /// Lets people in who were held.
    pub(super) async fn open(&mut self) -> anyhow::Result<()> {
        put(&self.store, &self.room, self.settings.clone()).await?;
        self.snapshot = read(&self.store, &self.room).await?;
        Ok(())
    }

    /// Deletes the room.
    pub(super) async fn delete(&self) -> anyhow::Result<()> {
        self.store.delete_room(&self.room).await.context("deleting the simulated room")?;
        Ok(())
    }

    /// The room as everyone last heard of it.
    pub(super) fn snapshot(&self) -> &RoomSnapshot {
        &self.snapshot
    }

    /// Virtual time, in ms since 1970.
    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Virtual time, in ms since the start.
    pub(super) fn elapsed_ms(&self) -> u64 {
        self.now_ms() - START_MS
    }

    /// Lets time pass.
    pub(super) fn pass_ms(&self, ms: u64) {
        self.clock.advance_ms(ms);
    }

    /// Calls made to Redis so far.
    pub(super) fn calls(&self) -> u64 {
        self.store.calls()
    }

    /// Newcomers of a region take numbers, and seats if there are any and nobody waits.
    pub(super) async fn join(&mut self, region: &str, count: u64) -> anyhow::Result<Joined> {
        self.traffic.note(self.now_ms(), region, count);
        let join = Join {
            region,
            count,
            mode: JoinMode::Enter,
            known_reset_epoch: self.snapshot.reset_epoch,
            known_queue_counter: self.snapshot.queue_counter,
            key_id: KEY,
            issuer: ISSUER,
        };
        Ok(self.store.join(&self.room, &join).await?)
    }

    /// The claim of someone at `place` who has been told that it is its turn.
    pub(super) fn claim_of(&self, place: Place, won: bool) -> Claim {
        Claim {
            reset_epoch: self.snapshot.reset_epoch,
            place,
            position: self.snapshot.position(place.number),
            draws: self.snapshot.draws.len(),
            won,
            kind: SessionKind::Visitor,
            request_id: String::new(),
            issuer: ISSUER.to_owned(),
            validity_seconds: None,
        }
    }

    /// A batch of visitors claims seats.
    pub(super) async fn claim(&self, claims: &[Claim]) -> anyhow::Result<Vec<ClaimOutcome>> {
        Ok(self.store.claim(&self.room, KEY, claims).await?.outcomes)
    }

    /// Adds up who checked in.
    pub(super) async fn check_in(
        &self,
        differences: impl IntoIterator<Item = (Lease, i64)>,
    ) -> anyhow::Result<()> {
        self.store.check_in(&self.room, self.snapshot.reset_epoch, differences).await?;
        Ok(())
    }

    /// These visitors leave their seats.
    pub(super) async fn leave(&self, numbers: impl Iterator<Item = u64>) -> anyhow::Result<()> {
        let departure = |number| Departure { number, ended_as: EndedAs::Completed };
        let departures: Vec<_> = numbers.map(departure).collect();
        self.store.leave(&self.room, self.snapshot.reset_epoch, &departures).await?;
        Ok(())
    }

    /// The leader's tick, and the snapshot that follows.
    pub(super) async fn tick(&mut self) -> anyhow::Result<()> {
        let report = self.store.begin_tick(&self.room, &self.snapshot.draws, EPOCH).await?;
        self.tick_state.divide_by(self.traffic.shares(&report.input));
        let decision = self.tick_state.decide(&report.input, &report.settings);
        let reset_epoch = self.snapshot.reset_epoch;
        self.store.apply_plan(&self.room, EPOCH, reset_epoch, &report, &decision).await?;
        self.snapshot = read(&self.store, &self.room).await?;
        Ok(())
    }
}

fn check(settings: &RoomSettings) -> anyhow::Result<()> {
    let errors = settings.errors();
    match errors.first() {
        Some(error) => bail!("{} {}", error.field, error.reason),
        None => Ok(()),
    }
}

async fn put(store: &Store, room: &RoomId, settings: RoomSettings) -> anyhow::Result<()> {
    let config = RoomConfig { settings, ..RoomConfig::default() };
    store.put_config(room, &config).await.context("creating the simulated room")?;
    Ok(())
}

async fn read(store: &Store, room: &RoomId) -> anyhow::Result<RoomSnapshot> {
    store.read_snapshot(room).await?.context("somebody deleted the simulated room")
}
