//! What visitors try in order to get past the line: other names for what they want, and headers
//! that only a gateway may set.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use vestibule_tests::{
    Reply,
    gateway::{Browser, Documented, Kind},
};

use crate::{
    journey::{
        cookies_of_ours, expect_no_ticket_for_caches, expect_site, expect_waiting, header_of,
    },
    place::Place,
};

/// Headers by which somebody could claim that it asks for something else, is somebody else, or
/// holds something.
const SMUGGLED: &[(&str, &str)] = &[
    ("X-Forwarded-Uri", "/about"),
    ("X-Forwarded-Uri", "/sale/static/x"),
    ("X-Forwarded-Host", "elsewhere.example"),
    ("X-Forwarded-Method", "OPTIONS"),
    ("X-Forwarded-For", "203.0.113.7"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("Forwarded", "for=203.0.113.7;host=elsewhere.example"),
    ("X-Original-URI", "/about"),
    ("X-Original-URL", "/about"),
    ("X-Original-Host", "elsewhere.example"),
    ("X-Rewrite-URL", "/about"),
    ("X-Real-IP", "203.0.113.7"),
    ("X-Envoy-Original-Path", "/about"),
    ("X-HTTP-Method-Override", "OPTIONS"),
    ("Vestibule-Decision", "bypassed"),
    ("Vestibule-Room", "elsewhere"),
    ("Vestibule-Ticket", "forged"),
    ("Vestibule-Token", "a.b.c"),
    ("Vestibule-Command", "revoke"),
];

/// Some sites (behind IIS, of PHP) go by these instead of the path that was asked for, which is the one that is looked at.
const NAMES_ANOTHER_PATH: [&str; 2] = ["x-original-url", "x-rewrite-url"];

/// Other ways of writing a path that the room covers.
pub(crate) const DISGUISED: &[&str] = &[
    "/about/../sale/item",
    "/about/%2e%2e/sale/item",
    "/./sale/item",
    "//sale/item",
    "/%73ale/item",
    "/sale/static/../item",
    "/sale/static/%2e%2e/item",
    "/sale/static/..%2fitem",
    "/sale;x=1/item",
];

/// The same for a site that takes the first segment for a host. Envoy merges slashes, so that sites get another path.
const BEHIND_A_HOST: &str = "//x/sale/item";

/// All of it, while the only seat is taken.
pub(crate) async fn all(place: &Place) -> Result<()> {
    let insider = place.gateway.browser()?;
    let entered = insider.get("/sale/shared").await?;
    expect_site(&entered)?;
    let cookies = cookies_of_ours(&entered);
    ensure!(cookies.len() == 1 && cookies[0].starts_with(b"vestibule_sale="), "{cookies:?}");
    let again = insider.get("/sale/shared").await?;
    expect_site(&again)?;
    // Traefik has no means for this.
    if place.kind != Kind::Replayed(Documented::Traefik) {
        expect_no_ticket_for_caches(&entered)?;
        expect_no_ticket_for_caches(&again)?;
    }
    let is_renewed = !cookies_of_ours(&again).is_empty();
    ensure!(
        is_renewed || again.header("cache-control") == "public, max-age=600",
        "{:?}",
        again.headers
    );
    smuggling(place).await?;
    disguises(place).await?;
    other_hosts(place).await?;
    expect_site(&insider.get("/sale").await?).context("the visitor inside has lost its seat")?;
    nothing_reaches_the_site(&insider).await
}

async fn smuggling(place: &Place) -> Result<()> {
    for (name, value) in SMUGGLED {
        let visitor = place.gateway.browser()?;
        let reply = Reply::of(visitor.request(Method::GET, "/sale").header(*name, *value)).await?;
        let what = || format!("{name}: {value}");
        expect_waiting(&reply, place.kind).with_context(what)?;
        let request = visitor.request(Method::GET, "/sale");
        let twice = request.header(*name, *value).header(*name, *value);
        let reply = Reply::of(twice).await?;
        ensure!(reply.body["site"] != "shop", "twice {name}: {value} got through");
    }
    Ok(())
}

/// What is the same place for a site is the same for the room, or is refused altogether.
async fn disguises(place: &Place) -> Result<()> {
    let merges = matches!(place.kind, Kind::EnvoyHttp | Kind::EnvoyGrpc);
    let behind_a_host = (!merges).then_some(&BEHIND_A_HOST);
    for target in DISGUISED.iter().chain(behind_a_host) {
        let visitor = place.gateway.browser()?;
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: shop.example\r\nAccept: application/json\r\n\
             Connection: close\r\n\r\n"
        );
        let answer = visitor.raw(&request).await?;
        ensure!(!answer.contains("\"shop\""), "{target} got through: {answer}");
    }
    Ok(())
}

/// A host that no room covers is no way to the site.
async fn other_hosts(place: &Place) -> Result<()> {
    let visitor = place.gateway.browser()?;
    let requests = [
        "GET /sale HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: shop.example.elsewhere.example\r\nConnection: close\r\n\r\n",
        "GET http://shop.example/sale HTTP/1.1\r\nHost: elsewhere.example\r\n\
         Connection: close\r\n\r\n",
        "GET http://elsewhere.example/sale HTTP/1.1\r\nHost: shop.example\r\n\
         Connection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: shop.example\r\nHost: elsewhere.example\r\n\
         Connection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: SHOP.example.\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: elsewhere.example,shop.example\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.0\r\n\r\n",
        // Some gateways take these for the site's host, and pass them on as they are.
        "GET /sale HTTP/1.1\r\nHost: shop.example:x\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: shop.example:0x50\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: SHOP.example:x\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: shop.example..\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: [shop.example]\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: [shop.example]:80\r\nConnection: close\r\n\r\n",
        "GET /sale HTTP/1.1\r\nHost: a@shop.example\r\nConnection: close\r\n\r\n",
        // What looks like a preflight, and says who the visitor is.
        "OPTIONS /sale HTTP/1.1\r\nHost: shop.example\r\nOrigin: x\r\n\
         Access-Control-Request-Method: x\r\nCookie: PHPSESSID=1\r\nContent-Length: 5\r\n\
         Connection: close\r\n\r\nbuy=1",
    ];
    for request in requests {
        let answer = visitor.raw(request).await?;
        ensure!(!answer.contains("\"shop\""), "{request} got through: {answer}");
    }
    Ok(())
}

/// What the site is told about its visitor comes from the gateway alone.
async fn nothing_reaches_the_site(insider: &Browser) -> Result<()> {
    for (name, value) in SMUGGLED {
        let lower = name.to_lowercase();
        let is_ours = lower.starts_with("vestibule-") || lower.starts_with("x-forwarded-");
        if !is_ours && !NAMES_ANOTHER_PATH.contains(&lower.as_str()) {
            continue;
        }
        let request = insider.request(Method::GET, "/sale").header(*name, *value);
        let reply = Reply::of(request).await?;
        expect_site(&reply)?;
        let seen = header_of(&reply, &lower);
        let expected = (lower == "x-forwarded-for").then(|| "127.0.0.1".to_owned());
        ensure!(
            seen.iter().all(|value| Some(value) == expected.as_ref())
                || (lower == "x-forwarded-host" && !seen.iter().any(|v| v == value)),
            "{name}: {value} came through as {seen:?}"
        );
    }
    Ok(())
}
