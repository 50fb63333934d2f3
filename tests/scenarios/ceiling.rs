//! `active ≤ total_active_users`, always: whoever hammers, leaves, or just disappears.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::Deployment;

use crate::{
    crowd::{self, Entered, Manner, all_of, enter_all, stay_and_leave},
    watch::Watch,
};

const CEILING: u64 = 20;
const CROWD: usize = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hammering_crowd_never_gets_over_the_ceiling() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    let settings = json!({ "total_active_users": CEILING, "session_duration_seconds": 5 });
    deployment.create_room("sale", &settings).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", CROWD).await?;
    let entered = all_of(enter_all(guests, Manner::Hammering, leave_or_not)).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(CEILING)?;
    seen.expect_no_step_back()?;
    // Otherwise the ceiling was never tested.
    ensure!(seen.most_active == CEILING, "only {} were ever inside", seen.most_active);
    let ids: BTreeSet<_> = entered.iter().map(|one| &one.claims.sub).collect();
    assert_eq!(ids.len(), CROWD, "someone entered twice");
    Ok(())
}

/// Five of six leave; the others' sessions have to run out.
async fn leave_or_not(inside: Entered) -> Result<Entered> {
    if inside.number.is_multiple_of(6) {
        return Ok(inside);
    }
    stay_and_leave(inside, Duration::from_millis(400)).await
}
