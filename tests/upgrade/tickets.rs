//! Tickets and tokens that either release gave are taken by both.

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::{Fleet, Verifier, Visitor, claims_of};

use crate::{
    SOON,
    stage::{Release, Stage},
};

/// Joins at `first`, enters at `second`, and leaves at `first` again, with the ticket of the one before each time.
async fn visit(newcomer: Visitor, first: &Fleet, second: &Fleet) -> Result<()> {
    let mut visitor = newcomer.at(first.clone());
    let number = visitor.join().await?.expect(200)?.number("queue_number")?;
    let mut visitor = visitor.at(second.clone());
    ensure!(visitor.status().await?.expect(200)?.number("queue_number")? == number);
    let token = visitor.claims(SOON).await?.text_of("access_token")?;
    for at in [first, second] {
        let claims = Verifier::fetch(at).await?.verify(&token, "sale")?;
        ensure!(claims.queue_position == number, "{claims:?}, and not {number}");
    }
    let mut visitor = visitor.at(first.clone());
    ensure!(visitor.status().await?.expect(200)?.says("admitted"));
    let again = visitor.claim().await?.expect(200)?.text_of("access_token")?;
    let (one, other) = (claims_of(&token)?, claims_of(&again)?);
    ensure!(one == other && again == token, "another token: {one:?}, {other:?}");
    ensure!(visitor.leave().await?.expect(200)?.says("closed"));
    let mut late = visitor.at(second.clone());
    ensure!(late.status().await?.expect(200)?.says("closed"), "it left, and nobody knows");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tickets_and_tokens_of_either_release_are_taken_by_both() -> Result<()> {
    for leads in [Release::Previous, Release::This] {
        let Some(stage) = Stage::half_way(leads).await? else { return Ok(()) };
        stage.deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
        let [previous, this] = &stage.admissions()[..] else { anyhow::bail!("not two") };
        for (first, second) in [(previous, this), (this, previous)] {
            visit(stage.deployment.visitor("sale"), first, second).await?;
        }
        stage.close().await?;
    }
    Ok(())
}
