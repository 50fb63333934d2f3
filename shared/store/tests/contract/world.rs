//! A room in a server of its own, at a time that only the test moves.

use vestibule_domain::{
    Figures, Place, RoomId, RoomSettings, advance, pulse::Decision, regions::Grants,
    schedule::Program,
};
use vestibule_store::{
    Claim, Clock, Join, JoinMode, Joined, ManualClock, Outcome, Put, SessionKind, Store,
    StoreError, SurveyReport, TokenRecord,
};
use vestibule_tests::{Flavor, Redis};

/// Where every test begins: some second, and half of it gone.
pub(crate) const START_MS: u64 = 1_790_000_000_500;

pub(crate) struct World {
    pub(crate) redis: Redis,
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
    pub(crate) room: RoomId,
}

// === impl World ===

impl World {
    pub(crate) async fn on(flavor: Flavor) -> Self {
        let redis = Redis::start(flavor).await.unwrap();
        let clock = ManualClock::at(START_MS);
        let store = Store::open(&redis.url(), Clock::Manual(clock.clone())).unwrap();
        Self { redis, store, clock, room: RoomId::new("sale").unwrap() }
    }

    /// Opens the room with these settings.
    pub(crate) async fn open(&self, settings: RoomSettings) -> &Self {
        self.put(settings).await;
        self
    }

    /// Changes the settings, whatever they are.
    pub(crate) async fn put(&self, settings: RoomSettings) -> Put {
        let program = Program { settings, ..Program::default() };
        self.store.put_program(&self.room, &program).await.unwrap()
    }

    pub(crate) async fn join(&self, count: u64, mode: JoinMode) -> Joined {
        self.try_join(count, mode, 0).await.unwrap()
    }

    pub(crate) async fn try_join(
        &self,
        count: u64,
        mode: JoinMode,
        known_queue_counter: u64,
    ) -> Result<Joined, StoreError> {
        let join = Join {
            region: "here",
            count,
            mode,
            known_queue_counter,
            key_id: "k",
            issuer: "https://issuer",
        };
        self.store.join(&self.room, &join).await
    }

    pub(crate) async fn claim(&self, number: u64, kind: SessionKind) -> Outcome {
        self.claim_entered(number, kind, START_MS / 1000).await
    }

    /// As someone who joined at `entered_at`, unix seconds.
    pub(crate) async fn claim_entered(
        &self,
        number: u64,
        kind: SessionKind,
        entered_at: u64,
    ) -> Outcome {
        let epoch = self.reset_epoch().await;
        let claim = Self::claim_of(number, kind, entered_at, epoch);
        let answer = self.store.claim(&self.room, "k", &[claim]).await.unwrap();
        answer.outcomes.into_iter().next().unwrap()
    }

    pub(crate) fn claim_of(
        number: u64,
        kind: SessionKind,
        entered_at: u64,
        reset_epoch: u64,
    ) -> Claim {
        let entered_at = u32::try_from(entered_at).unwrap();
        Claim {
            reset_epoch,
            place: Place { number, entered_at, region: 1 },
            position: Some(number),
            draws: 0,
            won: false,
            kind,
            request_id: format!("id-{number}"),
            issuer: "https://issuer".into(),
            validity_seconds: None,
        }
    }

    pub(crate) async fn reset_epoch(&self) -> u64 {
        self.snapshot().await.reset_epoch
    }

    pub(crate) async fn snapshot(&self) -> vestibule_domain::RoomSnapshot {
        self.store.read_snapshot(&self.room).await.unwrap().unwrap()
    }

    /// One tick of the leader with fencing epoch `epoch`.
    pub(crate) async fn tick(&self, epoch: u64) -> SurveyReport {
        let snapshot = self.snapshot().await;
        let report = self.store.survey(&self.room, &snapshot.draws, epoch).await.unwrap();
        let decision = decided(&report);
        let advanced =
            self.store.advance(&self.room, epoch, snapshot.reset_epoch, &report, &decision);
        advanced.await.unwrap();
        report
    }

    pub(crate) fn seconds(&self, seconds: u64) {
        self.clock.advance_ms(seconds * 1000);
    }
}

/// The plan of a leader without a memory.
pub(crate) fn decided(report: &SurveyReport) -> Decision {
    let plan = advance::plan(&report.survey, 1);
    let figures = Figures { waiting: plan.waiting, ..Figures::default() };
    Decision { plan, figures, grants: Grants::default() }
}

pub(crate) fn limited(ceiling: u64) -> RoomSettings {
    RoomSettings { total_active_users: Some(ceiling), ..RoomSettings::default() }
}

/// The token of an outcome that let someone in.
pub(crate) fn token(outcome: Outcome) -> TokenRecord {
    match outcome {
        Outcome::Entered(record) | Outcome::Repeated(record) | Outcome::Uncounted(record) => record,
        other => panic!("nobody entered: {other:?}"),
    }
}
