//! What one session may be used for: so many requests a second at a gateway, and so long at most.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use reqwest::header::COOKIE;
use serde_json::json;
use tokio::time::sleep;
use vestibule_tests::{Deployment, Reply, SiteVisitor, claims_of, eventually};

use crate::{
    authorizer::{create_sale, expect, until},
    crowd::Guest,
};

const HOST: &str = "shop.example";
const TICKET: &str = "__Host-vestibule_sale";
const SOON: Duration = Duration::from_secs(30);
const BUSY: Duration = Duration::from_millis(100);

/// What the site's visitor is answered who asks so often at once.
async fn hammers(visitor: &SiteVisitor, times: usize) -> Result<Vec<Reply>> {
    let asked = (0..times).map(|_| {
        let mut visitor = visitor.clone();
        async move { visitor.get("/sale").await }
    });
    try_join_all(asked).await
}

/// What nginx then asks for.
async fn asks_for_the_page(deployment: &Deployment, visitor: &SiteVisitor) -> Result<Reply> {
    let cookies: Vec<_> =
        visitor.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let site = deployment.admissions();
    let request = site.http().get(site.at("/room/sale")?).header(COOKIE, cookies.join("; "));
    let told = [("method", "GET"), ("proto", "https"), ("host", HOST), ("uri", "/sale")];
    let request = told.iter().fold(request, |request, (name, value)| {
        request.header(format!("x-forwarded-{name}"), *value)
    });
    Reply::of(request.header("x-forwarded-for", "203.0.113.9").header("accept", "text/html")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_makes_so_many_requests_a_second() -> Result<()> {
    let deployment = Deployment::builder().admissions(1).start().await?;
    let settings = json!({ "total_active_users": 5, "requests_per_session_per_second": 2 });
    create_sale(&deployment, settings).await?;
    let mut plain = deployment.site_visitor(HOST);
    expect(&plain.get("/sale").await?, 200, "entered")?;
    let busy = plain.clone().with_header("accept", "text/html");
    let mut other = deployment.site_visitor(HOST);
    expect(&other.get("/sale").await?, 200, "entered")?;

    let replies = hammers(&busy, 60).await?;
    let passed = replies.iter().filter(|reply| reply.status == 200).count();
    ensure!((4..30).contains(&passed), "{passed} of 60 at once have passed");
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        expect(reply, 429, "limited")?;
        ensure!(
            reply.header("retry-after") == "1" && reply.text.contains("<html"),
            "{}",
            reply.text
        );
    }
    let app = plain.clone().with_header("accept", "application/json");
    let refused = hammers(&app, 20).await?.into_iter().find(|reply| reply.status == 429);
    let refused = refused.map(|reply| reply.body["type"].clone()).unwrap_or_default();
    ensure!(refused == "urn:vestibule:problem:too-many-requests", "{refused}");
    let nginx = hammers(&busy.clone().refused_by("status"), 20).await?;
    let told = nginx.iter().find(|reply| reply.status == 401);
    ensure!(told.is_some_and(|reply| reply.header("vestibule-decision") == "limited"));
    let page = asks_for_the_page(&deployment, &busy).await?;
    ensure!(page.status == 429 && !page.header("retry-after").is_empty(), "{}", page.text);

    expect(&other.get("/sale").await?, 200, "inside")?;
    eventually(SOON, "it may go on", || {
        let mut busy = busy.clone();
        async move { expect(&busy.get("/sale").await?, 200, "inside") }
    })
    .await
}

/// The ticket of before the claim is one of the session, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_ticket_makes_no_more_requests() -> Result<()> {
    let deployment = Deployment::builder().admissions(1).start().await?;
    let settings = json!({ "total_active_users": 1, "requests_per_session_per_second": 1 });
    create_sale(&deployment, settings).await?;
    let mut first = deployment.site_visitor(HOST);
    expect(&first.get("/sale").await?, 200, "entered")?;
    let mut second = deployment.site_visitor(HOST);
    expect(&second.get("/sale").await?, 503, "wait")?;
    let mut leaving = deployment.visitor("sale").with_ticket(&first.cookies[TICKET]);
    leaving.leave().await?.expect(200)?;
    let waiting = second.clone();
    until(&mut second, "/sale", 200, "entered").await?;

    let replies = hammers(&waiting, 60).await?;
    let passed = replies.iter().filter(|reply| reply.status == 200).count();
    ensure!(passed < 10, "{passed} of 60 at once have passed");
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        expect(reply, 429, "limited")?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_at_its_age_however_busy_its_visitor_is() -> Result<()> {
    const SESSION: u64 = 4;
    const MOST: u64 = 7;
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({
        "total_active_users": 1, "session_duration_seconds": SESSION, "max_session_seconds": MOST,
    });
    deployment.create_room("sale", &settings).await?;
    let mut busy = deployment.visitor("sale");
    let joined = busy.join().await?.expect(200)?;
    let first = claims_of(&joined.text_of("access_token")?)?;
    assert_eq!(first.exp - first.iat, SESSION);
    let mut behind = Guest::join(deployment.visitor("sale")).await?;

    let mut last = first.clone();
    let over = loop {
        let reply = busy.status().await?.expect(200)?;
        if !reply.says("admitted") {
            break reply;
        }
        last = claims_of(&reply.text_of("access_token")?)?;
        let left = first.iat + MOST - last.iat.min(first.iat + MOST);
        ensure!(last.exp <= first.iat + MOST, "{last:?} began at {}", first.iat);
        ensure!(reply.number("expires_in")? <= left.max(SESSION), "{}", reply.text);
        sleep(BUSY).await;
    };
    ensure!(over.says("expired") && last.exp == first.iat + MOST, "{last:?}: {}", over.text);
    behind.visitor.claims(SOON).await?;
    let again = busy.join().await?.expect(200)?;
    ensure!(again.says("waiting") && again.number("queue_number")? == 3, "{}", again.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aws_style_tokens_are_valid_no_longer_than_a_session_may_be() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "max_session_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    let tokens =
        eventually(SOON, "its turn", || async { aws.generate_token(&id).await?.expect(200) })
            .await?;
    let claims = claims_of(&tokens.text_of("access_token")?)?;
    assert_eq!(claims.exp - claims.iat, 60);
    Ok(())
}
