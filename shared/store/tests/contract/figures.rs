//! What the history tells besides newcomers and admissions: levels, who left and why, and waits.

use std::collections::BTreeMap;

use vestibule_domain::{
    RoomSettings, SeatEnds,
    ledger::{Figure, Figures, LeftAs, RefusedFor, WAIT_BOUNDS, bucket_of},
};
use vestibule_store::{
    ClaimOutcome, Departure, EndedAs, GivenUp, JoinMode, Revocation, SessionKind,
};

use crate::world::{Leader, START_MS, World, limited, newcomers, patient};

crate::on_every_server!(
    levels_are_the_highest_of_their_minute,
    whoever_leaves_is_counted_by_its_reason,
    waits_are_counted_in_the_buckets_of_the_rules,
    closed_figures_stay_and_come_to_five_minutes,
    many_counts_are_closed_in_parts,
    lost_figures_are_put_back_once,
    a_room_that_nobody_is_in_writes_nothing,
    a_day_takes_little,
);

const MINUTE: u64 = START_MS / 60_000;

async fn figures(world: &World) -> BTreeMap<u64, Figures> {
    let minutes = world.store.history(&world.room, 0, u64::MAX).await.unwrap();
    minutes.into_iter().map(|(minute, traffic)| (minute, traffic.figures)).collect()
}

async fn total(world: &World, figure: Figure) -> u64 {
    figures(world).await.values().map(|figures| figures.total(figure)).sum()
}

async fn roll_up(world: &World, last: u64) {
    world.store.roll_up(&world.room, 9, MINUTE / 1440, last).await.unwrap();
}

async fn levels_are_the_highest_of_their_minute(world: World) {
    world.open(limited(2)).await;
    let mut leader = Leader::new(1);
    world.join(7, JoinMode::Enter).await;
    leader.tick(&world).await;
    for number in [1, 2] {
        world.leave(number).await;
    }
    leader.tick(&world).await;
    world.seconds(60);
    leader.tick(&world).await;
    let told = figures(&world).await;
    let level = |minute, figure| told[&minute].of("", figure);
    assert_eq!((level(MINUTE, Figure::Waiting), level(MINUTE, Figure::Inside)), (5, 2));
    assert_eq!(level(MINUTE + 1, Figure::Inside), 0);
}

async fn whoever_leaves_is_counted_by_its_reason(world: World) {
    let settings = RoomSettings { position_expiry_seconds: Some(60), ..limited(4) };
    world.open(settings).await;
    world.join(9, JoinMode::Enter).await;
    let epoch = world.reset_epoch().await;
    for (number, ended_as) in [(1, EndedAs::Completed), (2, EndedAs::Abandoned)] {
        let departure = Departure { number, ended_as, seat: SeatEnds::AtOnce };
        world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
        world.store.leave(&world.room, epoch, &[departure]).await.unwrap();
    }
    let given_up = GivenUp { number: 9, position: Some(9), network: None };
    for _ in 0..2 {
        world.store.give_up(&world.room, (epoch, 0), &[given_up]).await.unwrap();
    }
    for number in [3, 8] {
        let (reset_epoch, seat) = (epoch, SeatEnds::AtOnce);
        let revocation = Revocation { reset_epoch, number, position: Some(number), draws: 0, seat };
        world.store.revoke(&world.room, revocation).await.unwrap();
    }
    world.tick(1).await;
    world.seconds(400);
    world.tick(1).await;
    world.tick(1).await;
    let before = world.snapshot().await;
    assert_eq!(before.active, 0, "the fourth session has run out");
    world.join(2, JoinMode::Enter).await;
    world.store.reset(&world.room).await.unwrap();
    let mut left = BTreeMap::new();
    for reason in LeftAs::ALL {
        left.insert(reason.name(), total(&world, Figure::Left(*reason)).await);
    }
    let one = |name: &str| left[name];
    for name in
        ["completed", "abandoned", "revoked", "session_expired", "place_given_up", "place_revoked"]
    {
        assert_eq!(one(name), 1, "{name} of {left:?}");
    }
    assert_eq!((one("turn_missed"), one("reset") > 0), (before.expired, true), "{left:?}");
}

async fn waits_are_counted_in_the_buckets_of_the_rules(world: World) {
    world.open(patient(100)).await;
    world.put(RoomSettings { queue_all: true, ..patient(100) }).await;
    let waits: Vec<u64> = WAIT_BOUNDS.iter().flat_map(|bound| [*bound, bound + 1]).collect();
    world.join(waits.len() as u64, JoinMode::Enter).await;
    world.put(patient(100)).await;
    world.tick(1).await;
    world.ripens();
    let mut expected = Figures::default();
    let now_s = world.clock.now_ms() / 1000;
    for (number, wait) in (1..).zip(&waits) {
        let claim = world.claim_entered(number, SessionKind::Visitor, now_s - wait).await;
        assert!(matches!(claim, ClaimOutcome::Entered(_)), "{number}: {claim:?}");
        expected.add("", Figure::Waited(bucket_of(Some(*wait))), 1);
    }
    for (region, figure, count) in expected.iter() {
        assert_eq!((region, total(&world, figure).await), ("", count), "{figure:?}");
    }
}

async fn closed_figures_stay_and_come_to_five_minutes(world: World) {
    world.open(limited(2)).await;
    let first = (MINUTE / 5 + 1) * 5;
    for minute in first..first + 5 {
        world.at(minute * 60_000);
        world.join(4, JoinMode::Enter).await;
        world.tick(1).await;
        let told = [(Figure::Told(3), minute), (Figure::Refused(RefusedFor::Closed), 1)];
        world.store.note_counts(&world.room, minute, told).await.unwrap();
    }
    let open = figures(&world).await;
    assert!(world.store.ledger(&world.room, 0, u64::MAX).await.unwrap().is_empty());
    // One after the other, and the last one in two parts.
    for minute in first..first + 5 {
        roll_up(&world, minute).await;
    }
    let late = [(Figure::Refused(RefusedFor::Closed), 4)];
    world.store.note_counts(&world.room, first + 4, late).await.unwrap();
    roll_up(&world, first + 4).await;
    let closed = figures(&world).await;
    let mut expected = open.clone();
    expected.get_mut(&(first + 4)).unwrap().add("", Figure::Refused(RefusedFor::Closed), 4);
    assert_eq!(closed, expected);
    let ledger = world.store.ledger(&world.room, 0, u64::MAX).await.unwrap();
    assert_eq!(ledger.keys().copied().collect::<Vec<_>>(), [first]);
    let mut sum = Figures::default();
    let traffic = world.store.history(&world.room, 0, u64::MAX).await.unwrap();
    for minute in traffic.values() {
        sum.add_all(&minute.figures);
        sum.add("", Figure::Admitted, minute.admitted);
        sum.add("here", Figure::Arrived, minute.arrivals["here"]);
    }
    let kept: Vec<_> = ledger[&first].iter().filter(|(_, _, count)| *count > 0).collect();
    assert_eq!(kept, sum.iter().filter(|(_, _, count)| *count > 0).collect::<Vec<_>>());
}

async fn many_counts_are_closed_in_parts(world: World) {
    world.open(limited(2)).await;
    let told = |minute| (0..11).map(move |bucket| (Figure::Told(bucket), minute));
    for minute in MINUTE..MINUTE + 150 {
        world.store.note_counts(&world.room, minute, told(minute)).await.unwrap();
    }
    let open = figures(&world).await;
    for day in [MINUTE / 1440, MINUTE / 1440 + 1] {
        world.store.roll_up(&world.room, 9, day, MINUTE + 150).await.unwrap();
    }
    let day = MINUTE / 1440 + 1;
    let rolled = world.store.roll_up(&world.room, 9, day, MINUTE + 150).await.unwrap();
    assert_eq!((rolled.moved, rolled.open), (0, 0));
    world.at((MINUTE + 150) * 60_000);
    assert_eq!(figures(&world).await, open);
}

async fn lost_figures_are_put_back_once(world: World) {
    world.open(limited(3)).await;
    world.join(5, JoinMode::Enter).await;
    world.tick(1).await;
    world.leave(1).await;
    roll_up(&world, MINUTE).await;
    let read = async || world.store.history(&world.room, 0, u64::MAX).await.unwrap();
    let ledger = async || world.store.ledger(&world.room, 0, u64::MAX).await.unwrap();
    let (seen, in_ledger) = (read().await, ledger().await);
    assert!(seen[&MINUTE].figures.total(Figure::Left(LeftAs::Completed)) == 1);
    let regions = ["here".to_owned()];
    let traffic = world.store.read_traffic(&world.room, MINUTE..=MINUTE, &regions).await.unwrap();
    assert_eq!(traffic.minutes, seen, "as controllers read it");
    let restore = async || world.store.restore_traffic(&world.room, &seen).await.unwrap();
    assert_eq!(restore().await, 0, "all is there");
    let (told, config) = (crate::world::testimony(&world.snapshot().await), world.config().await);
    world.server.flush().await;
    world.reconcile(&[told], &[], &config).await;
    assert!(restore().await > 0);
    assert_eq!((restore().await, read().await, ledger().await), (0, seen.clone(), in_ledger));
}

async fn a_room_that_nobody_is_in_writes_nothing(world: World) {
    world.open(limited(3)).await;
    world.tick(9).await;
    let keys = world.server.keys().await;
    for minute in 0..5 {
        world.seconds(60);
        world.tick(9).await;
        roll_up(&world, MINUTE + minute).await;
    }
    assert_eq!(world.server.keys().await, keys);
    assert!(figures(&world).await.is_empty());
}

/// Three regions, with everything in every minute of an hour, and one in which somebody comes every ten minutes.
async fn a_day_takes_little(world: World) {
    world.open(patient(40)).await;
    let first = (MINUTE / 60 + 1) * 60;
    let stores: Vec<_> =
        ["eu", "us", "asia"].map(|region| (region, world.another_store().in_region(region))).into();
    for minute in first..first + 60 {
        world.at(minute * 60_000);
        for (region, store) in &stores {
            store.join(&world.room, &newcomers(region, 9, JoinMode::Enter)).await.unwrap();
            let told = [2, 3, 4].map(|bucket| (Figure::Told(bucket), 5 + minute % 7));
            let refused = [RefusedFor::NetworkJoins, RefusedFor::Challenge];
            let refused = refused.map(|reason| (Figure::Refused(reason), 17));
            let waited = [0, 5, 6].map(|bucket| (Figure::Waited(bucket), 11));
            let left = [LeftAs::Completed, LeftAs::PlaceGivenUp].map(|as_| (Figure::Left(as_), 12));
            let all = told.into_iter().chain(refused).chain(waited).chain(left);
            store.note_counts(&world.room, minute, all).await.unwrap();
        }
        world.tick(9).await;
        roll_up_all(&world, minute).await;
    }
    let bytes = |kept: &'static str| bytes_of(&world, kept, first / 1440);
    let (minutes, ledger) = (bytes("minutes").await, bytes("ledger").await);
    assert!(minutes < 16_000 && ledger < 5_000, "{minutes} and {ledger} bytes an hour");
}

async fn roll_up_all(world: &World, last: u64) {
    world.store.roll_up(&world.room, 9, last / 1440, last).await.unwrap();
}

/// How many bytes of text are kept of a day.
async fn bytes_of(world: &World, kept: &str, day: u64) -> usize {
    let key = format!("vestibule:room:{{sale}}:{kept}:{day}");
    let all: BTreeMap<String, String> = world.server.ask(redis::cmd("HGETALL").arg(key)).await;
    all.iter().map(|(field, text)| field.len() + text.len()).sum()
}
