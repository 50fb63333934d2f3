//! Visitors, and those who send them, who would have the page do something else.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Options, Seat},
    eventually,
};

use crate::place::{Place, SOON, WANTED, call, fill, page, seat_and_gateway};

/// Scripts that would be noticed, in what would be markup, an attribute, a script, or a style.
const PAYLOADS: [&str; 6] = [
    "<script>window.owned=1</script>",
    "\"><img src=x onerror=window.owned=1>",
    "' onfocus=window.owned=1 autofocus x='",
    "</script><script>window.owned=1</script>",
    "</style></template></title><svg onload=window.owned=1>",
    "{{window.owned=1}}${window.owned=1}`-alert(1)-`",
];

/// Addresses that are not of the site.
const ELSEWHERE: [&str; 12] = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "https:evil.example",
    "/\t/evil.example",
    "https://shop.example@evil.example/",
    "https://shop.example.evil.example/",
    "https://shop.example%2eevil.example/",
    "javascript:window.owned=1",
    "data:text/html,<script>window.owned=1</script>",
    "  javascript:window.owned=1",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_request_brings_runs() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    place.somebody_comes().await?;
    browser.goto(WANTED).await?;
    for payload in PAYLOADS {
        hostile_headers(&browser, payload).await?;
        for target in [
            format!("http://shop.example/sale/{}", escaped(payload)),
            format!("http://shop.example/sale?{payload}={payload}"),
            format!("http://shop.example/sale?vestibule_lang={}", escaped(payload)),
        ] {
            browser.goto(&target).await?;
            browser.expect_state("waiting").await.with_context(|| target.clone())?;
            unharmed(&browser).await.with_context(|| target)?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_led_elsewhere() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    let route = json!({ "host": "shop.example", "path": "/sale" });
    let free = json!({ "total_active_users": 9, "routes": [route] });
    deployment.create_room("free", &free).await?;
    fill(&deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let browser = Chromium::start(&Options::default()).await?;
    for target in ELSEWHERE.iter().chain(&PAYLOADS) {
        let query = format!("?return={}&lang={}", escaped(target), escaped(target));
        browser.goto(&page(&deployment, "full", &query)).await?;
        browser.expect_state("waiting").await?;
        unharmed(&browser).await.with_context(|| (*target).to_owned())?;
        browser.goto(&page(&deployment, "free", &query)).await?;
        browser.reaches("inside", SOON).await?;
        unharmed(&browser).await.with_context(|| (*target).to_owned())?;
        let leads = browser.eval("document.getElementById('go').href").await?;
        ensure!(leads == "http://shop.example/sale", "{target} leads to {leads}");
    }
    // Where nothing is known of the site, the form leads back to the page.
    browser.goto(&page(&deployment, "full", "?return=%2F%2Fevil.example%2F")).await?;
    call(&deployment, "full").await?;
    browser.reaches("turn", SOON).await?;
    browser.press("enter").await?;
    // The page that was left may hear of it too, just before it goes.
    let (inside, here) =
        ("document.documentElement.dataset.state === 'inside'", page(&deployment, "full", ""));
    browser.until(&format!("{inside} && location.href === '{here}'"), SOON).await?;
    browser.expect_silent_console().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_policy_is_in_force() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    fill(&deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.goto(&page(&deployment, "full", "")).await?;
    browser.expect_silent_console().await?;
    for injected in [
        "document.body.append(Object.assign(document.createElement('script'), \
            { text: 'window.owned = 1' }))",
        "document.body.innerHTML += '<img src=x onerror=window.owned=1>'",
        "document.body.innerHTML += '<iframe src=\"https://evil.example/\"></iframe>'",
        "fetch('https://evil.example/').catch(() => 0)",
        "document.body.append(Object.assign(document.createElement('style'), { textContent: 'p{}' }))",
    ] {
        browser.eval(&format!("{injected}; 0")).await?;
        let told = || async {
            let said = browser.console().await?;
            ensure!(said.iter().any(|line| line.contains("Content Security Policy")), "{said:?}");
            Ok(())
        };
        eventually(SOON, injected, told).await?;
        ensure!(browser.eval("window.owned").await?.is_null(), "{injected} has run");
    }
    Ok(())
}

/// No script has run, and none was there that only the policy has stopped.
async fn unharmed(browser: &Chromium) -> Result<()> {
    ensure!(browser.eval("window.owned").await?.is_null(), "a script has run");
    browser.expect_silent_console().await
}

async fn hostile_headers(browser: &Chromium, payload: &str) -> Result<()> {
    browser.devtools("Network.enable", json!({})).await?;
    let user_agent = json!({ "userAgent": payload, "acceptLanguage": payload });
    browser.devtools("Network.setUserAgentOverride", user_agent).await?;
    let headers = json!({ "headers": {
        "X-Forwarded-Host": payload, "X-Forwarded-Uri": payload, "Vestibule-Shown": payload,
        "Vestibule-Room": payload,
    } });
    browser.devtools("Network.setExtraHTTPHeaders", headers).await?;
    for name in ["vestibule_lang", "basket"] {
        let value: String = payload.chars().filter(|c| *c != ';').collect();
        let cookie = json!({ "name": name, "value": value, "url": "http://shop.example/" });
        browser.devtools("Network.setCookie", cookie).await?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    let hex = hex::encode_upper(text);
    hex.as_bytes().chunks(2).flat_map(|pair| [b"%", pair].concat()).map(char::from).collect()
}
