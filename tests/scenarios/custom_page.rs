//! An operator's own page and logo: checked when put, previewed in every state, shown to those who
//! wait, and never in the way of waiting.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Reply, Service, eventually};

use crate::page::{Browser, is};

const SOON: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);
const OWN: &str = "<!doctype html><title>Own</title><p>{{#waitTimeKnown}}{{waitTimeFormatted}}\
    {{/waitTimeKnown}}{{^waitTimeKnown}}unknown{{/waitTimeKnown}}</p>{{{turnstile}}}\
    <p>{{queueingMethod}} {{refreshIntervalSeconds}}</p><script>var own = 1;</script>";

async fn call(
    deployment: &Deployment,
    method: Method,
    path: &str,
    content_type: &str,
    body: impl Into<Vec<u8>>,
) -> Result<Reply> {
    let url = deployment.controllers().at(path)?;
    let request = deployment.controllers().http().request(method, url);
    let request = request.bearer_auth(deployment.secrets()[1]);
    Reply::of(request.header("content-type", content_type).body(body.into())).await
}

async fn put_page(deployment: &Deployment, html: &str) -> Result<Reply> {
    call(deployment, Method::PUT, "/v1/rooms/sale/page", "text/html", html).await
}

async fn full_room(deployment: &Deployment) -> Result<()> {
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    ensure!(deployment.visitor("sale").join().await?.expect(200)?.says("admitted"));
    Ok(())
}

/// Opens the room's page until it is the operator's own. It is one visitor who does: others would
/// stand in its way for as long as they count as there.
async fn until_own(browser: &mut Browser) -> Result<Reply> {
    let deadline = Instant::now() + SOON;
    loop {
        let page = browser.get("/room/sale").await?.expect(200)?;
        if page.text.contains("<title>Own</title>") {
            return Ok(page);
        }
        ensure!(Instant::now() < deadline, "not the own page: {}", page.text);
        sleep(PAUSE).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_made_for_cloudflare_is_shown_to_those_who_wait() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    full_room(&deployment).await?;
    put_page(&deployment, OWN).await?.expect(204)?;
    let mut ann = Browser::new(&deployment);
    let page = until_own(&mut ann).await?;
    ensure!(page.text.contains("<p>fifo ") && !page.text.contains("{{"), "{}", page.text);
    let refresh: u64 = page.header("refresh").parse()?;
    ensure!(refresh > 0);
    let policy = page.header("content-security-policy");
    ensure!(policy.contains("script-src 'unsafe-inline' https:;"), "{policy}");
    ensure!(
        policy.contains("default-src 'none'") && policy.contains("base-uri 'none'"),
        "{policy}"
    );
    // The script's updates and the operator's settings are as before.
    assert_eq!(ann.news("/room/sale").await?.body["state"], "waiting");
    let operator = deployment.operator();
    operator.patch_room("sale", &json!({ "total_active_users": 2 })).await?.expect(200)?;
    ann.sees("/room/sale", "turn").await?;
    is(&ann.get("/room/sale").await?, "turn")?;
    let back = call(&deployment, Method::GET, "/v1/rooms/sale/page", "", "").await?.expect(200)?;
    assert_eq!(back.text, OWN);
    ensure!(back.header("content-security-policy").contains("sandbox"));
    call(&deployment, Method::DELETE, "/v1/rooms/sale/page", "", "").await?.expect(204)?;
    call(&deployment, Method::GET, "/v1/rooms/sale/page", "", "").await?.expect(404)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_mistakes_is_refused_with_their_lines() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    full_room(&deployment).await?;
    let refused = put_page(&deployment, "ok\n{{waitTime}}\n{{watiTime}}").await?.expect(400)?;
    assert_eq!(refused.body["errors"][0]["field"], "line 3");
    ensure!(refused.text.contains("watiTime"), "{}", refused.text);
    for wrong in ["{{#queueAll}}", "{{> /etc/passwd}}", "", "{{{waitTime}}"] {
        put_page(&deployment, wrong).await?.expect(400)?;
    }
    put_page(&deployment, &"x".repeat(1_048_577)).await?.expect(413)?;
    call(&deployment, Method::PUT, "/v1/rooms/sale/page", "text/html", vec![0xff, 0xfe])
        .await?
        .expect(400)?;
    call(&deployment, Method::GET, "/v1/rooms/sale/page", "", "").await?.expect(404)?;
    put_page(&deployment, &"x".repeat(1_048_576)).await?.expect(204)?;
    call(&deployment, Method::PUT, "/v1/rooms/none/page", "text/html", "x").await?.expect(404)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_can_be_previewed() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    full_room(&deployment).await?;
    let preview = async |query: &str| {
        let path = format!("/v1/rooms/sale/preview{query}");
        call(&deployment, Method::GET, &path, "", "").await
    };
    for (state, shown) in [
        ("waiting", "waiting"),
        ("unknown_wait", "waiting"),
        ("random", "waiting"),
        ("prequeue", "early"),
        ("queue_all", "paused"),
        ("turn", "turn"),
        ("inside", "inside"),
        ("reject", "turned_away"),
        ("sold_out", "sold_out"),
        ("over", "missed"),
    ] {
        let page = preview(&format!("?state={state}&lang=ja")).await?.expect(200)?;
        is(&page, shown)?;
        ensure!(page.text.contains("<html lang=\"ja\""));
        ensure!(page.header("content-security-policy").contains("script-src 'sha256-"));
        assert_eq!(page.header("vestibule-page"), "default");
    }
    put_page(&deployment, OWN).await?.expect(204)?;
    let own = preview("?state=random").await?.expect(200)?;
    assert_eq!(own.header("vestibule-page"), "own");
    ensure!(own.text.contains("5 minutes to 15 minutes"), "{}", own.text);
    assert_eq!(preview("?state=random&page=default").await?.header("vestibule-page"), "default");
    assert_eq!(preview("?state=turn").await?.header("vestibule-page"), "default");
    for wrong in ["?state=nonsense", "?lang=xx", "?page=x", "?nonsense=1"] {
        preview(wrong).await?.expect(400)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_logo_is_a_picture_from_the_pages_own_origin() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    full_room(&deployment).await?;
    let put = async |media_type: &str, bytes: Vec<u8>| {
        call(&deployment, Method::PUT, "/v1/rooms/sale/logo", media_type, bytes).await
    };
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".to_vec();
    for (media_type, bytes, reason) in [
        ("text/html", svg.clone(), "Content-Type must be image/png"),
        ("image/png", svg.clone(), "is not such an image as Content-Type says"),
        ("image/gif", b"GIF89a\xff\xff\x01\0\0\0\0".to_vec(), "65535 x 1 pixels"),
    ] {
        let refused = put(media_type, bytes).await?.expect(400)?;
        ensure!(refused.text.contains(reason), "{}", refused.text);
    }
    put("image/svg+xml", vec![b' '; 32 * 1024 + 1]).await?.expect(413)?;
    put("image/svg+xml; charset=utf-8", svg.clone()).await?.expect(204)?;
    let alt = json!({ "logo_alt": { "en": "Shop & Co" } });
    deployment.operator().patch_room("sale", &alt).await?.expect(200)?;
    let mut ann = Browser::new(&deployment);
    let page = ann.get("/room/sale").await?.expect(200)?;
    ensure!(page.text.contains("alt=\"Shop &#38; Co\""), "{}", page.text);
    ensure!(page.header("content-security-policy").contains("img-src data: 'self';"));
    let address = page.text.split("<img id=\"logo\" src=\"").nth(1).context("no logo")?;
    let address = format!("/room/{}", address.split('"').next().unwrap_or_default());
    let logo = ann.get(&address).await?.expect(200)?;
    assert_eq!((logo.text.as_bytes(), logo.header("content-type")), (&svg[..], "image/svg+xml"));
    assert_eq!(logo.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(logo.header("x-content-type-options"), "nosniff");
    let policy = logo.header("content-security-policy");
    ensure!(policy.contains("default-src 'none'") && policy.contains("sandbox"), "{policy}");
    let (_, digest) = address.rsplit_once('/').context("no digest")?;
    ann.get(&address.replace(digest, "0")).await?.expect(404)?;
    // A script in it is only a picture, also where it is a part of the page.
    let preview = call(&deployment, Method::GET, "/v1/rooms/sale/preview", "", "").await?;
    ensure!(preview.text.contains("src=\"data:image/svg+xml;base64,"), "{}", preview.text);
    ensure!(!preview.text.contains("alert(1)"), "{}", preview.text);
    let back = call(&deployment, Method::GET, "/v1/rooms/sale/logo", "", "").await?.expect(200)?;
    assert_eq!(back.text.as_bytes(), svg);
    assert_eq!(back.header("content-type"), "image/svg+xml");
    call(&deployment, Method::DELETE, "/v1/rooms/sale/logo", "", "").await?.expect(204)?;
    call(&deployment, Method::GET, "/v1/rooms/sale/logo", "", "").await?.expect(404)?;
    ann.get(&address).await?.expect(404)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_broke_in_the_store_does_not_break_waiting() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    full_room(&deployment).await?;
    put_page(&deployment, OWN).await?.expect(204)?;
    // An older or newer release may know other variables: as if one of them had stored this.
    let key = "vestibule:room:{sale}:settings";
    let mut redis = deployment.redis().connection().await?;
    let config: String = redis::cmd("HGET").arg(key).arg("config").query_async(&mut redis).await?;
    let mut config: Value = serde_json::from_str(&config)?;
    config["binding"]["branding"]["html"] = json!("{{noLongerThere}}");
    let set = redis::cmd("HSET").arg(key).arg("config").arg(config.to_string()).to_owned();
    set.exec_async(&mut redis).await?;
    let operator = deployment.operator();
    operator.patch_room("sale", &json!({ "session_duration_seconds": 301 })).await?.expect(200)?;
    eventually(SOON, "the default page", || async {
        let page = Browser::new(&deployment).get("/room/sale").await?.expect(200)?;
        is(&page, "waiting")
    })
    .await?;
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?;
    let line = metrics.text.lines().find(|line| line.contains("custom_page_fallbacks_total "));
    ensure!(line.is_some_and(|line| !line.ends_with(" 0")), "{}", metrics.text);
    ensure!(deployment.logs().contains("the room's own page is broken"));
    assert_eq!(deployment.logs().matches("the room's own page is broken").count(), 1);
    Ok(())
}
