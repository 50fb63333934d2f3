//! What a promotion costs while people join: of those whose join was answered nobody may lose a place, no number may be
//! given twice, and joins must be answered again soon after the Sentinels have named another primary.
//!
//! Newcomers come at a steady pace to two admissions over a primary that Sentinels watch. The primary is killed, so that
//! whatever its replica has not been sent is gone, and some seconds after the promotion everybody whose join was answered
//! is asked about at the *other* admission. This is done twice:
//!
//! - Redis waits for no replica. On one machine a replica is a millisecond behind, and next to nothing would be lost. So
//!   the replica is cut off a moment before, as by a network that lags (`death.rs`): what both admissions have answered
//!   in that moment only they know, and the services must bring it to the promoted replica.
//! - Each join waits for the replica. Here it is not cut off: answers that replicas are not known to have are given all
//!   the same after a time-out, so a replica that is cut off would measure the first case again, only slower. The
//!   primary is just killed. Afterwards there is no replica, and each call waits for that time-out: it is part of
//!   the price, and where newcomers are many the driver may run out of connections.

mod course;
mod death;

use anyhow::{Context, Result};
use serde_json::json;
use vestibule_tests::{Flavor, Sentinels};

use self::{course::Course, death::Replica};
use super::{
    Bench,
    pairs::{admissions, pairs},
};
use crate::{
    report::{Figures, Target, Unit},
    statistics::count,
};

const ROOM: &str = "bench-promotion";
/// What nobody may see.
const NONE: Target = Target::AtMost(0.0);
/// What the services may add to the Sentinels' own time, in seconds.
const BEYOND: Target = Target::AtMost(1.0);
/// What is quoted of what should not be.
const QUOTED: usize = 3;

/// Measures it without and with waiting for the replica.
pub(crate) async fn promotion(bench: &Bench) -> Result<Figures> {
    let lagging = one(bench, "promotion of a replica that lags", 0, Replica::Lags).await;
    let lagging = lagging.context("without waiting for replicas")?;
    let waited = one(bench, "promotion, joins wait for the replica", 1, Replica::Follows).await;
    Ok(lagging.and(waited.context("with waiting for a replica")?))
}

async fn one(
    bench: &Bench,
    name: &'static str,
    wait_replicas: u32,
    replica: Replica,
) -> Result<Figures> {
    let mut group = Sentinels::start(Flavor::Installed).await?;
    let services = pairs(&bench.options)?
        .over(&group.url())
        // As it is by default: the harness has a longer one.
        .environment("VESTIBULE_REDIS_TIMEOUT_MS", "1000")
        .environment("VESTIBULE_REDIS_WAIT_REPLICAS", &wait_replicas.to_string())
        .start()
        .await?;
    services.create_room(ROOM, &json!({ "total_active_users": 0 })).await?;
    let admissions = admissions(&services)?;
    let pace = bench.options.joins_per_second;
    let course = Course::run(&mut group, admissions, pace, replica).await?;
    let (twice, lost) = (course.numbers_given_twice(), course.lost_places(admissions).await?);
    quote("numbers given twice", &twice);
    quote("places lost", &lost);
    let figures = Figures::of(name)
        .add("joins answered per second before", Unit::PerSecond, [course.rate_before()])
        .add("joins answered in all", Unit::Whole, [whole(course.places().count())])
        .add("joins not answered, or told to come again", Unit::Whole, [whole(course.failed())])
        .add("newcomers left out by the driver", Unit::Whole, [whole(course.left_out)])
        .add("joins answered that the replica had not", Unit::Whole, [whole(course.unsent())])
        .add("queue numbers given twice", Unit::Whole, [whole(twice.len())])
        .with_target(NONE)
        .add("places lost", Unit::Whole, [whole(lost.len())])
        .with_target(NONE);
    course.add_times_to(figures)
}

fn quote<T: std::fmt::Debug>(what: &str, all: &[T]) {
    for one in all.iter().take(QUOTED) {
        eprintln!("{what}: {one:?}");
    }
}

fn whole(number: usize) -> f64 {
    count(number as u64)
}
