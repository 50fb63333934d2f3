//! What a waiting visitor costs Redis: under one byte, with a million of them.

use std::collections::BTreeMap;

use vestibule_domain::{
    QueueingMethod, check_in,
    presence::{Band, Spot, chunk::CHUNK_PLACES},
};
use vestibule_store::{JoinMode, MOST_CHECK_INS};

use crate::world::{World, limited, people};

const CROWD: u64 = 1_000_000;
/// The longest time for which a check-in counts, in so many moments: whoever would check in between
/// two of them does so at the second.
const LOOK_BACK_MS: u64 = 1_536_000;
const MOMENTS: u64 = 16;

crate::on_real_servers!(
    a_million_waiting_visitors_fit_in_a_million_bytes,
    a_million_aws_style_visitors_too,
    bits_that_come_one_by_one_take_no_more_than_all_at_once,
    without_memory_what_has_expired_is_forgotten_all_the_same,
);

/// The memory of all keys that have not expired by the test's clock.
async fn used(world: &World) -> u64 {
    let keys: Vec<String> = world.server.ask(redis::cmd("KEYS").arg("vestibule:*")).await;
    let mut bytes = 0;
    for key in keys {
        let expires_at: i64 = world.server.ask(redis::cmd("PEXPIRETIME").arg(&key)).await;
        if u64::try_from(expires_at).is_ok_and(|at| at <= world.clock.now_ms()) {
            continue;
        }
        let mut usage = redis::cmd("MEMORY");
        usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        bytes += world.server.ask::<u64>(&usage).await;
    }
    bytes
}

/// How often a visitor checks in.
fn interval_ms(number: u64) -> u32 {
    let conditions = check_in::LineConditions {
        people_ahead: number,
        waiting: CROWD,
        polling: CROWD,
        admissions_per_second: 50.0,
        poll_budget: 2_000,
        ..check_in::LineConditions::default()
    };
    #[expect(clippy::cast_precision_loss, reason = "a spread of chances")]
    let chance = (number % 997) as f64 / 997.0;
    check_in::interval_ms(QueueingMethod::Fifo, &conditions, chance)
}

/// At which moments of the time that counts each visitor checks in.
fn check_ins() -> BTreeMap<u64, Vec<(Band, Spot)>> {
    let mut moments: BTreeMap<u64, Vec<(Band, Spot)>> = BTreeMap::new();
    let step_ms = LOOK_BACK_MS / MOMENTS;
    for number in 1..=CROWD {
        let interval_ms = interval_ms(number);
        let check_in = (Band::for_interval(interval_ms), Spot::Position(number));
        // They came over a minute, and have been polling since: any moment of the interval. Whoever
        // checks in more often says the same again.
        let (often_ms, since) = (u64::from(interval_ms), number * 7_919 % u64::from(interval_ms));
        let every = usize::try_from(often_ms.max(step_ms)).unwrap();
        for at in (since..LOOK_BACK_MS).step_by(every) {
            moments.entry(MOMENTS - 1 - at / step_ms).or_default().push(check_in);
        }
    }
    for check_ins in moments.values_mut() {
        check_ins.sort_unstable();
    }
    moments
}

/// Everyone joins, and checks in again and again with the interval that it is told.
async fn a_million_waiting_visitors_fit_in_a_million_bytes(world: World) {
    world.open(limited(0)).await;
    let epoch = world.reset_epoch().await;
    for _ in 0..CROWD / 10_000 {
        world.join(10_000, JoinMode::Enter).await;
    }
    let begun = world.clock.now_ms();
    for (moment, check_ins) in check_ins() {
        world.at(begun + (moment + 1) * (LOOK_BACK_MS / MOMENTS));
        for some in check_ins.chunks(MOST_CHECK_INS) {
            let some = some.iter().map(|(band, spot)| (*spot, *band));
            world.store.check_in(&world.room, epoch, some).await.unwrap().unwrap();
        }
    }
    let tick = world.tick(1).await;
    assert_eq!(people(&tick.input.there, 0, CROWD), CROWD);
    let bytes = used(&world).await;
    println!("{bytes} bytes for {CROWD} waiting visitors");
    assert!(bytes < CROWD, "{bytes}");
}

async fn a_million_aws_style_visitors_too(world: World) {
    world.open(limited(0)).await;
    for _ in 0..CROWD / 10_000 {
        world.join(10_000, JoinMode::Queue).await;
    }
    let tick = world.tick(1).await;
    assert_eq!(tick.input.unattended, CROWD);
    let bytes = used(&world).await;
    println!("{bytes} bytes for {CROWD} waiting AWS-style visitors");
    assert!(bytes < CROWD, "{bytes}");
}

async fn bits_that_come_one_by_one_take_no_more_than_all_at_once(world: World) {
    world.open(limited(0)).await;
    world.join(3 * CHUNK_PLACES, JoinMode::Queue).await;
    let (epoch, band) = (world.reset_epoch().await, Band::ALL[0]);
    for place in (1..CHUNK_PLACES).step_by(1_000) {
        let check_in =
            [(Spot::Position(place), band), (Spot::Position(CHUNK_PLACES + place), band)];
        world.store.check_in(&world.room, epoch, check_in).await.unwrap();
    }
    let keys: Vec<String> = world.server.ask(redis::cmd("KEYS").arg("*:there:*")).await;
    assert_eq!(keys.len(), 2);
    for key in keys {
        let usage = redis::cmd("MEMORY").arg("USAGE").arg(key).clone();
        let bytes: u64 = world.server.ask(&usage).await;
        println!("{bytes} bytes for a chunk");
        assert!(bytes < 17_000, "{bytes}");
    }
}

async fn without_memory_what_has_expired_is_forgotten_all_the_same(world: World) {
    world.open(limited(9)).await;
    world.join(9, JoinMode::Enter).await;
    world.seconds(400);
    let limit = async |bytes: u64| {
        let mut set = redis::cmd("CONFIG");
        world.server.ask::<()>(set.arg("SET").arg("maxmemory").arg(bytes)).await;
    };
    limit(1).await;
    let swept = world.try_begin(1).await;
    limit(0).await;
    assert!(swept.is_ok(), "{swept:?}");
    let sessions = redis::cmd("ZCARD").arg("vestibule:room:{sale}:sessions").to_owned();
    assert_eq!(world.server.ask::<u64>(&sessions).await, 0);
}
