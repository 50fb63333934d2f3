//! The primary dies or hangs while people join and claim, and another server takes over.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::json;
use tokio::time::Instant;
use vestibule_tests::{Deployment, Flavor, Sentinels};

use crate::{
    SOON,
    people::{Newcomers, enter},
};

/// The promise: after the Sentinels are done, it takes no longer than this.
const TAKEOVER: Duration = Duration::from_secs(1);
/// Answers that were on their way when the primary was lost arrive within this.
const AT_ONCE: Duration = Duration::from_millis(100);

async fn over(group: &Sentinels) -> Result<Deployment> {
    let deployment = Deployment::builder()
        .over(&group.url())
        .environment("VESTIBULE_REDIS_TIMEOUT_MS", "1000")
        .admissions(2)
        .controllers(2)
        .start()
        .await?;
    let settings = json!({ "total_active_users": 5, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

/// When the first join was answered that was answered after this moment.
fn first_after(answers: &[(Instant, u16)], moment: Instant) -> Result<Instant> {
    let found = answers.iter().find(|(at, status)| *status == 200 && *at >= moment);
    Ok(found.context("no join was answered any more")?.0)
}

async fn joins_go_on(flavor: Flavor, hangs: bool) -> Result<()> {
    let mut group = Sentinels::start(flavor).await?;
    let deployment = over(&group).await?;
    let mut inside = try_join_all((0..5).map(|_| enter(deployment.visitor("sale")))).await?;
    let waiting = (0..10).map(|_| enter(deployment.visitor("sale")));
    let waiting = waiting.map(tokio::spawn).collect::<Vec<_>>();
    let newcomers = Newcomers::come(&deployment, "sale");
    let mut told = group.switches().await?;
    let broken = Instant::now();
    if hangs {
        group.server(0).freeze()?;
    } else {
        group.server_mut(0).kill()?;
    }
    let switched = told.next().await?;
    // Seats come free once Redis answers again.
    for visitor in &mut inside {
        vestibule_tests::eventually(SOON, "a leave that is answered", || {
            let mut visitor = visitor.clone();
            async move { visitor.leave().await?.expect(200).map(drop) }
        })
        .await?;
    }
    let answers = newcomers.end().await?;
    let took = first_after(&answers, switched)? - switched;
    let failed = answers.iter().filter(|(_, status)| *status != 200).count();
    eprintln!(
        "{flavor:?}, hangs: {hangs}: the Sentinels took {:?}, joins {took:?} more; {failed} of {} were \
         told to come again",
        switched - broken,
        answers.len()
    );
    // Who asks meanwhile is told to come again, or waits: no Sentinel is as quick.
    let next = first_after(&answers, broken + AT_ONCE)? - broken;
    ensure!(next > 5 * AT_ONCE, "nobody noticed: a join was answered after {next:?}");
    ensure!(took <= TAKEOVER, "joins were answered {took:?} after the Sentinels were done");
    let mut entered = 0;
    for one in waiting {
        // Those who were numbered on the old primary and not yet on the other one may have to wait for
        // others; that some get in shows that the line moves.
        entered += usize::from(tokio::time::timeout(SOON, one).await.is_ok());
        if entered == 3 {
            break;
        }
    }
    ensure!(entered == 3, "the line stands still");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_go_on_when_the_primary_dies() -> Result<()> {
    joins_go_on(Flavor::Redis7, false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_go_on_when_the_primary_hangs() -> Result<()> {
    joins_go_on(Flavor::Redis7, true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_go_on_when_a_valkey_dies() -> Result<()> {
    if Flavor::Valkey9.is_left_out() {
        return Ok(());
    }
    joins_go_on(Flavor::Valkey9, false).await
}
