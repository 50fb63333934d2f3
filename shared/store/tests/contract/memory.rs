//! What a waiting visitor costs Redis: under one byte, with a million of them.

use std::collections::BTreeMap;

use vestibule_domain::{Lease, QueueingMethod, check_in, presence::Spot};
use vestibule_store::JoinMode;

use crate::world::{World, limited};

const CROWD: u64 = 1_000_000;

crate::on_real_servers!(
    a_million_waiting_visitors_fit_in_a_million_bytes,
    a_million_aws_style_visitors_too,
);

async fn used(world: &World) -> u64 {
    let keys: Vec<String> = world.server.ask(redis::cmd("KEYS").arg("vestibule:*")).await;
    let mut bytes = 0;
    for key in keys {
        let mut usage = redis::cmd("MEMORY");
        usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        bytes += world.server.ask::<u64>(&usage).await;
    }
    bytes
}

/// Everyone joins, and checks in once with the interval that it is told.
async fn a_million_waiting_visitors_fit_in_a_million_bytes(world: World) {
    world.open(limited(0)).await;
    let epoch = world.reset_epoch().await;
    for _ in 0..CROWD / 10_000 {
        world.join(10_000, JoinMode::Enter).await;
    }
    // The leases of the moment after joining lapse, linger and are swept.
    world.seconds(70);
    world.tick(1).await;
    let now_ms = world.clock.now_ms();
    let mut counts: BTreeMap<Lease, i64> = BTreeMap::new();
    for number in 1..=CROWD {
        let conditions = check_in::LineConditions {
            people_ahead: number,
            waiting: CROWD,
            admissions_per_second: 50.0,
            blocked_seconds: 0.0,
            leaving_per_second: 0.0,
            fastest_per_second: 0.0,
            newcomers_per_second: 0.0,
            poll_budget: 2_000,
        };
        #[expect(clippy::cast_precision_loss, reason = "a spread of chances")]
        let chance = (number % 997) as f64 / 997.0;
        let interval = check_in::interval_ms(QueueingMethod::Fifo, &conditions, chance);
        // They came over a minute, and have been polling since: any moment of the interval.
        let since = number * 7_919 % u64::from(interval);
        let lease = Lease::granted(Spot::Position(number), 0, now_ms - since, interval);
        *counts.entry(lease).or_default() += 1;
    }
    let leases = counts.len();
    world.store.check_in(&world.room, epoch, counts).await.unwrap();
    let report = world.tick(1).await;
    let present = report.input.there.between(0, CROWD);
    assert!((present - 1e6).abs() < 1.0, "{present}");
    let bytes = used(&world).await;
    println!("{bytes} bytes for {CROWD} waiting visitors, {leases} leases");
    assert!(bytes < CROWD, "{bytes}");
}

async fn a_million_aws_style_visitors_too(world: World) {
    world.open(limited(0)).await;
    for _ in 0..CROWD / 10_000 {
        world.join(10_000, JoinMode::Queue).await;
    }
    let report = world.tick(1).await;
    assert_eq!(report.input.unattended, CROWD);
    let bytes = used(&world).await;
    println!("{bytes} bytes for {CROWD} waiting AWS-style visitors");
    assert!(bytes < CROWD, "{bytes}");
}
