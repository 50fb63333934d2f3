//! What the services and their Redis have used and done up to a moment.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use vestibule_tests::{Deployment, Service};

use crate::{
    machine::processor_time,
    redis_statistics::RedisStatistics,
    report::{Figures, Unit},
    statistics::count,
};

const BOTH: [usize; 2] = [0, 1];
/// How many ticks a controller has made.
const TICKS: &str = "vestibule_tick_duration_seconds_count ";

/// What was used since the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    at: Instant,
    used: Used,
}

/// What was used in some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    time: Duration,
    scripts: u64,
    ticks: u64,
    /// Processor time, where the system tells it.
    redis: Option<Duration>,
    controllers: Option<Duration>,
    admissions: Option<Duration>,
}

// === impl Usage ===

impl Usage {
    /// Up to now.
    pub(super) async fn now(services: &Deployment) -> Result<Self> {
        let redis = RedisStatistics::new(services.redis().connection().await?);
        let mut ticks = 0;
        for controller in BOTH {
            ticks += ticks_of(services, controller).await?;
        }
        let of_both = |service| {
            let used = |index| processor_time(services.process(service, index).id());
            BOTH.map(used).into_iter().sum::<Option<Duration>>()
        };
        let used = Used {
            time: Duration::ZERO,
            scripts: redis.script_calls().await?,
            ticks,
            redis: services.redis().process_id().and_then(processor_time),
            controllers: of_both(Service::Controller),
            admissions: of_both(Service::Admission),
        };
        Ok(Self { at: Instant::now(), used })
    }

    /// What was used since then.
    pub(super) fn since(&self, before: &Self) -> Used {
        let (used, earlier) = (self.used, before.used);
        let time = |used: Option<Duration>, earlier| Some(used?.saturating_sub(earlier?));
        Used {
            time: self.at - before.at,
            scripts: used.scripts.saturating_sub(earlier.scripts),
            ticks: used.ticks.saturating_sub(earlier.ticks),
            redis: time(used.redis, earlier.redis),
            controllers: time(used.controllers, earlier.controllers),
            admissions: time(used.admissions, earlier.admissions),
        }
    }
}

// === impl Used ===

impl Used {
    pub(super) fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }

    /// `figures` with these, of so many rooms.
    pub(super) fn add_to(&self, figures: Figures, rooms: u32) -> Figures {
        let processors =
            |used: Option<Duration>| used.map(|used| used.as_secs_f64() / self.seconds());
        let per_second = |number| count(number) / self.seconds();
        figures
            .add("scripts per second", Unit::PerSecond, [per_second(self.scripts)])
            .add("processors of Redis", Unit::Number, processors(self.redis))
            .add("processors of both controllers", Unit::Number, processors(self.controllers))
            .add("processors of both admissions", Unit::Number, processors(self.admissions))
            .add(
                "ticks of a room per second, of 4",
                Unit::Number,
                [per_second(self.ticks) / f64::from(rooms)],
            )
    }
}

async fn ticks_of(services: &Deployment, controller: usize) -> Result<u64> {
    let metrics = services.admin(Service::Controller, controller, "/metrics").await?.expect(200)?;
    let ticks = metrics.text.lines().find_map(|line| line.strip_prefix(TICKS));
    Ok(ticks.context("the metrics do not count ticks")?.parse()?)
}
