//! What the ceiling means to a gateway that verifies tokens by itself, and asks nobody whether a session still lasts:
//! there are never more tokens that it would take than seats.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Verifier, eventually};

const SOON: Duration = Duration::from_secs(40);
const CEILING: usize = 2;

async fn room(more: Value) -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let mut settings = json!({ "total_active_users": CEILING, "session_duration_seconds": 20 });
    if let (Some(settings), Value::Object(more)) = (settings.as_object_mut(), more) {
        settings.extend(more);
    }
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

/// How many of these tokens a strict gateway would take this moment.
async fn valid(deployment: &Deployment, gateway: &Verifier, tokens: &[String]) -> Result<usize> {
    let now = deployment.redis().now_seconds().await?;
    let is_taken =
        |token: &&String| gateway.verify(token, "sale").is_ok_and(|claims| now < claims.exp);
    Ok(tokens.iter().filter(is_taken).count())
}

/// Comes and, if it is let in, goes again at once: by itself, or because an operator ends its session. Its token stays
/// behind.
async fn passes_through(deployment: &Deployment, by_operator: bool) -> Result<Option<String>> {
    let mut visitor = deployment.visitor("sale");
    let reply = visitor.join().await?.expect(200)?;
    let Ok(token) = reply.text_of("access_token") else { return Ok(None) };
    if by_operator {
        let id = vestibule_tests::claims_of(&token)?.sub;
        let path = format!("/v1/rooms/sale/sessions/{id}");
        deployment.operator().call(Method::DELETE, &path, None).await?.expect(204)?;
    } else {
        visitor.leave().await?.expect(200)?;
    }
    ensure!(visitor.status().await?.says("closed"), "the session is over at once");
    Ok(Some(token))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leaves_takes_no_seat_along_twice() -> Result<()> {
    for (more, keeps) in [
        (json!({ "access_token_cookie": true }), true),
        (json!({ "seats_end_with": "token" }), true),
        (json!({ "access_token_cookie": true, "seats_end_with": "session" }), false),
        (json!({}), false),
    ] {
        let deployment = room(more.clone()).await?;
        let gateway = deployment.verifier().await?;
        let (mut tokens, mut most) = (Vec::new(), 0);
        for nth in 0..12 {
            tokens.extend(passes_through(&deployment, nth % 2 == 1).await?);
            most = most.max(valid(&deployment, &gateway, &tokens).await?);
        }
        if !keeps {
            ensure!(most > CEILING, "{more}: {most} at a time: the seats were not free at once");
            continue;
        }
        ensure!((1..=CEILING).contains(&most), "{more}: {most} at a time");
        // Once a token has ended, its seat is somebody's again.
        let let_in = tokens.len();
        eventually(SOON, "a seat", || async {
            let status = deployment.operator().status("sale").await?;
            ensure!(
                status.number("admitted")? > let_in as u64 || status.number("active_users")? < 2
            );
            Ok(())
        })
        .await?;
        let left = valid(&deployment, &gateway, &tokens).await?;
        ensure!(left < CEILING, "{more}: a seat was free before its token ended");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_completed_aws_style_session_keeps_its_seat_but_counts_as_no_active_token() -> Result<()>
{
    let deployment = room(json!({ "token_validity_seconds": 3_600 })).await?;
    let aws = deployment.aws("sale");
    let (first, second) = (aws.assign().await?, aws.assign().await?);
    aws.serve(2).await?;
    for id in [&first, &second] {
        aws.generate_token(id).await?.expect(200)?;
    }
    assert_eq!(aws.active_tokens().await?, 2);
    aws.update_session(&first, 1).await?.expect(200)?;
    assert_eq!(aws.active_tokens().await?, 1, "as the original counts");
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("active_users")?, 2, "its token still opens the gateway");
    assert_eq!(aws.update_session(&first, 1).await?.status, 404);
    Ok(())
}
