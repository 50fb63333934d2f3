//! Visitors, and those who send them, who would have the page do something else.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Options},
};

use crate::place::{Place, SOON, WANTED, call, fill, is_left_out, is_left_out_with_gateways, page};

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
    "/%09/evil.example",
    "https://shop.example@evil.example/",
    "https://shop.example.evil.example/",
    "https://shop.example%2eevil.example/",
    "javascript:window.owned=1",
    "data:text/html,<script>window.owned=1</script>",
    "  javascript:window.owned=1",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_request_brings_runs() -> Result<()> {
    if is_left_out_with_gateways() {
        return Ok(());
    }
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
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
    if is_left_out() {
        return Ok(());
    }
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
    browser.reaches("inside", SOON).await?;
    let at = browser.address().await?;
    ensure!(at == page(&deployment, "full", ""), "led to {at}");
    browser.expect_silent_console().await
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
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
