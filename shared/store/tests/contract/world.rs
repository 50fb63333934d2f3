//! A room in a server of its own, at a time that only the test moves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use vestibule_domain::{
    Place, RoomId, RoomSettings, RoomSnapshot, TickFigures,
    network_limits::NetworkLimits,
    plan::{self, TickInput},
    presence::Presence,
    reconciliation::{Evidence, Finding, Testimony, UNSEEN_NUMBERS},
    regions::Grants,
    roll::{Chunks, Roll},
    schedule::{Event, RoomConfig},
    serving::Serving,
    tick::{TickDecision, TickState},
    wait::Standby,
};
use vestibule_store::{
    CallerBindings, Claim, ClaimOutcome, Clock, Departure, EndedAs, Ending, Join, JoinMode, Joined,
    ManualClock, Push, PutOutcome, Round, Seat, SessionKind, Store, StoreError, TickReport,
    TokenRecord, Touch,
};

use crate::{judged::Judging, model::Model, server::Server};

/// Where every test begins: some second, and half of it gone. Keys expire by the servers' clocks, and
/// this is far ahead of them.
pub(crate) const START_MS: u64 = 4_000_000_000_500;
/// Whoever was served so long ago may take a seat, ms: everybody before it has had the time to ask.
/// AWS-style clients have 2 s as long as none has come; moves of the counter are known to 100 ms.
pub(crate) const RIPE_MS: u64 = 2_100;

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
    pub(crate) room: RoomId,
    pub(crate) judging: Arc<Judging>,
}

/// A tick that has begun.
pub(crate) struct Tick {
    pub(crate) report: TickReport,
    pub(crate) input: TickInput,
    /// The room's, as read before: if the room is reset in between, the plan is dropped.
    reset_epoch: u64,
}

impl Tick {
    /// Whether everyone in line may be there who has not been heard.
    pub(crate) fn is_gathering(&self) -> bool {
        self.report.counters.now_ms < self.report.counters.presence_from_ms
    }

    /// Everyone who waits, to a leader who does not know who was served.
    pub(crate) fn waiting(&self) -> u64 {
        self.input.waiting(&Serving::default())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let found = self.judging.found();
        assert!(found.is_empty() || std::thread::panicking(), "{found}");
    }
}

// === impl World ===

impl World {
    pub(crate) fn on(server: Server) -> Self {
        let clock = ManualClock::at(START_MS);
        let judging = Arc::new(Judging::new());
        let store = server.store(&clock).recorded("test", judging.clone());
        Self { server, store, clock, room: RoomId::new("sale").unwrap(), judging }
    }

    /// A room by the server's own clock, which only that moves.
    pub(crate) fn by_the_clock_of(model: &Arc<Model>) -> Self {
        let mut world = Self::on(Server::Model(model.clone()));
        world.store = Store::over(model.clone(), Clock::Server);
        world
    }

    /// One more store on the same server and the same clock.
    pub(crate) fn another_store(&self) -> Store {
        self.server.store(&self.clock).recorded("test", self.judging.clone())
    }

    /// Opens the room with these settings.
    pub(crate) async fn open(&self, settings: RoomSettings) -> &Self {
        self.put(settings).await;
        self
    }

    /// Changes the settings, whatever they are.
    pub(crate) async fn put(&self, settings: RoomSettings) -> PutOutcome {
        self.schedule(settings, &[]).await
    }

    /// Changes the settings and the events, whatever they are.
    pub(crate) async fn schedule(&self, settings: RoomSettings, events: &[Event]) -> PutOutcome {
        let config = RoomConfig { settings, events: events.to_vec(), ..RoomConfig::default() };
        self.store.put_config(&self.room, &config).await.unwrap()
    }

    /// The config as the store has it.
    pub(crate) async fn config(&self) -> RoomConfig {
        self.store.read_config(&self.room).await.unwrap().unwrap()
    }

    /// Moves the clock forward to this millisecond.
    pub(crate) fn at(&self, ms: u64) {
        self.clock.advance_ms(ms.checked_sub(self.clock.now_ms()).unwrap());
    }

    pub(crate) async fn join(&self, count: u64, mode: JoinMode) -> Joined {
        self.try_join(count, mode).await.unwrap()
    }

    /// Newcomers of a room whose sessions last for so many seconds at most.
    pub(crate) async fn join_for(&self, count: u64, most: Option<u64>) -> Joined {
        let join = newcomers("here", count, JoinMode::Enter);
        let join = Join { max_session_seconds: most, ..join };
        self.store.join(&self.room, &join).await.unwrap()
    }

    pub(crate) async fn try_join(&self, count: u64, mode: JoinMode) -> Result<Joined, StoreError> {
        self.store.join(&self.room, &newcomers("here", count, mode)).await
    }

    /// One newcomer, at a service that has seen this number in this reset epoch.
    pub(crate) async fn join_in(&self, region: &str, count: u64) -> Joined {
        self.store.join(&self.room, &newcomers(region, count, JoinMode::Enter)).await.unwrap()
    }

    pub(crate) async fn claim(&self, number: u64, kind: SessionKind) -> ClaimOutcome {
        self.claim_entered(number, kind, START_MS / 1000).await
    }

    /// As someone who joined at `entered_at`, unix seconds.
    pub(crate) async fn claim_entered(
        &self,
        number: u64,
        kind: SessionKind,
        entered_at: u64,
    ) -> ClaimOutcome {
        let epoch = self.reset_epoch().await;
        self.claims(Self::claim_of(number, kind, entered_at, epoch)).await
    }

    /// What becomes of one claim.
    pub(crate) async fn claims(&self, claim: Claim) -> ClaimOutcome {
        self.store.claim(&self.room, "k", &[claim]).await.unwrap().outcomes.remove(0)
    }

    /// A tick serves the next in line, who claims in time.
    pub(crate) async fn claim_served(&self, number: u64) -> ClaimOutcome {
        self.tick(1).await;
        self.ripens();
        self.claims(self.claim_now(number).await).await
    }

    /// A claim by the visitor's calls, of someone who joined this second and stands at its number.
    pub(crate) async fn claim_now(&self, number: u64) -> Claim {
        let now_s = self.clock.now_ms() / 1000;
        Self::claim_of(number, SessionKind::Visitor, now_s, self.reset_epoch().await)
    }

    /// Whoever got this number of those of a room's first generation asks whether it is inside still.
    pub(crate) fn touch_of(number: u64, joined: &Joined) -> Touch {
        Touch {
            reset_epoch: joined.reset_epoch,
            number,
            position: number,
            generation: 1,
            issued_at: joined.issued_at,
            expires_at: joined.expires_at,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
    }

    /// The same of somebody whose token this service has not seen.
    pub(crate) fn touch_for(number: u64) -> Touch {
        Touch {
            reset_epoch: 0,
            number,
            position: number,
            generation: 1,
            issued_at: 0,
            expires_at: 0,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
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
            rank: number,
            draws: 0,
            won: false,
            kind,
            held_ms: 0,
            hold: false,
            request_id: format!("id-{number}"),
            issuer: "https://issuer".into(),
            validity_seconds: None,
            network: None,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
    }

    pub(crate) async fn reset_epoch(&self) -> u64 {
        self.snapshot().await.reset_epoch
    }

    pub(crate) async fn snapshot(&self) -> vestibule_domain::RoomSnapshot {
        self.store.read_snapshot(&self.room).await.unwrap().unwrap()
    }

    /// Begins a tick that counts nobody.
    pub(crate) async fn try_begin(&self, epoch: u64) -> Result<TickReport, StoreError> {
        self.store.begin_tick(&self.room, &Chunks::default(), epoch).await
    }

    /// Begins a tick as a leader without a memory: again and again, until the line is counted.
    pub(crate) async fn begin(&self, epoch: u64) -> Tick {
        let mut leader = Leader::new(epoch);
        for _ in 0..100 {
            let tick = leader.begin(self).await;
            if tick.input.is_counted {
                return tick;
            }
        }
        panic!("the line is not counted after 100 ticks");
    }

    /// One tick of a leader without a memory, with fencing epoch `epoch`.
    pub(crate) async fn tick(&self, epoch: u64) -> Tick {
        let tick = self.begin(epoch).await;
        self.apply(epoch, &tick, &decided(&tick.input)).await;
        tick
    }

    pub(crate) async fn apply(&self, epoch: u64, tick: &Tick, decision: &TickDecision) -> i64 {
        let Tick { report, reset_epoch, .. } = tick;
        let applied = self.store.apply_plan(
            &self.room,
            epoch,
            *reset_epoch,
            report,
            decision,
            Push::Difference,
        );
        applied.await.unwrap()
    }

    /// Until everyone who is served may take a seat.
    pub(crate) fn ripens(&self) {
        self.clock.advance_ms(RIPE_MS);
    }

    /// The leader of term 2 brings the room to what these have seen, while `silent` say nothing.
    pub(crate) async fn reconcile(
        &self,
        testimonies: &[Testimony],
        silent: &[&str],
        config: &RoomConfig,
    ) -> Finding {
        self.reconcile_with(testimonies, silent, config, (&[], &[])).await
    }

    /// The same, with seats and endings that they have seen.
    pub(crate) async fn reconcile_with(
        &self,
        testimonies: &[Testimony],
        silent: &[&str],
        config: &RoomConfig,
        (seats, endings): (&[Seat], &[Ending]),
    ) -> Finding {
        let round = Round { room: &self.room, name: "r", epoch: 2 };
        let called = self.store.call_witnesses(&self.room, 2, "r").await.unwrap();
        let evidence = Evidence {
            stored: called.stored.as_ref(),
            is_partial: called.is_partial,
            testimonies,
            is_one_silent: !silent.is_empty(),
            is_one_gone: false,
            gap: UNSEEN_NUMBERS,
            unseen: called.unseen,
            buried: 0,
        };
        let found = evidence.find();
        let silent: Vec<String> = silent.iter().map(|name| (*name).to_owned()).collect();
        match &found {
            Finding::Unknown => {}
            Finding::IsLatest => assert!(self.store.reopen(round, None, &[]).await.unwrap()),
            Finding::IsBehind(to) => {
                assert!(self.store.reconcile(round, to, config).await.unwrap());
                let mut seats = seats.to_vec();
                if called.is_partial && !to.begins_anew {
                    let on_record = self.store.seats_on_record(&self.room).await.unwrap();
                    let is_told = |number| seats.iter().any(|seat| seat.number == number);
                    let others = on_record.into_iter().filter(|seat| !is_told(seat.number));
                    seats = others.chain(seats.iter().cloned()).collect();
                }
                assert!(
                    self.store
                        .rebuild(round, to.latest.reset_epoch, &seats, endings, Some)
                        .await
                        .unwrap()
                );
                assert!(self.store.reopen(round, Some(to), &silent).await.unwrap());
            }
        }
        found
    }

    /// The session of a number is over.
    pub(crate) async fn leave(&self, number: u64) {
        let departure = Departure {
            number,
            ended_as: EndedAs::Completed,
            seat: vestibule_domain::SeatEnds::AtOnce,
        };
        let epoch = self.reset_epoch().await;
        assert_eq!(self.store.leave(&self.room, epoch, &[departure]).await.unwrap(), [true]);
    }

    pub(crate) fn seconds(&self, seconds: u64) {
        self.clock.advance_ms(seconds * 1000);
    }
}

/// A leader with its memory, which does in a tick what the controllers do.
pub(crate) struct Leader {
    pub(crate) epoch: u64,
    pub(crate) tick_state: TickState,
    /// Whether its last tick switched a page.
    pub(crate) switched: bool,
    reset_epoch: Option<u64>,
    roll: Roll,
}

impl Leader {
    pub(crate) fn new(epoch: u64) -> Self {
        let (tick_state, roll) = (TickState::default(), Roll::default());
        Self { epoch, tick_state, switched: false, reset_epoch: None, roll }
    }

    pub(crate) async fn tick(&mut self, world: &World) -> Tick {
        let tick = self.begin(world).await;
        let decision = self.tick_state.decide(&tick.input, tick.report.settings());
        world.apply(self.epoch, &tick, &decision).await;
        tick
    }

    /// The first half of a tick.
    pub(crate) async fn begin(&mut self, world: &World) -> Tick {
        let (store, room, last) = (&world.store, &world.room, world.snapshot().await);
        let known = self.reset_epoch.replace(last.reset_epoch);
        if known.is_some_and(|known| known != last.reset_epoch) {
            (self.tick_state, self.roll) = Default::default();
        }
        self.tick_state.see(&last);
        let chunks = self.roll.next();
        let mut report = store.begin_tick(room, &chunks, self.epoch).await.unwrap();
        self.switched = report.phase_is_over;
        if report.phase_is_over {
            let (config, now_ms) = (world.config().await, report.counters.now_ms);
            assert!(store.switch_phase(room, self.epoch, &config, now_ms).await.unwrap());
            report = store.begin_tick(room, &chunks, self.epoch).await.unwrap();
        }
        let TickReport { counters, counted, pool, in_force, .. } = &report;
        let input = self.roll.call(counters, counted.clone(), pool, &last.draws, in_force);
        Tick { report, input, reset_epoch: last.reset_epoch }
    }
}

/// Newcomers, at a service that has seen nothing.
pub(crate) fn newcomers(region: &str, count: u64, mode: JoinMode) -> Join<'_> {
    let (key_id, issuer) = ("k", "https://issuer");
    let (networks, limits) = (&[], NetworkLimits::default());
    let max_session_seconds = None;
    let (call, again) = (unique_name(), false);
    Join { call, again, region, count, mode, key_id, issuer, networks, limits, max_session_seconds }
}

/// The name of a call that none has had before.
fn unique_name() -> &'static str {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    Box::leak(format!("call {}", CALLS.fetch_add(1, Ordering::Relaxed)).into_boxed_str())
}

/// The decision of a leader without a memory: one stands by, and nobody is expected who was served
/// before.
pub(crate) fn decided(input: &TickInput) -> TickDecision {
    let standby = Standby { steady: 1.0, burst: 0.0 };
    let plan = plan::plan(input, standby, &mut Serving::default());
    let figures = TickFigures { waiting: plan.waiting, ..TickFigures::default() };
    TickDecision { plan, figures, grants: Grants::default(), unknown_period_ms: 2_000 }
}

/// How many people there are above `after` and up to `upto`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of people")]
pub(crate) fn people(presence: &Presence, after: u64, upto: u64) -> u64 {
    presence.between(after, upto).round() as u64
}

pub(crate) fn limited(ceiling: u64) -> RoomSettings {
    RoomSettings { total_active_users: Some(ceiling), ..RoomSettings::default() }
}

/// The same, whose positions do not expire.
pub(crate) fn patient(ceiling: u64) -> RoomSettings {
    RoomSettings { position_expiry_seconds: None, ..limited(ceiling) }
}

/// The seat of `number`, as it was taken when it joined.
pub(crate) fn seat(number: u64, joined: &Joined) -> Seat {
    Seat {
        number,
        record: format!("{}|{}|0|v|k||i", joined.issued_at, joined.expires_at),
        expires_at: joined.expires_at,
        seen_at: (1, 1),
    }
}

/// The token of an outcome that let someone in.
pub(crate) fn token(outcome: ClaimOutcome) -> TokenRecord {
    match outcome {
        ClaimOutcome::Entered(record)
        | ClaimOutcome::Repeated(record)
        | ClaimOutcome::Uncounted(record) => record,
        other => panic!("nobody entered: {other:?}"),
    }
}

/// What a service has seen that knows `last` and nothing else.
pub(crate) fn testimony(last: &RoomSnapshot) -> Testimony {
    Testimony {
        stamp: last.stamp(),
        last: last.clone(),
        queue_counter: last.queue_counter,
        serving_counter: last.serving_counter,
        served_at: last.stamp().age(),
        admitted: last.admitted,
        known_upto: 0,
    }
}
