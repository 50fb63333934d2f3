//! A store that has lost one key of a room, deleted by hand or evicted, and nothing else: whoever needs it notices, and
//! the leader brings the room to what is remembered. The judge watches, as in every test.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use redis::cmd;
use vestibule_domain::{
    Announcement, RoomSettings, Stamp,
    reconciliation::{Evidence, Finding, Testimony, UNSEEN_NUMBERS},
    schedule::RoomConfig,
};
use vestibule_store::{
    Asking, CallerBindings, Claim, ClaimOutcome, Departure, EndedAs, Ending, JoinMode, Seat,
    SessionKind, Standing, StoreError, Touch,
};

use crate::world::{START_MS, World, limited, patient, testimony};

crate::on_every_server!(
    whichever_key_is_lost_nobody_is_let_in_beside_the_seats_and_everybody_is_served,
    whoever_needs_the_key_first_notices,
    a_list_of_a_release_that_keeps_none_says_nothing,
    what_scripts_empty_is_not_lost,
    sessions_come_back_from_their_records,
    who_entered_within_the_last_minute_is_not_forgotten,
    of_a_room_that_was_never_opened_again_the_seats_are_put_back,
    what_is_lost_while_the_leader_asks_is_not_passed_over,
    a_line_that_is_lost_while_the_leader_asks_is_not_put_together_by_half,
    a_deleted_room_leaves_nothing,
    a_key_that_holds_something_else_is_removed_and_counts_as_lost,
    a_day_that_holds_something_else_is_removed,
    a_list_that_holds_something_else_is_removed,
    a_lease_that_cannot_be_read_is_made_anew,
);

const SEATS: u64 = 20;
/// So many come before, of whom the first have seats, and after.
const BEFORE: u64 = 30;
const AFTER: u64 = 10;
/// Whose seats no service remembers.
const FORGOTTEN: [u64; 2] = [3, 4];
/// Whose session was ended.
const GONE: [u64; 2] = [1, 2];
const AWS: u64 = 21;
const HELD: u64 = 22;
/// In so many seconds everybody is served: sessions that nobody remembers last for 300.
const LONGEST: u64 = 500;

/// All keys of the room.
async fn keys(world: &World) -> BTreeSet<String> {
    world.server.ask(cmd("KEYS").arg("vestibule:room:*")).await
}

async fn lose(world: &World, key: &str) {
    assert_eq!(world.server.ask::<u64>(cmd("DEL").arg(key)).await, 1, "{key}");
}

fn part(name: &str) -> String {
    format!("vestibule:room:{{sale}}:{name}")
}

fn is_refused<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Rewound | StoreError::RoomMissing))
}

/// A room in use, and what its services remember of it.
struct Day<'a> {
    world: &'a World,
    seen: Testimony,
    config: RoomConfig,
    seats: Vec<Seat>,
    endings: Vec<Ending>,
    /// Whose tokens are valid, and until when, unix seconds.
    inside: BTreeMap<u64, u64>,
    outside: BTreeSet<u64>,
    reset_epoch: u64,
    joined_at: u64,
}

impl<'a> Day<'a> {
    /// Thirty people came: twenty have had seats, two of whom have left. One has an AWS-style token, and a seat is held
    /// for one.
    async fn begin(world: &'a World) -> Self {
        let settings = RoomSettings { turn_hold_seconds: Some(60), ..patient(SEATS) };
        world.open(settings).await;
        let joined = world.join(BEFORE, JoinMode::Enter).await;
        assert_eq!(joined.seated, SEATS);
        let mut day = Self {
            world,
            seen: testimony(&world.snapshot().await),
            config: world.config().await,
            seats: Vec::new(),
            endings: Vec::new(),
            inside: (1..=SEATS).map(|number| (number, joined.expires_at)).collect(),
            outside: (SEATS + 1..=BEFORE).collect(),
            reset_epoch: joined.reset_epoch,
            joined_at: joined.issued_at,
        };
        for number in GONE {
            world.leave(number).await;
            day.endings.push(Ending::of_session(number, joined.expires_at));
            day.inside.remove(&number);
        }
        day.serve_two().await;
        day.remember(joined.issued_at).await;
        day
    }

    /// One enters by the AWS-style calls, and a seat is held for another.
    async fn serve_two(&mut self) {
        self.world.tick(1).await;
        self.world.seconds(4);
        let aws = self.claim(AWS, SessionKind::AwsStyle);
        let ClaimOutcome::Entered(record) = self.world.claims(aws).await else { panic!("no seat") };
        self.inside.insert(AWS, record.expires_at);
        self.outside.remove(&AWS);
        self.world.seconds(4);
        let held = Claim { hold: true, ..self.claim(HELD, SessionKind::Visitor) };
        let held = self.world.claims(held).await;
        assert!(matches!(held, ClaimOutcome::Held { .. }), "{held:?}");
    }

    async fn remember(&mut self, issued_at: u64) {
        self.seen = testimony(&self.world.snapshot().await);
        let known = self.inside.iter().filter(|(number, _)| !FORGOTTEN.contains(number));
        self.seats = known
            .map(|(number, expires_at)| {
                let record = if *number == AWS {
                    format!("{}|{expires_at}|0|a|k|id-{AWS}|https://issuer", issued_at + 4)
                } else {
                    format!("{issued_at}|{expires_at}|0|v|k||https://issuer")
                };
                Seat { number: *number, record, expires_at: *expires_at, seen_at: (1, 1) }
            })
            .collect();
    }

    fn claim(&self, number: u64, kind: SessionKind) -> Claim {
        World::claim_of(number, kind, self.joined_at, self.reset_epoch)
    }

    async fn reconcile(&self) -> Finding {
        let (seats, endings) = (self.seats.as_slice(), self.endings.as_slice());
        let seen = std::slice::from_ref(&self.seen);
        self.world.reconcile_with(seen, &[], &self.config, (seats, endings)).await
    }

    /// Reconciles if the answer says so; returns whether it did.
    async fn heeds<T: std::fmt::Debug>(&self, answer: &Result<T, StoreError>) -> bool {
        assert!(answer.is_ok() || is_refused(answer), "{answer:?}");
        if answer.is_ok() {
            return false;
        }
        assert!(matches!(self.reconcile().await, Finding::IsBehind(_)));
        true
    }

    /// More people come.
    async fn more_join(&mut self) {
        let mut joined = self.world.try_join(AFTER, JoinMode::Enter).await;
        if self.heeds(&joined).await {
            joined = self.world.try_join(AFTER, JoinMode::Enter).await;
        }
        let joined = joined.unwrap();
        assert_eq!(joined.first, BEFORE + 1, "no number twice");
        for number in joined.first..joined.first + AFTER {
            if number < joined.first + joined.seated {
                self.inside.insert(number, joined.expires_at);
            } else {
                self.outside.insert(number);
            }
        }
    }

    /// Everybody who has no seat asks for one, and those who have left do so, too.
    async fn all_claim(&mut self) {
        let waiting: Vec<u64> = self.outside.iter().copied().chain(GONE).collect();
        let claims: Vec<Claim> =
            waiting.iter().map(|number| self.claim(*number, SessionKind::Visitor)).collect();
        let (store, room) = (&self.world.store, &self.world.room);
        let mut answer = store.claim(room, "k", &claims).await;
        if self.heeds(&answer).await {
            answer = store.claim(room, "k", &claims).await;
        }
        for (number, outcome) in waiting.into_iter().zip(answer.unwrap().outcomes) {
            match outcome {
                ClaimOutcome::Entered(record) => {
                    assert!(self.outside.remove(&number), "{number} has left");
                    self.inside.insert(number, record.expires_at);
                }
                ClaimOutcome::SessionEnded => assert!(GONE.contains(&number), "{number}"),
                ClaimOutcome::NotServed | ClaimOutcome::NoSeat => {}
                other => panic!("{number}: {other:?}"),
            }
        }
    }

    /// The first who is inside leaves; whose session is not known stays until its token has expired.
    async fn one_leaves(&mut self) {
        let now = self.world.clock.now_ms() / 1000;
        self.inside.retain(|_, expires_at| *expires_at >= now);
        for number in self.inside.keys().copied().collect::<Vec<_>>() {
            let departure = Departure {
                number,
                ended_as: EndedAs::Completed,
                seat: vestibule_domain::SeatEnds::AtOnce,
            };
            let (store, room) = (&self.world.store, &self.world.room);
            let mut left = store.leave(room, self.reset_epoch, &[departure]).await;
            if self.heeds(&left).await {
                left = store.leave(room, self.reset_epoch, &[departure]).await;
            }
            if left.unwrap() == [true] {
                self.inside.remove(&number);
                return;
            }
        }
    }

    async fn one_tick(&self) {
        let begun = self.world.try_begin(2).await;
        self.heeds(&begun).await;
        self.world.tick(2).await;
    }

    /// The rest of the day; `first`: what happens first.
    async fn goes_on(&mut self, first: usize) {
        if first == 0 {
            self.more_join().await;
            self.all_claim().await;
        } else {
            self.all_claim().await;
            self.one_tick().await;
            self.more_join().await;
        }
        for _ in 0..LONGEST {
            assert!(self.inside.len() <= 20, "{} are inside", self.inside.len());
            if self.outside.is_empty() {
                return;
            }
            self.one_tick().await;
            self.world.seconds(1);
            self.all_claim().await;
            self.one_leaves().await;
        }
        panic!("{:?} were never served", self.outside);
    }
}

async fn whichever_key_is_lost_nobody_is_let_in_beside_the_seats_and_everybody_is_served(
    world: World,
) {
    Day::begin(&world).await;
    let all = keys(&world).await;
    assert!(all.len() > 12, "{all:?}");
    for (key, first) in all.iter().flat_map(|key| [(key, 0), (key, 1)]) {
        world.store.delete_room(&world.room, None).await.unwrap();
        let mut day = Day::begin(&world).await;
        // Presence has keys of its own time.
        if !keys(&world).await.contains(key) {
            continue;
        }
        lose(&world, key).await;
        println!("without {key}, first {first}");
        day.goes_on(first).await;
    }
}

async fn whoever_needs_the_key_first_notices(world: World) {
    let all = ["sessions", "records", "tokens", "entered:0", "rate", "rows", "ended", "holds"];
    for name in all {
        let day = Day::begin(&world).await;
        lose(&world, &part(name)).await;
        let begun = world.try_begin(1).await;
        assert!(matches!(begun, Err(StoreError::Rewound)), "{name}: {begun:?}");
        let others = world.another_store();
        assert!(is_refused(&others.read_snapshot(&world.room).await), "{name}: all are told");
        let called = world.store.call_witnesses(&world.room, 2, "r").await.unwrap();
        assert!(called.is_partial, "{name}");
        assert!(matches!(day.reconcile().await, Finding::IsBehind(_)), "{name}");
        let back = world.snapshot().await;
        assert_eq!((back.generation, back.queue_counter), (2, BEFORE), "{name}: no gap");
        assert!(world.try_begin(2).await.is_ok(), "{name}: found once");
        world.store.delete_room(&world.room, None).await.unwrap();
    }
}

/// Its scripts raise `seq`, and leave the list as it was.
async fn a_list_of_a_release_that_keeps_none_says_nothing(world: World) {
    let _day = Day::begin(&world).await;
    world.server.ask::<u64>(cmd("HINCRBY").arg(part("line")).arg("seq").arg(1)).await;
    lose(&world, &part("sessions")).await;
    assert!(world.try_begin(1).await.is_ok(), "it may have emptied it");
    lose(&world, &part("rows")).await;
    assert!(is_refused(&world.try_begin(1).await), "from then on the list is kept again");
}

async fn what_scripts_empty_is_not_lost(world: World) {
    world.open(limited(3)).await;
    world.join(3, JoinMode::Enter).await;
    for number in 1..=3 {
        world.leave(number).await;
    }
    assert!(!keys(&world).await.contains(&part("sessions")), "nobody is inside");
    world.tick(1).await;
    world.seconds(4_000);
    world.tick(1).await;
    assert!(!keys(&world).await.contains(&part("ended")), "nothing is remembered of them");
    world.tick(1).await;
    world.store.reset(&world.room).await.unwrap();
    world.tick(1).await;
    assert_eq!(world.join(1, JoinMode::Enter).await.first, 1);
    assert_eq!(world.snapshot().await.generation, 1);
}

/// Those of whom no service knows included.
async fn sessions_come_back_from_their_records(world: World) {
    let day = Day::begin(&world).await;
    lose(&world, &part("sessions")).await;
    assert!(is_refused(&world.try_begin(1).await));
    world.reconcile(std::slice::from_ref(&day.seen), &[], &day.config).await;
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed), (19, 1), "one seat was held");
    let touch = Touch {
        reset_epoch: day.reset_epoch,
        number: FORGOTTEN[0],
        position: FORGOTTEN[0],
        generation: 1,
        issued_at: day.joined_at,
        expires_at: day.inside[&FORGOTTEN[0]],
        max_session_seconds: None,
        caller: CallerBindings::default(),
    };
    let touched = world.store.touch(&world.room, "k", "i", &[touch]).await.unwrap();
    assert!(touched[0].session.is_some());
}

async fn who_entered_within_the_last_minute_is_not_forgotten(world: World) {
    let rate = RoomSettings { new_users_per_minute: Some(5), ..limited(50) };
    world.open(rate).await;
    let joined = world.join(9, JoinMode::Enter).await;
    assert_eq!(joined.seated, 5);
    let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
    lose(&world, &part("rate")).await;
    assert!(is_refused(&world.try_join(1, JoinMode::Enter).await));
    world.reconcile(&[seen], &[], &config).await;
    let back = world.snapshot().await;
    assert_eq!((back.admitted_last_minute, back.active), (5, 5));
    world.seconds(30);
    world.store.increment(&world.room, 9).await.unwrap();
    world.ripens();
    assert_eq!(world.claim(6, SessionKind::Visitor).await, ClaimOutcome::NoSeat);
}

/// The leader that put it together stopped before it had put the seats back.
async fn of_a_room_that_was_never_opened_again_the_seats_are_put_back(world: World) {
    let day = Day::begin(&world).await;
    lose(&world, &part("sessions")).await;
    let round = vestibule_store::Round { room: &world.room, name: "a", epoch: 2 };
    let called = world.store.call_witnesses(&world.room, 2, "a").await.unwrap();
    let evidence = Evidence {
        stored: called.stored.as_ref(),
        is_partial: called.is_partial,
        testimonies: std::slice::from_ref(&day.seen),
        is_one_silent: false,
        is_one_gone: false,
        gap: UNSEEN_NUMBERS,
        unseen: None,
        buried: 0,
    };
    let Finding::IsBehind(to) = evidence.find() else { panic!("it is partial") };
    assert!(world.store.reconcile(round, &to, &day.config).await.unwrap());
    assert!(matches!(day.reconcile().await, Finding::IsBehind(_)));
    let back = world.snapshot().await;
    assert_eq!((back.active, back.unconfirmed), (19, 1));
}

async fn what_is_lost_while_the_leader_asks_is_not_passed_over(world: World) {
    let day = Day::begin(&world).await;
    let round = vestibule_store::Round { room: &world.room, name: "a", epoch: 2 };
    let called = world.store.call_witnesses(&world.room, 2, "a").await.unwrap();
    assert!(!called.is_partial);
    lose(&world, &part("sessions")).await;
    assert!(!world.store.reopen(round, None, &[]).await.unwrap(), "something more was lost");
    assert!(is_refused(&world.try_begin(2).await));
    assert!(matches!(day.reconcile().await, Finding::IsBehind(_)));
    assert_eq!(world.snapshot().await.active, 19);
}

async fn a_line_that_is_lost_while_the_leader_asks_is_not_put_together_by_half(world: World) {
    let mut day = Day::begin(&world).await;
    let round = vestibule_store::Round { room: &world.room, name: "a", epoch: 2 };
    let called = world.store.call_witnesses(&world.room, 2, "a").await.unwrap();
    let later = Testimony {
        stamp: Stamp { seq: day.seen.stamp.seq + 1, ..day.seen.stamp.clone() },
        ..day.seen.clone()
    };
    let evidence = Evidence {
        stored: called.stored.as_ref(),
        is_partial: called.is_partial,
        testimonies: &[later],
        is_one_silent: false,
        is_one_gone: false,
        gap: UNSEEN_NUMBERS,
        unseen: None,
        buried: 0,
    };
    let Finding::IsBehind(to) = evidence.find() else { panic!("somebody has seen more") };
    lose(&world, &part("line")).await;
    assert!(!world.store.reconcile(round, &to, &day.config).await.unwrap());
    assert!(!keys(&world).await.contains(&part("line")));
    day.goes_on(0).await;
}

/// Nor does one whose line was lost, by which it is known how many chunks its places have: who entered it would have
/// entered the next room of its name.
async fn a_deleted_room_leaves_nothing(world: World) {
    for lost in [None, Some("line")] {
        Day::begin(&world).await;
        if let Some(name) = lost {
            lose(&world, &part(name)).await;
        }
        world.store.delete_room(&world.room, None).await.unwrap();
        let mut left = keys(&world).await;
        // What calls were answered expires by itself.
        left.retain(|key| !key.contains(":calls:"));
        assert_eq!(left, BTreeSet::new(), "without {lost:?}");
    }
}

async fn a_key_that_holds_something_else_is_removed_and_counts_as_lost(world: World) {
    world.open(patient(2)).await;
    world.join(5, JoinMode::Enter).await;
    world.tick(1).await;
    for name in ["sessions", "settings", "line"] {
        let (seen, config) = (testimony(&world.snapshot().await), world.config().await);
        lose(&world, &part(name)).await;
        world.server.ask::<()>(cmd("SET").arg(part(name)).arg("x")).await;
        let read = world.store.read_snapshot(&world.room).await;
        assert!(matches!(read, Err(StoreError::Unexpected(_))), "{name}: {read:?}");
        assert!(world.store.remove_foreign(&world.room).await.unwrap(), "{name}");
        assert!(!world.store.remove_foreign(&world.room).await.unwrap(), "{name}");
        let read = world.store.read_snapshot(&world.room).await;
        let is_missing = matches!(read, Ok(None) | Err(StoreError::Rewound));
        assert!(is_missing, "{name}: {read:?}");
        world.reconcile(&[seen], &[], &config).await;
    }
}

async fn a_day_that_holds_something_else_is_removed(world: World) {
    world.open(patient(2)).await;
    let (minute, today) = (START_MS / 60_000, START_MS / 86_400_000);
    let close = async |day| world.store.roll_up(&world.room, 1, day, minute).await.map(drop);
    for day in [today - 1, today] {
        for name in ["history", "minutes", "ledger"] {
            world.join(1, JoinMode::Queue).await;
            let key = part(&format!("{name}:{day}"));
            world.server.ask::<()>(cmd("DEL").arg(&key)).await;
            world.server.ask::<()>(cmd("SADD").arg(&key).arg("x")).await;
            let read = async || match name {
                "ledger" => world.store.ledger(&world.room, 0, u64::MAX).await.map(drop),
                _ => world.store.history(&world.room, 0, u64::MAX).await.map(drop),
            };
            let found = read().await.unwrap_err();
            assert!(found.is_of_another_type(), "{key}: {found}");
            assert!(world.store.remove_foreign(&world.room).await.unwrap(), "{key}");
            assert!(!world.store.remove_foreign(&world.room).await.unwrap(), "{key}");
            read().await.unwrap();
            close(day).await.unwrap();
        }
    }
    assert!(world.store.history(&world.room, minute, minute).await.unwrap().contains_key(&minute));
}

async fn a_list_that_holds_something_else_is_removed(world: World) {
    world.open(patient(2)).await;
    let list = |name: &str| format!("vestibule:{{deployment}}:{name}");
    world.store.announce_stop("admission-a", true).await.unwrap();
    world.store.remove_foreign_lists().await.unwrap();
    let lists = [
        "rooms",
        "tombstones",
        "burials",
        "schema",
        "keys",
        "regions",
        "routes",
        "routes-length",
        "routes-epoch",
        "config-changes",
        "clock",
        "formats",
        "stops",
        "servers",
        "admissions",
        "api-tokens",
        "deliveries",
    ];
    for name in lists {
        world.server.ask::<()>(cmd("DEL").arg(list(name))).await;
        let other_type = if name == "rooms" { "SET" } else { "SADD" };
        world.server.ask::<()>(cmd(other_type).arg(list(name)).arg("x")).await;
        world.store.remove_foreign_lists().await.unwrap();
        assert!(!world.server.ask::<bool>(cmd("EXISTS").arg(list(name))).await, "{name}");
    }
    assert_eq!(world.store.rooms().await.unwrap(), []);
    world.store.announce("admission-b", Announcement::OURS).await.unwrap();
}

async fn a_lease_that_cannot_be_read_is_made_anew(world: World) {
    let length = Duration::from_secs(2);
    let asking = Asking { instance: "controller-a", length, known_epoch: 0, settled: None };
    let leads = |standing| matches!(standing, Ok(Standing::Leads { .. }));
    for name in ["lease", "lease-length", "epoch", "controllers", "term"] {
        assert!(leads(world.store.lead(&asking).await), "{name}");
        let key = format!("vestibule:{{deployment}}:{name}");
        world.server.ask::<()>(cmd("DEL").arg(&key)).await;
        world.server.ask::<()>(cmd("SADD").arg(&key).arg("x")).await;
        if let Err(error) = world.store.lead(&asking).await {
            assert!(error.is_of_another_type(), "{name}: {error}");
        }
        world.store.remove_foreign_lease().await.unwrap();
        assert!(leads(world.store.lead(&asking).await), "{name}");
    }
}
