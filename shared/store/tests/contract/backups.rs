//! Rooms that are copied and put into another Redis: what the copy says comes back, numbers go on above every number
//! that was handed out since, and nobody sits beyond the seats.

use std::{collections::BTreeMap, time::Duration};

use redis::cmd;
use vestibule_domain::reconciliation::Finding;
use vestibule_store::{
    AuditLimits, AuditList, AuditQuery, ClaimOutcome, DeploymentCopy, GivenUp, Import, JoinMode,
    Piece, Revoked, SessionKind, StoreError,
};
use vestibule_tests::Flavor;

use crate::{
    events::{event, moment},
    revoking::revoke_at,
    server::Server,
    world::{START_MS, World, limited},
};

// Not on the model, which cannot go through a set in pages.
crate::on_real_servers!(
    who_came_after_the_copy_collides_with_nobody_and_seats_are_never_more_than_there_are,
    what_has_ended_stays_ended_and_a_place_enters_once,
    what_is_copied_comes_back_as_it_was,
    a_minute_that_was_closed_while_it_was_copied_counts_once,
    a_room_that_was_closed_moves_as_it_is,
    who_is_inside_when_a_room_is_closed_is_inside_when_it_opens_however_late,
    a_closed_room_changes_for_nobody_until_a_leader_opens_it,
    a_room_that_may_not_be_the_latest_is_not_copied,
    a_half_restored_server_is_not_taken_for_an_unused_one,
    a_mark_that_was_lost_makes_nothing_whole,
    what_lies_here_of_a_room_is_found_and_what_does_not_is_missed,
    a_part_of_a_newer_release_is_refused,
    the_audit_log_comes_back_whole_and_goes_on,
);

const UNSEEN: u64 = 100_000;

/// Puts pieces into a Redis 7 of its own, at the same time.
pub(crate) async fn restored(world: &World, pieces: Vec<Piece>, unseen: Option<u64>) -> World {
    let mut other = World::on(Server::real(Flavor::Redis7).await);
    other.clock = world.clock.clone();
    // Not recorded: of what was before the copy no history tells.
    other.store = other.server.store(&other.clock);
    let mut import = Import::new(&other.store, world.room.clone(), unseen);
    for piece in pieces {
        import.put(piece).await.unwrap();
    }
    other.store.list_room(&world.room).await.unwrap();
    other
}

pub(crate) async fn copied(world: &World) -> Vec<Piece> {
    world.store.export_room(&world.room).await.unwrap().unwrap()
}

async fn who_came_after_the_copy_collides_with_nobody_and_seats_are_never_more_than_there_are(
    world: World,
) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let (pieces, config) = (copied(&world).await, world.config().await);
    world.leave(1).await;
    let late = world.join(30, JoinMode::Queue).await;
    let entered = world.claim_served(4).await;
    assert!(matches!(entered, ClaimOutcome::Entered(_)), "{entered:?}");

    let other = restored(&world, pieces, Some(UNSEEN)).await;
    assert!(matches!(other.store.read_snapshot(&other.room).await, Err(StoreError::Rewound)));
    assert!(matches!(other.reconcile(&[], &[], &config).await, Finding::IsBehind(_)));
    let back = other.snapshot().await;
    assert_eq!((back.reset_epoch, back.generation), (joined.reset_epoch, 2), "ids stay valid");
    assert_eq!(other.config().await, config);
    assert_eq!((back.active, back.unconfirmed), (3, 0), "the three of the copy");
    let next = other.join(1, JoinMode::Queue).await.first;
    assert_eq!(next, 20 + UNSEEN + 1);
    assert!(late.first + 30 <= next, "{} and {next}", late.first);
    let claim = World::claim_of(2, SessionKind::Visitor, START_MS / 1000, joined.reset_epoch);
    let again = other.claims(claim).await;
    assert!(matches!(again, ClaimOutcome::Repeated(_)), "{again:?}");

    // Their seats are over, but those of others may not be: nobody knows who entered since.
    other.seconds(200);
    let pieces = copied(&world).await;
    let third = restored(&world, pieces, Some(UNSEEN)).await;
    third.leave_unheard(2).await;
    third.reconcile(&[], &[], &config).await;
    let back = third.snapshot().await;
    assert_eq!(back.active + back.unconfirmed, 3, "{} and {}", back.active, back.unconfirmed);
    assert!(back.unconfirmed > 0, "a free seat may have been taken since");
}

impl World {
    /// A session is gone before the leader comes.
    async fn leave_unheard(&self, number: u64) {
        let key = "vestibule:room:{sale}:sessions";
        self.server.ask::<()>(cmd("ZREM").arg(key).arg(number)).await;
    }
}

async fn what_has_ended_stays_ended_and_a_place_enters_once(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let before = copied(&world).await;
    world.leave(1).await;
    // As if it had left while the copy was made: its seat was read before, its end after.
    let is_seat = |piece: &Piece| ["sessions", "records"].contains(&piece.key());
    let seats = before.into_iter().filter(is_seat);
    let rest = copied(&world).await.into_iter().filter(|piece| !is_seat(piece));
    let other = restored(&world, seats.chain(rest).collect(), Some(UNSEEN)).await;
    other.reconcile(&[], &[], &world.config().await).await;
    assert_eq!(other.snapshot().await.active, 2);
    let both = [1, 2].map(|number| World::touch_of(number, &joined));
    let touched = other.store.touch(&other.room, "k", "i", &both).await.unwrap();
    assert_eq!(touched[0].session, None, "it has ended");
    assert!(touched[1].session.is_some());
    let claim = World::claim_of(1, SessionKind::Visitor, START_MS / 1000, joined.reset_epoch);
    assert_eq!(other.claims(claim).await, ClaimOutcome::SessionEnded);
}

/// All that a server holds of the room, by kind; not what is not copied.
async fn contents(world: &World) -> BTreeMap<String, BTreeMap<String, String>> {
    let keys: Vec<String> = world.server.ask(cmd("KEYS").arg("vestibule:room:*")).await;
    let transient =
        ["there", "grants", "door", "asked", "passed", "seatless", "testimony", "scratch"];
    let mut contents = BTreeMap::new();
    for key in keys {
        let end = key.split("}:").nth(1).unwrap().to_owned();
        // What newcomers were told lives for seconds.
        let is_brief =
            end.strip_prefix("calls:").is_some_and(|call| call.starts_with(char::is_numeric));
        if is_brief || transient.contains(&end.split(':').next().unwrap()) {
            continue;
        }
        let kind: String = world.server.ask(cmd("TYPE").arg(&key)).await;
        let found = match kind.as_str() {
            "hash" => world.server.ask(cmd("HGETALL").arg(&key)).await,
            "zset" => {
                world.server.ask(cmd("ZRANGE").arg(&key).arg(0).arg(-1).arg("WITHSCORES")).await
            }
            _ => {
                let bytes: Vec<u8> = world.server.ask(cmd("GET").arg(&key)).await;
                BTreeMap::from([("bytes".to_owned(), format!("{bytes:?}"))])
            }
        };
        contents.insert(end, found);
    }
    contents
}

/// A room with more seats than one page, AWS-style tokens, places given up and revoked, a pool, a history and an ended
/// session.
async fn busy(world: &World) {
    let sale = vestibule_domain::schedule::Event {
        prequeue_start: Some(moment(120)),
        draw: true,
        draw_id: "d1".to_owned(),
        commitment: Some("ab".to_owned()),
        ..event("sale", 720, 3_600)
    };
    world.schedule(limited(1_203), &[sale]).await;
    world.join(1_200, JoinMode::Enter).await;
    world.join(20, JoinMode::Queue).await;
    world.store.increment(&world.room, 5).await.unwrap();
    world.ripens();
    let aws = world.claim(1_201, SessionKind::AwsStyle).await;
    assert!(matches!(aws, ClaimOutcome::Entered(_)), "{aws:?}");
    world.leave(7).await;
    world.seconds(60);
    world.store.roll_up(&world.room, 1, START_MS / 60_000 / 1440, START_MS / 60_000).await.unwrap();
    world.seconds(60);
    world.join(9, JoinMode::Queue).await;
    let seen = (world.reset_epoch().await, 0);
    let place = GivenUp { number: 1_225, position: None, network: None };
    assert_eq!(world.store.give_up(&world.room, seen, &[place]).await.unwrap(), [true]);
    assert_eq!(revoke_at(world, 1_224, None).await, Revoked::Place);
}

async fn what_is_copied_comes_back_as_it_was(world: World) {
    busy(&world).await;
    world.store.close_room(&world.room).await.unwrap();
    let mut before = contents(&world).await;
    let parts = [
        "sessions",
        "records",
        "tokens",
        "ended",
        "rows",
        "traffic",
        "settings",
        "entered:pools:0",
    ];
    for part in parts {
        assert!(before.contains_key(part), "{part} is not tried: {:?}", before.keys());
    }
    for prefix in ["history:", "revoked:"] {
        assert!(before.keys().any(|key| key.starts_with(prefix)), "{prefix}");
    }
    let other = restored(&world, copied(&world).await, None).await;
    let mut after = contents(&other).await;
    // Of the server, and of the moment.
    for contents in [&mut before, &mut after] {
        contents
            .get_mut("line")
            .unwrap()
            .retain(|name, _| name != "clock_ahead" && name != "parts");
    }
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (key, value) in &before {
        assert_eq!(value, &after[key], "{key}");
    }
    for kept in ["*:history:*", "*:revoked:*"] {
        let keys: Vec<String> = other.server.ask(cmd("KEYS").arg(kept)).await;
        let seconds: i64 = other.server.ask(cmd("TTL").arg(&keys[0])).await;
        assert!(seconds > 0, "{kept} {seconds}");
    }
}

async fn a_minute_that_was_closed_while_it_was_copied_counts_once(world: World) {
    let minute = START_MS / 60_000;
    let key = format!("history:{}", minute / 1440);
    let fields = BTreeMap::from([(format!("{minute}.r.here"), "5".to_owned())]);
    let traffic = Piece::Hash { key: "traffic".to_owned(), fields: fields.clone() };
    let other = restored(&world, vec![traffic, Piece::Hash { key, fields }], None).await;
    let history = other.store.history(&other.room, minute, minute).await.unwrap();
    assert_eq!(history[&minute].arrivals["here"], 5);
}

async fn a_room_that_was_closed_moves_as_it_is(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    world.tick(1).await;
    let (before, config) = (world.snapshot().await, world.config().await);
    world.store.close_room(&world.room).await.unwrap();
    let other = restored(&world, copied(&world).await, None).await;
    other.seconds(5);
    assert_eq!(other.reconcile(&[], &[], &config).await, Finding::IsLatest);
    let back = other.snapshot().await;
    assert_eq!((back.generation, &back.nonce), (1, &before.nonce), "nothing was lost");
    assert_eq!((back.active, back.unconfirmed), (3, 0));
    assert!(back.excused_until_ms > before.excused_until_ms, "nobody could check in meanwhile");
    assert!(other.try_begin(2).await.unwrap().counters.presence_from_ms > other.clock.now_ms());
    assert_eq!(other.join(1, JoinMode::Queue).await.first, 21);
}

async fn who_is_inside_when_a_room_is_closed_is_inside_when_it_opens_however_late(world: World) {
    world.open(limited(3)).await;
    let joined = world.join(20, JoinMode::Enter).await;
    let (before, config) = (world.snapshot().await, world.config().await);
    world.store.close_room(&world.room).await.unwrap();
    let other = restored(&world, copied(&world).await, None).await;
    other.seconds(before.settings.session_duration_seconds + 100);
    assert_eq!(other.reconcile(&[], &[], &config).await, Finding::IsLatest);
    other.tick(2).await;
    assert_eq!(other.snapshot().await.active, 3);
    let all = [1, 2, 3].map(|number| World::touch_of(number, &joined));
    let touch = async || other.store.touch(&other.room, "k", "i", &all[..2]).await.unwrap();
    assert!(touch().await.iter().all(|one| one.session.is_some()));
    other.seconds(before.settings.session_duration_seconds - 1);
    other.tick(2).await;
    assert_eq!(other.snapshot().await.active, 3, "the third may come yet");
    touch().await;
    other.seconds(2);
    other.tick(2).await;
    assert_eq!(other.snapshot().await.active, 2, "it has not come");
}

async fn a_closed_room_changes_for_nobody_until_a_leader_opens_it(world: World) {
    world.open(limited(3)).await;
    world.join(20, JoinMode::Enter).await;
    let config = world.config().await;
    world.store.close_room(&world.room).await.unwrap();
    world.store.close_room(&world.room).await.unwrap();
    assert!(matches!(world.try_join(1, JoinMode::Enter).await, Err(StoreError::Rewound)));
    assert!(matches!(world.try_begin(1).await, Err(StoreError::Rewound)));
    let pieces = copied(&world).await;
    assert_eq!(pieces.last().map(Piece::key), Some("line"));
    assert_eq!(world.reconcile(&[], &[], &config).await, Finding::IsLatest);
    assert_eq!(world.join(1, JoinMode::Queue).await.first, 21, "nothing was lost");
}

async fn a_room_that_may_not_be_the_latest_is_not_copied(world: World) {
    world.open(limited(3)).await;
    let line = "vestibule:room:{sale}:line";
    world.server.ask::<()>(cmd("HSET").arg(line).arg("suspect").arg("older")).await;
    let copy = world.store.export_room(&world.room).await;
    assert!(matches!(copy, Err(StoreError::Rewound)), "{copy:?}");
    let closed = world.store.close_room(&world.room).await;
    assert!(matches!(closed, Err(StoreError::Rewound)), "{closed:?}");
    world.server.flush().await;
    assert_eq!(world.another_store().export_room(&world.room).await.unwrap(), None);
    let closed = world.another_store().close_room(&world.room).await;
    assert!(matches!(closed, Err(StoreError::RoomMissing)), "{closed:?}");
}

async fn a_half_restored_server_is_not_taken_for_an_unused_one(world: World) {
    assert!(world.store.is_unused().await.unwrap());
    let copy = DeploymentCopy {
        schema: 1,
        epoch: 7,
        key_ring: Some("sealed".to_owned()),
        api_tokens: Some("hashed".to_owned()),
        webhooks: Some("sealed".to_owned()),
        regions: BTreeMap::from([("here".to_owned(), 3)]),
        tombstones: BTreeMap::from([(vestibule_domain::RoomId::new("gone").unwrap(), 5)]),
        rooms: vec![world.room.clone()],
    };
    let second = Duration::from_mins(1);
    assert!(world.store.lead_import("a", second, &copy).await.unwrap());
    assert!(!world.store.lead_import("b", second, &copy).await.unwrap(), "one at a time");
    world.store.begin_import(&copy).await.unwrap();
    assert!(!world.store.is_unused().await.unwrap());
    assert!(world.store.is_half_imported().await.unwrap());
    world.store.end_import(&copy).await.unwrap();
    assert!(world.store.is_half_imported().await.unwrap(), "until its end");
    assert_eq!(world.store.schema().await.unwrap(), 0, "services wait");
    for _ in 0..2 {
        assert!(world.store.complete_import(&copy).await.unwrap(), "an answer may be lost");
        assert!(!world.store.is_half_imported().await.unwrap());
    }
    let rooms = copy.rooms.clone();
    let back = world.store.export_deployment(rooms).await.unwrap();
    assert!(back.epoch > copy.epoch, "terms go on above those of the copy");
    assert_eq!(back, DeploymentCopy { epoch: back.epoch, ..copy });
}

/// A room that is not there, in a deployment of its own.
fn copy_of(world: &World) -> DeploymentCopy {
    DeploymentCopy { schema: 1, rooms: vec![world.room.clone()], ..DeploymentCopy::default() }
}

async fn a_mark_that_was_lost_makes_nothing_whole(world: World) {
    let copy = copy_of(&world);
    world.store.begin_import(&copy).await.unwrap();
    let mark = "vestibule:{deployment}:import";
    assert_eq!(world.server.ask::<i64>(cmd("PTTL").arg(mark)).await, -1, "it stays");
    world.server.flush().await;
    assert!(!world.store.complete_import(&copy).await.unwrap());
    assert_eq!(world.store.schema().await.unwrap(), 0);
    assert!(world.store.is_unused().await.unwrap(), "who empties it may begin again");
    // Without a room there is nothing else that tells.
    world.store.begin_import(&DeploymentCopy::default()).await.unwrap();
    assert!(!world.store.is_unused().await.unwrap());
}

async fn what_lies_here_of_a_room_is_found_and_what_does_not_is_missed(world: World) {
    let copy = copy_of(&world);
    let found = async || world.store.first_found(&copy.rooms).await.unwrap();
    let missing = async || world.store.first_missing(&copy.rooms).await.unwrap();
    assert_eq!((found().await, missing().await), (None, Some(world.room.clone())));
    world.store.begin_import(&copy).await.unwrap();
    assert_eq!((found().await, missing().await), (None, Some(world.room.clone())));
    for part in ["settings", "sessions", "line"] {
        let key = format!("vestibule:room:{{sale}}:{part}");
        if part == "line" {
            assert_eq!(missing().await.as_ref(), Some(&world.room), "what is there is not all");
        }
        let mut put = cmd("HSET");
        world.server.ask::<()>(put.arg(&key).arg("a").arg(1)).await;
        assert_eq!(found().await.as_ref(), Some(&world.room), "{part}");
        if part != "line" {
            world.server.ask::<()>(cmd("DEL").arg(&key)).await;
        }
    }
    assert_eq!(missing().await, None);
    world.store.unlist_room(&world.room).await.unwrap();
    assert_eq!(missing().await.as_ref(), Some(&world.room), "nobody would look for it");
}

async fn a_part_of_a_newer_release_is_refused(world: World) {
    let mut import = Import::new(&world.store, world.room.clone(), None);
    let piece = Piece::Hash { key: "wishes".to_owned(), fields: BTreeMap::new() };
    let refused = import.put(piece).await.unwrap_err();
    assert!(refused.to_string().contains("room sale has a part `wishes`"), "{refused}");
    assert_eq!(world.server.keys().await, 0);
}

async fn the_audit_log_comes_back_whole_and_goes_on(world: World) {
    const NOTED: u64 = 405;
    let limits = AuditLimits { keep: Duration::from_hours(24), most: 1_000, most_bytes: 1_000_000 };
    for number in 0..NOTED {
        let entry = format!(r#"{{"number":{number}}}"#);
        world.store.note_audit(AuditList::Changes, &entry, limits).await.unwrap();
    }
    let copies = world.store.export_audit(AuditList::Changes).await.unwrap();
    assert_eq!(world.store.export_audit(AuditList::Visits).await.unwrap(), []);
    let other = World::on(Server::real(Flavor::Redis7).await);
    for copy in &copies {
        other.store.import_audit(copy).await.unwrap();
    }
    let all = AuditQuery { before: None, since: 0, limit: 1_000 };
    let was = world.store.read_audit(AuditList::Changes, all).await.unwrap().entries;
    assert_eq!(was.len() as u64, NOTED);
    assert_eq!(other.store.read_audit(AuditList::Changes, all).await.unwrap().entries, was);
    // Its bytes were counted: what is too much goes with the next entry, and nothing before.
    let bytes = was.iter().map(String::len).sum::<usize>() as u64;
    let next = r#"{"number":"next"}"#;
    let room = AuditLimits { most_bytes: bytes + 100, ..limits };
    other.store.note_audit(AuditList::Changes, next, room).await.unwrap();
    let found = other.store.read_audit(AuditList::Changes, all).await.unwrap().entries;
    assert_eq!(found.len() as u64, NOTED + 1);
    other.store.note_audit(AuditList::Changes, next, room).await.unwrap();
    let tight = AuditLimits { most_bytes: bytes, ..limits };
    other.store.note_audit(AuditList::Changes, next, tight).await.unwrap();
    let found = other.store.read_audit(AuditList::Changes, all).await.unwrap().entries;
    assert!((found.len() as u64) < NOTED + 3, "{}", found.len());
}
