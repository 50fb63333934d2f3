//! An operator revokes places in line: their visitors are told so at once, wherever they ask, and never enter.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, Visitor, eventually};

use crate::rooms::expect_problem;

const SOON: Duration = Duration::from_secs(30);

fn is_revoked(reply: &Reply) -> Result<()> {
    ensure!(reply.says("expired") && reply.body["reason"] == "revoked", "{}", reply.text);
    Ok(())
}

async fn waits(deployment: &Deployment) -> Result<(Visitor, Reply)> {
    let mut visitor = deployment.visitor("sale");
    let joined = visitor.join().await?.expect(200)?;
    ensure!(joined.says("waiting"), "{}", joined.text);
    Ok((visitor, joined))
}

async fn revoke(deployment: &Deployment, whom: &str) -> Result<Reply> {
    let path = format!("/v1/rooms/sale/sessions/{whom}");
    deployment.operator().call(Method::DELETE, &path, None).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_is_revoked_everywhere_and_never_enters() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let mut inside = deployment.visitor("sale");
    inside.join().await?.expect(200)?;
    let (second, joined) = waits(&deployment).await?;
    let (mut third, _) = waits(&deployment).await?;
    let (mut fourth, last) = waits(&deployment).await?;

    let done = revoke(&deployment, &joined.text_of("request_id")?).await?.expect(204)?;
    ensure!(done.header("vestibule-behind").is_empty(), "everybody knows it");
    for admission in deployment.admissions().each() {
        let mut copy = second.clone().at(admission.clone());
        is_revoked(&copy.status().await?.expect(200)?)?;
        is_revoked(&copy.status().await?.expect(200)?)?;
        is_revoked(&second.clone().at(admission).claim().await?.expect(200)?)?;
    }
    revoke(&deployment, &joined.text_of("request_id")?).await?.expect(204)?;
    revoke(&deployment, "4").await?.expect(204)?;
    is_revoked(&fourth.status().await?.expect(200)?)?;
    expect_problem(&revoke(&deployment, "99").await?, 404, "session-not-found")?;
    expect_problem(&revoke(&deployment, "nobody").await?, 400, "invalid-request-id")?;
    let audit = deployment.operator().call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    let entries = audit.body["entries"].as_array().cloned().unwrap_or_default();
    let after = |entry: &Value| entry["after"] == json!({ "place": "revoked" });
    ensure!(entries.iter().any(after), "{}", audit.text);
    ensure!(!audit.text.contains(&last.text_of("request_id")?), "it names a visitor");

    // Nobody is before the third one, who enters next, and once all is lost the ticket is worth nothing still.
    eventually(SOON, "the third to be the next", || {
        let mut third = third.clone();
        async move {
            let told = third.status().await?.expect(200)?;
            ensure!(told.number("people_ahead")? == 0, "{}", told.text);
            Ok(())
        }
    })
    .await?;
    inside.leave().await?.expect(200)?;
    third.claims(SOON).await?;
    let again = fourth.join().await?.expect(200)?;
    ensure!(again.number("queue_number")? == 5, "a new place, behind all others: {}", again.text);
    deployment.redis().flush().await?;
    eventually(SOON, "everything to be back", || {
        let mut third = third.clone();
        async move { third.leave().await?.expect(200) }
    })
    .await?;
    fourth.claims(SOON).await?;
    is_revoked(&second.clone().claim().await?.expect(200)?)
}
