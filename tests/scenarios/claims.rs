//! One request id never holds two sessions or two different tokens, however many ask at once.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use serde_json::json;
use vestibule_tests::{Deployment, Reply};

use crate::crowd::Guest;

const CLAIMS: usize = 200;

fn distinct(replies: &[Reply], field: &str) -> Result<BTreeSet<String>> {
    replies.iter().map(|reply| reply.clone().expect(200)?.text_of(field)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_aws_style_claims_give_one_session_and_identical_tokens() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let (request_id, other) = (aws.assign().await?, aws.assign().await?);
    aws.serve(2).await?;
    let replies = try_join_all((0..CLAIMS).map(|_| aws.generate_token(&request_id))).await?;
    for field in ["access_token", "refresh_token", "id_token"] {
        assert_eq!(distinct(&replies, field)?.len(), 1, "{field}");
    }
    assert_eq!(aws.active_tokens().await?, 1);
    let private = json!({ "event_id": "sale", "request_id": request_id });
    let private = aws.private("/api/generate_token", Some(&private)).await?.expect(200)?;
    assert_eq!(private.text_of("access_token")?, replies[0].text_of("access_token")?);
    let access = replies[0].text_of("access_token")?;
    let claims = deployment.verifier().await?.verify(&access, "sale")?;
    assert_eq!((claims.sub, claims.token_use.as_str()), (request_id, "access"));
    let other = aws.generate_token(&other).await?.expect(200)?;
    ensure!(other.text_of("access_token")? != access, "two visitors share a token");
    assert_eq!(aws.active_tokens().await?, 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_claims_of_a_ticket_give_one_session_and_identical_tokens() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let guest = Guest::join(deployment.visitor("sale")).await?;
    deployment.aws("sale").serve(1).await?;
    let claims = (0..CLAIMS).map(|_| {
        let mut tab = guest.visitor.clone();
        async move { tab.claim().await }
    });
    let replies = try_join_all(claims).await?;
    ensure!(replies.iter().all(|reply| reply.says("admitted")), "{}", replies[0].text);
    assert_eq!(distinct(&replies, "access_token")?.len(), 1);
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("active_users")?, 1, "{}", status.text);
    Ok(())
}
