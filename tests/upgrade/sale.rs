//! A sale that goes on while every instance is replaced by one of this release, one at a time, and then by one of the
//! previous release again.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{Operator, Service};

use crate::{
    crowd::Crowd,
    stage::{Release, Stage},
};

use Release::{Previous, This};
use Service::{Admission, Controller};

const SEATS: u64 = 4;
const SLOW_SEATS: u64 = 60;
const PEOPLE: usize = 20;
const SLOW_PEOPLE: usize = 5;
/// How many come and enter between two steps.
const BETWEEN: u64 = 15;

/// Where a rate is used up, the next one may enter after a minute, and come again some seconds later.
const A_WINDOW: Duration = Duration::from_secs(90);

/// Each step replaces an instance, also by one like it, so that the other controller leads. Then the controller of this
/// index leads: each release has led with the other following, and with admissions of both.
const STEPS: [(Service, usize, Release, usize); 10] = [
    (Controller, 1, This, 0),
    (Controller, 0, Previous, 1),
    (Admission, 0, This, 1),
    (Controller, 1, This, 0),
    (Admission, 1, This, 0),
    (Controller, 0, This, 1),
    // All are of this release; and back.
    (Admission, 0, Previous, 1),
    (Controller, 1, Previous, 0),
    (Controller, 0, Previous, 1),
    (Admission, 1, Previous, 1),
];

fn settings() -> Value {
    json!({ "total_active_users": SEATS, "session_duration_seconds": 120, "position_expiry_seconds": 60 })
}

/// Of a second room, which lets in no more than so many a minute.
fn slow_settings() -> Value {
    json!({ "total_active_users": SLOW_SEATS, "new_users_per_minute": SLOW_SEATS })
}

/// What may only rise.
async fn counters(operator: &Operator) -> Result<[u64; 2]> {
    let status = operator.status("sale").await?;
    Ok([status.number("queue_counter")?, status.number("admitted")?])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sale_goes_on_while_all_are_replaced_and_put_back() -> Result<()> {
    let Some(mut stage) = Stage::of_the_previous().await? else { return Ok(()) };
    stage.deployment.create_room("sale", &settings()).await?;
    let operator = stage.deployment.operator();
    stage.deployment.create_room("slow", &slow_settings()).await?;
    let mut crowd = Crowd::come(&stage.deployment, "sale", PEOPLE, SEATS);
    let mut slow = Crowd::come(&stage.deployment, "slow", SLOW_PEOPLE, SLOW_SEATS);
    crowd.goes_on(BETWEEN).await?;
    let mut before = counters(&operator).await?;
    for (step, (service, index, release, leader)) in STEPS.into_iter().enumerate() {
        stage.put(service, index, release).await?;
        let leads = stage.deployment.leading().await?;
        ensure!(leads == leader, "after step {step} controller {leads} leads, not {leader}");
        crowd
            .goes_on(BETWEEN)
            .await
            .map_err(|error| error.context(format!("after step {step}")))?;
        let now = counters(&operator).await?;
        ensure!(before[0] < now[0] && before[1] < now[1], "step {step}: {before:?}, then {now:?}");
        before = now;
        let room =
            operator.call(reqwest::Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
        for (name, value) in settings().as_object().into_iter().flatten() {
            ensure!(room.body[name] == *value, "after step {step}: {name} in {}", room.text);
        }
    }
    // There, too, nobody has seen anything wrong.
    slow.goes_on_within(A_WINDOW, 1).await?;
    drop(slow);
    crowd.end().await?;
    stage.close().await
}
