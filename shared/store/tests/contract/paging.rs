//! What is kept of more than a thousand at a time: told in pages, and forgotten in parts, so that Redis is never
//! busy with one room for long.

use std::collections::BTreeMap;

use vestibule_domain::{RoomId, RoomSettings};
use vestibule_store::{Account, Departure, EndedAs, Ending, JoinMode, Seat, SessionKind};

use crate::world::{World, limited};

/// More than two pages.
const MANY: u64 = 2_500;
const TOGETHER: u64 = 500;

crate::on_every_server!(
    expired_tokens_are_told_to_the_last_one,
    sessions_are_swept_in_parts_and_count_no_more_before,
    ends_are_forgotten_in_parts,
    rows_expire_in_parts_to_the_last_one,
    a_large_room_is_deleted_as_a_whole,
    a_long_account_is_told_in_pages,
);

async fn size(world: &World, part: &str) -> u64 {
    let key = format!("vestibule:room:{{{}}}:{part}", world.room);
    world.server.ask(redis::cmd("ZCARD").arg(key)).await
}

async fn claim_all(world: &World, numbers: std::ops::RangeInclusive<u64>) {
    let (now_s, epoch) = (world.clock.now_ms() / 1000, world.reset_epoch().await);
    let claim = |number| World::claim_of(number, SessionKind::AwsStyle, now_s, epoch);
    let claims: Vec<_> = numbers.map(claim).collect();
    for some in claims.chunks(500) {
        world.store.claim(&world.room, "k", some).await.unwrap();
    }
}

async fn enter_all(world: &World) {
    world.open(limited(MANY)).await;
    for _ in 0..MANY / TOGETHER {
        assert_eq!(world.join(TOGETHER, JoinMode::Enter).await.seated, TOGETHER);
    }
}

async fn expired_tokens_are_told_to_the_last_one(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(MANY, JoinMode::Queue).await;
    world.store.increment(&world.room, i64::try_from(MANY).unwrap()).await.unwrap();
    // The first page ends, and the whole second one is, among those that expire at the same time.
    claim_all(&world, 1..=300).await;
    world.seconds(1);
    claim_all(&world, 301..=MANY - 1).await;
    world.seconds(1);
    claim_all(&world, MANY..=MANY).await;
    world.seconds(3_600 + 1);
    let mut told = world.store.expired_tokens(&world.room).await.unwrap();
    assert_eq!(told.len() as u64, MANY);
    assert_eq!(told.last(), Some(&format!("id-{MANY}")), "earliest first");
    let mut first: Vec<_> = told[..300].to_vec();
    first.sort_by_key(|id| id[3..].parse::<u64>().unwrap());
    assert_eq!(first.last().map(String::as_str), Some("id-300"));
    told.sort();
    told.dedup();
    assert_eq!(told.len() as u64, MANY, "each once");
}

async fn sessions_are_swept_in_parts_and_count_no_more_before(world: World) {
    enter_all(&world).await;
    world.seconds(301);
    assert_eq!(world.snapshot().await.active, 0, "they are over, though nobody has swept");
    for pass in 1..=MANY.div_ceil(300) {
        let left = MANY.saturating_sub(300 * pass);
        assert_eq!(world.tick(1).await.report.swept, left == 0, "{left} are left");
        assert_eq!(size(&world, "sessions").await, left);
    }
}

async fn ends_are_forgotten_in_parts(world: World) {
    enter_all(&world).await;
    let epoch = world.reset_epoch().await;
    let departure = |number| Departure {
        number,
        ended_as: EndedAs::Completed,
        seat: vestibule_domain::SeatEnds::AtOnce,
    };
    let all: Vec<_> = (1..=MANY).map(departure).collect();
    for some in all.chunks(500) {
        world.store.leave(&world.room, epoch, some).await.unwrap();
    }
    world.tick(1).await;
    assert_eq!(size(&world, "ended").await, MANY);
    world.seconds(302);
    for pass in 1..=MANY.div_ceil(400) {
        world.tick(1).await;
        assert_eq!(size(&world, "ended").await, MANY.saturating_sub(400 * pass));
    }
}

async fn rows_expire_in_parts_to_the_last_one(world: World) {
    world.open(RoomSettings::default()).await;
    world.join(250, JoinMode::Queue).await;
    for _ in 0..250 {
        world.store.increment(&world.room, 1).await.unwrap();
    }
    world.seconds(901);
    for expired in [100, 200, 250, 250] {
        world.try_begin(1).await.unwrap();
        assert_eq!(world.snapshot().await.expired, expired);
    }
    world.seconds(3_600);
    for left in [150, 50, 0] {
        world.try_begin(1).await.unwrap();
        assert_eq!(size(&world, "rows").await, left);
    }
}

async fn a_large_room_is_deleted_as_a_whole(world: World) {
    enter_all(&world).await;
    for _ in 0..MANY / TOGETHER {
        world.join(TOGETHER, JoinMode::Queue).await;
    }
    world.tick(1).await;
    let deleted = world.store.delete_room(&world.room, None).await.unwrap();
    assert!(matches!(deleted, vestibule_store::Deletion::Done(_)));
    assert_eq!(
        world.server.keys().await,
        2 + 2 * (MANY / TOGETHER),
        "the tombstone, its time, and what each call was answered"
    );
}

async fn a_long_account_is_told_in_pages(world: World) {
    world.open(limited(5)).await;
    let seat = |number| Seat {
        number,
        record: format!("1|2|0|v|k||{number}"),
        expires_at: 2,
        seen_at: (1, 1),
    };
    let account = Account {
        round: "r".to_owned(),
        testimony: None,
        config: None,
        draws: BTreeMap::new(),
        seats_epoch: 1,
        seats: (1..=5_001).map(seat).collect(),
        endings: (1..=12_000).map(|number| Ending::of_session(number, 2)).collect(),
        places_epoch: 0,
        places: Vec::new(),
        ..Account::default()
    };
    world.store.testify(&world.room, "a", &account).await.unwrap();
    let mut told = world.store.accounts(&world.room).await.unwrap();
    let first = told.remove("a").unwrap();
    assert!(first.seats.is_empty(), "the script that takes it reads nothing long");
    let whole = world.store.whole(&world.room, first.clone()).await.unwrap();
    assert!(whole.is_some_and(|whole| whole == account), "nothing is missing");
    let elsewhere = RoomId::new("elsewhere").unwrap();
    let lost = world.store.whole(&elsewhere, first).await.unwrap();
    assert_eq!(lost, None, "pages that are not there are no pages");
}
