//! One side of a round: a load for some time, and its cost in every process.

use std::time::Duration;

use anyhow::Result;

use super::Bench;
use crate::{
    deployment::Server,
    driver::{self, Caller, Done, Until},
    machine::processor_time,
    statistics::count,
};

/// How long the background is measured.
const IDLE: Duration = Duration::from_secs(2);

/// The result of one load of one service.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Requests answered.
    pub(super) requests: u64,
    /// Seconds it took.
    pub(super) seconds: f64,
    /// Processor seconds of the service.
    pub(super) service: Option<f64>,
    /// Processor seconds of Redis.
    pub(super) redis: Option<f64>,
    /// Processor seconds of the driver.
    pub(super) driver: Option<f64>,
    /// Script calls during it, from all clients.
    pub(super) calls: u64,
}

/// Script calls per second while no visitor calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Background(f64);

// === impl Round ===

impl Round {
    /// Requests per second.
    pub(super) fn rate(&self) -> f64 {
        count(self.requests) / self.seconds
    }

    /// A sum over the round, such as [`Self::service`], per request in microseconds.
    pub(super) fn micros(&self, seconds: Option<f64>) -> Option<f64> {
        seconds.map(|seconds| seconds * 1e6 / count(self.requests))
    }

    /// Processor time of all processes per request, in microseconds.
    pub(super) fn micros_of_all(&self) -> Option<f64> {
        self.micros(Some(self.service? + self.redis? + self.driver?))
    }
}

// === impl Background ===

impl Background {
    /// Script calls per request in each of `rounds`, without those of the background.
    pub(super) fn per_request(self, rounds: &[Round]) -> impl Iterator<Item = f64> {
        rounds.iter().map(move |round| {
            (count(round.calls) - self.0 * round.seconds).max(0.0) / count(round.requests)
        })
    }
}

// === impl Bench ===

impl Bench {
    /// Loads `server` with `callers` for one side of a round.
    pub(super) async fn round(
        &self,
        server: Server,
        callers: Vec<Caller>,
    ) -> Result<(Round, Vec<Caller>)> {
        let redis = &self.deployment.redis;
        let redis_process = self.deployment.redis_process;
        let processes = [Some(server.process), redis_process, Some(std::process::id())];
        let used = || processes.map(|id| processor_time(id?));
        let (before, used_before) = (redis.script_calls().await?, used());
        let until = Until::Elapsed(self.options.round());
        let Done { requests, elapsed, callers } =
            driver::run(server.address, callers, until).await?;
        let (after, used_after) = (redis.script_calls().await?, used());
        let used =
            |nth: usize| Some(used_after[nth]?.saturating_sub(used_before[nth]?).as_secs_f64());
        let round = Round {
            requests,
            seconds: elapsed.as_secs_f64(),
            service: used(0),
            redis: used(1),
            driver: used(2),
            calls: after.saturating_sub(before),
        };
        Ok((round, callers))
    }

    /// Measures the script calls while no visitor calls: ticks, leases, refreshed snapshots.
    pub(super) async fn background(&self) -> Result<Background> {
        let before = self.deployment.redis.script_calls().await?;
        tokio::time::sleep(IDLE).await;
        let calls = self.deployment.redis.script_calls().await?.saturating_sub(before);
        Ok(Background(count(calls) / IDLE.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Round = Round {
        requests: 1_000,
        seconds: 2.0,
        service: Some(0.5),
        redis: None,
        driver: Some(0.25),
        calls: 300,
    };

    #[test]
    fn background_calls_are_subtracted() {
        let calls = |per_second| Background(per_second).per_request(&[ROUND]).sum::<f64>();
        assert!((calls(50.0) - 0.2).abs() < 1e-9);
        assert!(calls(500.0).abs() < 1e-9, "never below nothing");
    }

    #[test]
    fn rates_and_costs_are_per_request() {
        assert!((ROUND.rate() - 500.0).abs() < 1e-9);
        assert_eq!(ROUND.micros(ROUND.service), Some(500.0));
        assert_eq!(ROUND.micros_of_all(), None, "Redis's part is not known");
        let known = Round { redis: Some(0.25), ..ROUND };
        assert_eq!(known.micros_of_all(), Some(1_000.0));
    }
}
