//! Running programs, and making the first that fails as short as it can be.

use std::fmt::Write as _;

use redis::aio::MultiplexedConnection;
use vestibule_redis_model::{Dialect, Engine};
use vestibule_tests::{Flavor, Redis};

use super::{
    calls,
    pair::{Mismatch, Pair},
};
use crate::crowd::Chances;

const PROGRAMS: u64 = 200;
const STEPS: u64 = 25;

/// The two servers.
struct Servers {
    redis: Redis,
    connection: MultiplexedConnection,
    engine: Engine,
    dialect: Dialect,
}

/// Runs random programs on the model and on a server of this flavor.
pub(super) async fn compare(flavor: Flavor, dialect: Dialect) {
    let redis = Redis::start(flavor).await.unwrap();
    let connection = redis.connection().await.unwrap();
    let servers = Servers { redis, connection, engine: Engine::new(), dialect };
    for program in 0..programs() {
        let mut chances = Chances::new(program);
        let steps: Vec<u64> = (0..STEPS).map(|_| chances.bits()).collect();
        if let Err(found) = Box::pin(servers.run(&steps)).await {
            let (steps, found) = Box::pin(servers.shorten(steps, found)).await;
            panic!("program {program}, shortened to {} calls:\n{found}", steps.len());
        }
    }
}

fn programs() -> u64 {
    let asked = std::env::var_os("VESTIBULE_TEST_PROGRAMS");
    asked.map_or(PROGRAMS, |asked| asked.to_str().unwrap().parse().unwrap())
}

// === impl Servers ===

impl Servers {
    /// Runs a program from empty to its end; an error is everything that was called and what differs.
    async fn run(&self, steps: &[u64]) -> Result<(), String> {
        let connection = self.connection.clone();
        let mut pair = Pair::on(&self.redis, connection, self.engine.clone(), self.dialect).await;
        let mut compared = Ok(());
        for step in steps {
            compared = calls::call(&mut pair, &mut Chances::new(*step)).await;
            if compared.is_err() {
                break;
            }
        }
        if compared.is_ok() {
            compared = pair.compare_the_end().await;
        }
        let Err(Mismatch(what)) = compared else { return Ok(()) };
        let mut found = String::new();
        for call in &pair.log {
            let _ = writeln!(found, "  {call}");
        }
        found.push_str(&what);
        Err(found)
    }

    /// Leaves out what can be left out, first much at once, then little.
    async fn shorten(&self, mut steps: Vec<u64>, mut found: String) -> (Vec<u64>, String) {
        let mut part = steps.len() / 2;
        while part > 0 {
            let mut at = 0;
            while at < steps.len() {
                let mut fewer = steps.clone();
                fewer.drain(at..(at + part).min(steps.len()));
                match Box::pin(self.run(&fewer)).await {
                    Err(still) => (steps, found) = (fewer, still),
                    Ok(()) => at += part,
                }
            }
            part /= 2;
        }
        (steps, found)
    }
}
