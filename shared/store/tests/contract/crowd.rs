//! A crowd in virtual time: every visitor keeps what its ticket would hold, looks when its habit
//! says so, waits at the door for a moment, stays, and leaves. Rules and scripts are the real ones;
//! what the services do in between is played here, step by step.

use std::collections::{BTreeMap, BTreeSet};

use vestibule_domain::{
    Place, RoomSnapshot, Waiter,
    poll::{self, PollContext, PollOutcome, WaiterState},
    presence::{Band, Spot},
};
use vestibule_store::{
    CallerBindings, Claim, ClaimOutcome, Departure, EndedAs, Joined, MOST_CHECK_INS, SessionKind,
};

use crate::world::{Leader, World};

/// How long a request is held at the door, ms.
const HOLD_MS: u64 = 2_000;

/// When someone looks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// When it was told to.
    OnTime,
    /// Up to half an interval late.
    Late,
    /// Every second, whatever it was told.
    Restless,
    /// Once a minute: a hidden tab.
    Hidden,
    /// When it was told to, all of its kind in the same moment.
    InStep,
}

/// Someone who waits.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) waiter: Waiter,
    pub(crate) win_threshold: f64,
    pub(crate) habit: Habit,
    pub(crate) looks_at: u64,
}

/// Someone who got in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) habit: Habit,
    pub(crate) entered_at: u64,
}

pub(crate) struct Crowd<'a> {
    pub(crate) world: &'a World,
    pub(crate) leader: Leader,
    pub(crate) room: RoomSnapshot,
    /// Those who wait, by number.
    pub(crate) line: BTreeMap<u64, Visitor>,
    /// Everyone who entered, in order.
    pub(crate) entries: Vec<Entry>,
    /// Those inside and when they leave, ms.
    pub(crate) inside: Vec<(Entry, u64)>,
    /// How long they stay on average, ms: from half as long to half as long again.
    pub(crate) stay_ms: u64,
    /// Everyone acts so often, ms.
    pub(crate) step_ms: u64,
    /// The leader ticks every so many steps.
    pub(crate) steps_a_tick: u64,
    /// Those held at the door, by rank, and until when.
    door: BTreeMap<(u64, u64), u64>,
    /// Those who have looked since the last were sent.
    check_ins: BTreeSet<(Band, Spot)>,
    chances: Chances,
    steps: u64,
}

// === impl Habit ===

impl Habit {
    pub(crate) const ALL: [Self; 5] =
        [Self::OnTime, Self::Late, Self::Restless, Self::Hidden, Self::InStep];

    /// When someone looks again who was told to in `told_ms`.
    fn next(self, now_ms: u64, told_ms: u64, chance: f64) -> u64 {
        let in_step = 5_000;
        match self {
            Self::OnTime => now_ms + told_ms,
            Self::Late => now_ms + told_ms + part(told_ms, chance / 2.0),
            Self::Restless => now_ms + 1_000,
            Self::Hidden => now_ms + told_ms.max(60_000),
            Self::InStep => (now_ms + told_ms).next_multiple_of(in_step),
        }
    }
}

// === impl Crowd ===

impl<'a> Crowd<'a> {
    /// Nobody yet, in a room that is open.
    pub(crate) async fn at(world: &'a World) -> Self {
        Self {
            world,
            leader: Leader::new(1),
            room: world.snapshot().await,
            line: BTreeMap::new(),
            entries: Vec::new(),
            inside: Vec::new(),
            stay_ms: 10_000,
            step_ms: 250,
            steps_a_tick: 1,
            steps: 0,
            door: BTreeMap::new(),
            check_ins: BTreeSet::new(),
            chances: Chances::new(1),
        }
    }

    /// Newcomers, each with a habit of these in turn.
    pub(crate) async fn join(&mut self, habits: &[Habit]) -> Joined {
        let joined = self.world.join_in("here", habits.len() as u64).await;
        for (number, habit) in (joined.first..).zip(habits) {
            let entry = Entry { number, habit: *habit, entered_at: joined.now_ms };
            if number < joined.first + joined.seated {
                self.enter(entry);
            } else {
                self.line.insert(number, self.newcomer(&joined, entry));
            }
        }
        joined
    }

    fn newcomer(&self, joined: &Joined, entry: Entry) -> Visitor {
        let entered_at = u32::try_from(joined.now_ms / 1000).unwrap();
        let place = Place { number: entry.number, entered_at, region: 1 };
        Visitor {
            waiter: Waiter::new(place, self.room.cumulative_hazard),
            win_threshold: luck_of(entry.number),
            habit: entry.habit,
            looks_at: joined.now_ms,
        }
    }

    fn enter(&mut self, entry: Entry) {
        self.entries.push(entry);
        let stay_ms = self.stay_ms / 2 + part(self.stay_ms, self.chances.next());
        self.inside.push((entry, entry.entered_at + stay_ms));
    }

    /// The clock moves one step, the leader ticks, and those whose time it is leave, look and claim.
    /// Returns who left.
    pub(crate) async fn step(&mut self) -> Vec<Entry> {
        self.world.clock.advance_ms(self.step_ms);
        self.steps += 1;
        if self.steps.is_multiple_of(self.steps_a_tick) {
            self.leader.tick(self.world).await;
        }
        self.room = self.world.snapshot().await;
        let left = self.leave().await;
        let due: Vec<u64> = (self.line.iter())
            .filter(|(_, visitor)| visitor.looks_at <= self.now_ms())
            .map(|(number, _)| *number)
            .collect();
        for number in due {
            self.look(number);
        }
        self.claim().await;
        self.send().await;
        left
    }

    /// So many seconds in which nothing is expected to happen: in steps of two seconds.
    pub(crate) async fn quiet_seconds(&mut self, seconds: u64) {
        let step_ms = std::mem::replace(&mut self.step_ms, 2_000);
        self.seconds(seconds).await;
        self.step_ms = step_ms;
    }

    /// So many seconds of steps in which nobody joins.
    pub(crate) async fn seconds(&mut self, seconds: u64) {
        for _ in 0..seconds * 1000 / self.step_ms {
            self.step().await;
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.world.clock.now_ms()
    }

    /// One look, and what follows from it.
    pub(crate) fn look(&mut self, number: u64) -> PollOutcome {
        let (now_ms, chance) = (self.now_ms(), self.chances.next());
        let visitor = self.line.get_mut(&number).unwrap();
        let call = PollContext {
            now_ms,
            win_threshold: visitor.win_threshold,
            spread: chance,
            excused_until_ms: 0,
        };
        let look = poll::evaluate(&self.room, &visitor.waiter, &call);
        visitor.waiter = look.waiter;
        self.check_ins.extend(look.check_in.map(|(spot, band)| (band, spot)));
        let again = self.chances.next();
        visitor.looks_at = visitor.habit.next(now_ms, u64::from(look.next_ms), again);
        if look.state == WaiterState::YourTurn {
            let rank = poll::rank(&self.room, &visitor.waiter, visitor.win_threshold);
            self.door.retain(|(_, held), _| *held != number);
            self.door.insert((rank, number), now_ms + HOLD_MS);
        }
        look
    }

    /// The claim of someone in line, as a service makes it.
    pub(crate) fn claim_of(&self, number: u64) -> Claim {
        let Visitor { waiter, win_threshold, .. } = &self.line[&number];
        Claim {
            reset_epoch: self.room.reset_epoch,
            place: waiter.place,
            position: self.room.position(number),
            rank: poll::rank(&self.room, waiter, *win_threshold),
            draws: self.room.draws.len(),
            won: poll::has_won(&self.room, waiter, *win_threshold),
            kind: SessionKind::Visitor,
            held_ms: HOLD_MS,
            hold: false,
            request_id: String::new(),
            issuer: "https://issuer".into(),
            validity_seconds: None,
            network: None,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        }
    }

    /// Those at the door ask for seats.
    async fn claim(&mut self) {
        let now_ms = self.now_ms();
        let numbers: Vec<u64> = self.door.keys().map(|(_, number)| *number).collect();
        if numbers.is_empty() {
            return;
        }
        let held = |until: &u64| until.saturating_sub(now_ms);
        let claims: Vec<Claim> = (self.door.iter())
            .map(|((_, number), until)| Claim { held_ms: held(until), ..self.claim_of(*number) })
            .collect();
        let answer = self.world.store.claim(&self.world.room, "k", &claims).await.unwrap();
        for (number, outcome) in numbers.iter().zip(answer.outcomes) {
            match outcome {
                ClaimOutcome::NoSeat => {}
                ClaimOutcome::Entered(_) => self.admit(*number),
                _ => self.door.retain(|(_, held), _| held != number),
            }
        }
        self.door.retain(|_, until| *until > now_ms);
    }

    fn admit(&mut self, number: u64) {
        let visitor = self.line.remove(&number).unwrap();
        self.door.retain(|(_, held), _| *held != number);
        self.enter(Entry { number, habit: visitor.habit, entered_at: self.now_ms() });
    }

    async fn leave(&mut self) -> Vec<Entry> {
        let now_ms = self.now_ms();
        let (gone, stay) = std::mem::take(&mut self.inside)
            .into_iter()
            .partition::<Vec<_>, _>(|(_, until)| *until <= now_ms);
        self.inside = stay;
        let gone: Vec<Entry> = gone.into_iter().map(|(entry, _)| entry).collect();
        let end = |entry: &Entry| Departure {
            number: entry.number,
            ended_as: EndedAs::Completed,
            seat: vestibule_domain::SeatEnds::AtOnce,
        };
        let departures: Vec<Departure> = gone.iter().map(end).collect();
        if !departures.is_empty() {
            let store = &self.world.store;
            store.leave(&self.world.room, self.room.reset_epoch, &departures).await.unwrap();
        }
        gone
    }

    /// Sends the check-ins that have gathered.
    pub(crate) async fn send(&mut self) {
        let gathered: Vec<_> = std::mem::take(&mut self.check_ins).into_iter().collect();
        for some in gathered.chunks(MOST_CHECK_INS) {
            let (store, room) = (&self.world.store, &self.world.room);
            let some = some.iter().map(|(band, spot)| (*spot, *band));
            store.check_in(room, self.room.reset_epoch, some).await.unwrap();
        }
    }

    /// Everyone in line looks, now.
    pub(crate) async fn all_look(&mut self) {
        self.room = self.world.snapshot().await;
        for number in self.line.keys().copied().collect::<Vec<_>>() {
            self.look(number);
        }
        self.door.clear();
        self.send().await;
    }

    /// Someone closes the tab: its check-ins lapse by themselves.
    pub(crate) fn closes_the_tab(&mut self, number: u64) -> Visitor {
        self.door.retain(|(_, held), _| *held != number);
        self.line.remove(&number).unwrap()
    }

    pub(crate) fn entered(&self) -> Vec<u64> {
        self.entries.iter().map(|entry| entry.number).collect()
    }
}

/// Exponential, of mean 1, and a number's for good.
pub(crate) fn luck_of(number: u64) -> f64 {
    -(1.0 - Chances::new(number ^ 0x5eed).next()).ln()
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ms, and a share of them"
)]
fn part(whole: u64, share: f64) -> u64 {
    (whole as f64 * share) as u64
}

/// Numbers that look random and are the same in every run (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Chances(u64);

impl Chances {
    pub(crate) fn new(seed: u64) -> Self {
        let mut chances = Self(seed);
        chances.bits();
        chances
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0.0..1.0`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub(crate) fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `0..end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }
}
