//! While Redis is down: those who wait are told their place from memory, marked stale; whoever
//! needs Redis is asked to come again; those inside stay inside. Then it all goes on.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Deployment, Fleet, Service, SiteVisitor, Visitor, claims_of, eventually};

use crate::{
    authorizer,
    crowd::{self, Guest, Manner},
    page::Browser,
};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_the_line_is_told_from_memory_and_nobody_enters() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let mut guests = crowd::join(&deployment, "sale", 5).await?;
    let inside = guests.remove(0).enter(Manner::Polite).await?;
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    let number = aws.queue_number(&id).await?;
    deployment.redis_mut().kill().await?;

    for only in deployment.admissions().each() {
        for guest in &guests {
            expect_stale(guest, &only).await?;
        }
        let mut newcomer = deployment.visitor("sale").at(only.clone());
        newcomer.join().await?.expect_retry_later()?;
        let mut waiting = guests[0].visitor.clone().at(only);
        waiting.claim().await?.expect_retry_later()?;
    }
    deployment.verifier().await?.verify(&inside.token, "sale")?;
    assert_eq!(aws.queue_number(&id).await?, number);
    aws.event_get("/serving_num").await?.expect(200)?;
    aws.post("/assign_queue_num", &json!({ "event_id": "sale" })).await?.expect_retry_later()?;
    aws.generate_token(&id).await?.expect_retry_later()?;
    for instance in 0..2 {
        // An orchestrator must not kill what is waiting for Redis.
        deployment.admin(Service::Admission, instance, "/livez").await?.expect(200)?;
        deployment.admin(Service::Controller, instance, "/livez").await?.expect(200)?;
    }

    deployment.redis_mut().restart_empty().await?;
    let place = eventually(2 * SOON, "a newcomer's place", || async {
        let mut newcomer = deployment.visitor("sale");
        newcomer.join().await?.expect(200)?.number("queue_number")
    })
    .await?;
    ensure!(place > number, "{place} was handed out before");
    for guest in guests {
        let reply = eventually(SOON, "fresh answers", || {
            let mut guest = guest.clone();
            async move {
                let reply = guest.ask(false).await?;
                reply.filter(|reply| reply.body["stale"] != true).ok_or(anyhow::anyhow!("stale"))
            }
        })
        .await?;
        assert_eq!(reply.number("queue_number")?, guest.number);
    }
    Ok(())
}

/// Who has left or was sent out is not let in again because nobody can be asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_a_session_that_has_ended_is_over() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(2).start().await?;
    authorizer::create_sale(&deployment, json!({ "total_active_users": 3 })).await?;
    let mut guests = crowd::join(&deployment, "sale", 3).await?;
    let (mut left, kept) = (guests.remove(0).visitor, guests.remove(0).visitor);
    let mut revoked = guests.remove(0).visitor;
    left.clone().leave().await?.expect(200)?;
    let id = claims_of(&revoked.status().await?.expect(200)?.text_of("access_token")?)?.sub;
    let path = format!("/v1/rooms/sale/sessions/{id}");
    deployment.operator().call(Method::DELETE, &path, None).await?.expect(204)?;
    // Both have heard of it.
    for only in deployment.admissions().each() {
        for ended in [&left, &revoked] {
            eventually(SOON, "the end of the session", || async {
                let reply = ended.clone().at(only.clone()).status().await?.expect(200)?;
                ensure!(reply.says("closed"), "{}", reply.text);
                Ok(())
            })
            .await?;
        }
    }
    deployment.redis_mut().kill().await?;
    for only in deployment.admissions().each() {
        for ended in [&mut left, &mut revoked] {
            let reply = ended.clone().at(only.clone()).status().await?.expect(200)?;
            ensure!(reply.says("closed"), "{}", reply.text);
        }
        let reply = kept.clone().at(only.clone()).status().await?.expect(200)?;
        ensure!(reply.says("admitted"), "{}", reply.text);
        // At a gateway, too.
        let browser = |of: &Visitor| {
            let browser = SiteVisitor::new(only.clone(), "shop.example");
            browser.with_cookie("__Host-vestibule_sale", of.ticket())
        };
        for ended in [&left, &revoked] {
            authorizer::expect(&browser(ended).get("/sale").await?, 503, "busy")?;
        }
        authorizer::expect(&browser(&kept).get("/sale").await?, 200, "inside")?;
    }
    Ok(())
}

async fn expect_stale(guest: &Guest, admission: &Fleet) -> Result<()> {
    let visitor = guest.visitor.clone().at(admission.clone());
    eventually(SOON, "an answer from memory, marked stale", || async {
        let reply = visitor.clone().status().await?.expect(200)?;
        ensure!(reply.body["stale"] == true, "{}", reply.text);
        assert_eq!(reply.number("queue_number")?, guest.number);
        assert_eq!(reply.number("position")?, guest.number);
        Ok(())
    })
    .await
}

/// The browser of somebody in line enters for a minute, too, and its place is there when Redis is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_fails_open_takes_nobodys_place() -> Result<()> {
    let mut deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "on_redis_failure": "open" });
    deployment.create_room("sale", &settings).await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    let mut browser = Browser::new(&deployment);
    browser.get("/room/sale").await?.expect(200)?;
    let ticket = browser.cookies.get("vestibule_sale").cloned();
    ensure!(ticket.is_some(), "{:?}", browser.cookies);
    deployment.redis_mut().kill().await?;
    let claim = "/v1/rooms/sale/claim";
    let claimed = browser.send(Method::POST, claim, &[("sec-fetch-site", "same-origin")]).await?;
    ensure!(claimed.expect(200)?.says("admitted"));
    assert_eq!(browser.cookies.get("vestibule_sale"), ticket.as_ref(), "it has its place");
    Ok(())
}

/// Whoever has been inside, or was there before a reset, passes as a newcomer does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_fails_open_turns_none_of_its_visitors_away() -> Result<()> {
    let mut deployment = Deployment::builder().start().await?;
    let settings = json!({
        "total_active_users": 300, "session_duration_seconds": 3, "on_redis_failure": "open",
    });
    authorizer::create_sale(&deployment, settings).await?;
    let visitor = || SiteVisitor::new(deployment.admissions().clone(), "shop.example");
    let (mut early, mut inside) = (visitor(), visitor());
    authorizer::until(&mut early, "/sale", 200, "entered").await?;
    deployment.operator().call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    // Once the reset is heard of, its cookie opens nothing.
    authorizer::until(&mut early.clone(), "/sale", 200, "entered").await?;
    authorizer::until(&mut inside, "/sale", 200, "entered").await?;
    deployment.redis_mut().kill().await?;
    let cookies = early.cookies.clone();
    authorizer::until(&mut early, "/sale", 200, "entered").await?;
    assert_eq!(early.cookies, cookies, "they may be of after a reset");
    // It is inside until its session ends.
    authorizer::until(&mut inside, "/sale", 200, "entered").await?;
    ensure!(!inside.cookies.is_empty(), "it may get its session back");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_fails_open_lets_newcomers_in_for_a_minute() -> Result<()> {
    let mut deployment = Deployment::builder().start().await?;
    deployment.create_room("open", &json!({ "on_redis_failure": "open" })).await?;
    deployment.create_room("closed", &json!({})).await?;
    let verifier = deployment.verifier().await?;
    deployment.redis_mut().kill().await?;
    let reply = deployment.visitor("open").join().await?.expect(200)?;
    ensure!(reply.says("admitted"), "{}", reply.text);
    let claims = verifier.verify(&reply.text_of("access_token")?, "open")?;
    ensure!(claims.exp - claims.iat <= 60, "{claims:?}");
    assert_eq!((claims.queue_position, reply.number("queue_number")?), (0, 0));
    ensure!(reply.header("vestibule-ticket").is_empty(), "there is no place to keep");
    deployment.visitor("closed").join().await?.expect_retry_later()
}
