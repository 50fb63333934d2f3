//! A site redeems what its visitors show, once for each session.

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Fleet, Reply, claims_of};

const PROBLEM: &str = "urn:vestibule:problem:";

async fn redeem(site: &Fleet, shown: &Value, key: Option<&str>) -> Result<Reply> {
    let request = site.http().post(site.at("/v1/rooms/sale/redeem")?).json(shown);
    Reply::of(match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    })
    .await
}

fn is_problem(reply: &Reply, status: u16, kind: &str) -> Result<()> {
    let said = reply.body["type"] == format!("{PROBLEM}{kind}");
    ensure!(reply.status == status && said, "{}: {}", reply.status, reply.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_at_once_one_redeems() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    let site = deployment.admissions();
    let mut visitor = deployment.visitor("sale");
    let token = visitor.join().await?.expect(200)?.text_of("access_token")?;
    let claims = claims_of(&token)?;
    let (of_token, of_ticket) =
        (json!({ "access_token": token }), json!({ "ticket": visitor.ticket() }));

    let calls = (0..50).map(|nth| {
        let shown = if nth % 2 == 0 { &of_token } else { &of_ticket };
        redeem(site, shown, None)
    });
    let replies = try_join_all(calls).await?;
    let redeemed: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    ensure!(redeemed.len() == 1, "{} have redeemed it", redeemed.len());
    let expected = json!({
        "request_id": claims.sub, "queue_number": 1, "issued_at": claims.iat, "expires_at": claims.exp,
        "bound": false, "redeemed": true,
    });
    assert_eq!(redeemed[0].body, expected);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        is_problem(reply, 409, "already-redeemed")?;
        ensure!(reply.text.contains("it was redeemed at "), "{}", reply.text);
    }
    let renewed = visitor.status().await?.expect(200)?.text_of("access_token")?;
    let again = redeem(site, &json!({ "access_token": renewed }), Some("a-name")).await?;
    is_problem(&again, 409, "already-redeemed")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_sent_again_under_its_name_has_its_answer() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 2 })).await?;
    let site = deployment.admissions();
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    let tokens = aws.generate_token(&id).await?.expect(200)?;
    let shown = json!({ "access_token": tokens.text_of("access_token")? });

    let first = redeem(site, &shown, Some("order-1")).await?.expect(200)?;
    assert_eq!(first.body["request_id"], id);
    for _ in 0..4 {
        assert_eq!(redeem(site, &shown, Some("order-1")).await?.expect(200)?.body, first.body);
        is_problem(&redeem(site, &shown, Some("order-2")).await?, 409, "already-redeemed")?;
        is_problem(&redeem(site, &shown, None).await?, 409, "already-redeemed")?;
    }
    let refresh = json!({ "access_token": tokens.text_of("refresh_token")? });
    is_problem(&redeem(site, &refresh, None).await?, 400, "invalid-token")?;
    is_problem(&redeem(site, &shown, Some("a name")).await?, 400, "invalid-request")?;
    let same = aws.generate_token(&id).await?.expect(200)?;
    assert_eq!(same.body["access_token"], tokens.body["access_token"], "the session goes on");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_or_of_elsewhere_is_not_redeemed() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    deployment.create_room("other", &json!({ "total_active_users": 1 })).await?;
    let site = deployment.admissions();
    let (mut left, mut elsewhere) = (deployment.visitor("sale"), deployment.visitor("other"));
    let token = left.join().await?.expect(200)?.text_of("access_token")?;
    let mut waiting = deployment.visitor("sale");
    waiting.join().await?.expect(200)?;
    left.leave().await?.expect(200)?;
    let reply = redeem(site, &json!({ "access_token": token }), None).await?;
    is_problem(&reply, 404, "session-not-found")?;
    let reply = redeem(site, &json!({ "ticket": waiting.ticket() }), None).await?;
    is_problem(&reply, 404, "session-not-found")?;

    let foreign = elsewhere.join().await?.expect(200)?.text_of("access_token")?;
    let forged = format!("{}x", &foreign[..foreign.len() - 1]);
    for token in [&foreign, &forged, "nonsense"] {
        let reply = redeem(site, &json!({ "access_token": token }), None).await?;
        is_problem(&reply, 400, "invalid-token")?;
        ensure!(!reply.text.contains(token), "the answer has the token");
    }
    let reply = redeem(site, &json!({ "ticket": elsewhere.ticket() }), None).await?;
    is_problem(&reply, 400, "invalid-ticket")?;
    for nothing in [json!({}), json!({ "access_token": "a", "ticket": "b" })] {
        is_problem(&redeem(site, &nothing, None).await?, 400, "invalid-request")?;
    }
    Ok(())
}
