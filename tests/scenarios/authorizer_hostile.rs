//! What the authorizer makes of visitors who mean ill: forged and borrowed tickets, and attempts to
//! have another request decided about than the one that reaches the site.

use anyhow::{Context, Result, ensure};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use vestibule_tests::{Deployment, Reply};

use crate::authorizer::{create, create_sale, expect, until};

const HOST: &str = "shop.example";
const COOKIE: &str = "__Host-vestibule_sale";
/// By which a browser asks whether it may ask.
const PREFLIGHT: &[(&str, &str)] =
    &[("origin", "https://app.example"), ("access-control-request-method", "PUT")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_that_is_no_ticket_of_the_room_is_worth_nothing() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    create(&deployment, "open", "/open", json!({ "total_active_users": 9 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    let mut other = deployment.site_visitor(HOST);
    expect(&other.get("/open").await?, 200, "entered")?;
    let genuine = ann.cookies[COOKIE].clone();
    let mut flipped = genuine.clone().into_bytes();
    flipped[60] = if flipped[60] == b'A' { b'B' } else { b'A' };
    let worthless = [
        String::from_utf8(flipped)?,
        other.cookies["__Host-vestibule_open"].clone(),
        genuine[..80].to_owned(),
        "x".repeat(4_000),
        "../../etc/passwd".into(),
        "%00%0d%0aSet-Cookie:a=b".into(),
        String::new(),
    ];
    for ticket in worthless {
        let mut forger = deployment.site_visitor(HOST).with_cookie(COOKIE, ticket.as_str());
        let reply = forger.get("/sale").await?;
        expect(&reply, 503, "wait")?;
        ensure!(forger.cookies[COOKIE] != ticket, "a newcomer's ticket takes its place");
    }
    expect(&ann.get("/sale").await?, 200, "inside")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn huge_cookies_do_no_harm() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let many = (0..200).fold(deployment.site_visitor(HOST), |visitor, index| {
        visitor.with_cookie(&format!("c{index}"), "y".repeat(150))
    });
    let mut hidden = many.clone();
    expect(&hidden.get("/sale").await?, 200, "entered")?;
    expect(&hidden.get("/sale").await?, 200, "inside")?;
    let reply =
        deployment.site_visitor(HOST).with_cookie("c", "z".repeat(1_000_000)).get("/").await;
    ensure!(
        reply.is_err() || reply.is_ok_and(|reply| reply.status == 431),
        "a megabyte of cookies"
    );
    expect(&hidden.get("/sale").await?, 200, "inside")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_ticket_of_a_session_that_ended_opens_nothing() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    let mut copy = ann.clone();
    let mut leaving = deployment.visitor("sale").with_ticket(&ann.cookies[COOKIE]);
    leaving.leave().await?.expect(200)?;
    // Bob waits for the seat, so that who holds the copy cannot just enter anew.
    let mut bob = deployment.site_visitor(HOST);
    until(&mut bob, "/sale", 200, "entered").await?;
    until(&mut copy, "/sale", 503, "wait").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_request_that_is_decided_about_cannot_be_swapped() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 0 })).await?;
    // Names that other authorizers read; the gateway overwrites only those that this one reads.
    for name in
        ["x-original-uri", "x-original-url", "x-rewrite-url", "x-forwarded-path", "forwarded"]
    {
        let mut sly = deployment.site_visitor(HOST).with_header(name, "/free");
        expect(&sly.get("/sale").await?, 503, "wait")?;
    }
    for name in ["x-original-host", "x-host", "host"] {
        let mut sly = deployment.site_visitor(HOST).with_header(name, "free.example");
        expect(&sly.get("/sale").await?, 503, "wait")?;
    }
    // A gateway that adds instead of replacing is told so, and lets nobody pass.
    for name in ["x-forwarded-uri", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-method"] {
        let reply = deployment.site_visitor(HOST).with_header(name, "/free").get("/sale").await?;
        ensure!(reply.status == 400, "{name}: {}", reply.status);
        ensure!(reply.body["errors"][0]["field"] == name, "{}", reply.text);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_gets_around_a_room() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let rule =
        json!([{ "name": "static", "when": { "path": { "starts_with": "/sale/static/" } } }]);
    create_sale(&deployment, json!({ "total_active_users": 0, "bypass_rules": rule })).await?;
    let tricks = [
        "//sale",
        "/./sale",
        "/x/../sale",
        "/%73ale",
        "/%2e/sale",
        "/x/%2e%2e/sale",
        "/x%2f..%2fsale",
        "/sale/static/../x",
        "/sale/static/..%2fx",
        "/sale/static/%2e%2e/x",
        "/sale//static/../../sale",
        "/sale/static/..;/../x",
        "\\sale",
        "/\\sale",
        "/sale%00",
        "/sale/",
        "/SALE",
        "/sale.json",
        "/sale.",
        "/sale%20",
        "/%u0073ale",
        "/index.php/sale",
        "/Sale/static/a.css",
        "/sale/static/%u002e%u002e/x",
    ];
    for trick in tricks.iter().filter(|trick| trick.starts_with('/')) {
        let reply = deployment.site_visitor(HOST).get(trick).await?;
        let said = reply.header("vestibule-decision");
        ensure!(
            reply.status >= 400 && matches!(said, "wait" | ""),
            "{trick}: {} {said}",
            reply.status
        );
    }
    for host in ["SHOP.example", "shop.example:443", "shop.example.", "shop.EXAMPLE.:8443"] {
        expect(&deployment.site_visitor(host).get("/sale").await?, 503, "wait")?;
    }
    // What names no host is not taken for a host that nothing covers: some gateways take it for this one.
    for host in [
        "shop.example:x",
        "shop.example:80x",
        "shop.example:+80",
        "shop.example..",
        "[shop.example]",
        "[shop.example]:80",
        "a@shop.example",
        "shop.example, elsewhere.example",
        "shop.example:80:80",
    ] {
        let reply = deployment.site_visitor(host).get("/sale").await?;
        ensure!(reply.status == 400, "{host}: {} {}", reply.status, reply.text);
    }
    expect(&deployment.site_visitor(HOST).get("/sale/static/a.css").await?, 200, "bypassed")
}

/// Envoy asks with the method of the request itself; 200 would let it pass.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_requests_are_decided_about_like_all_others() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 0 })).await?;
    let ask = |method: Method, headers: &'static [(&str, &str)]| {
        let fleet = deployment.admissions();
        let url = fleet.at("/authorize/envoy/sale");
        async move {
            let request = fleet.http().request(method, url?).header("host", HOST);
            let with = |request: RequestBuilder, (name, value): &(&str, &str)| {
                request.header(*name, *value)
            };
            Reply::of(headers.iter().fold(request, with)).await
        }
    };
    for method in [Method::OPTIONS, Method::GET, Method::POST] {
        let reply = ask(method.clone(), &[("origin", "https://evil.example")]).await?;
        expect(&reply, 429, "wait")?;
        // The gateway passes a refusal on: it must not be open to other sites' scripts.
        ensure!(reply.header("access-control-allow-origin").is_empty(), "{method}");
    }
    expect(&ask(Method::OPTIONS, PREFLIGHT).await?, 200, "preflight")
}

/// A rule about addresses is about visitors': that of a gateway that tells none is not one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gateways_own_address_lets_nobody_pass() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let local = json!({ "name": "local", "when": { "client": { "in": ["127.0.0.0/8"] } } });
    let settings = json!({ "total_active_users": 0, "bypass_rules": [local] });
    create_sale(&deployment, settings).await?;
    let ask = async |address: Option<&str>| {
        let fleet = deployment.admissions();
        let told = [("method", "GET"), ("proto", "https"), ("host", HOST), ("uri", "/sale")];
        let request = fleet.http().get(fleet.at("/authorize")?);
        let request = told.iter().fold(request, |request, (name, value)| {
            request.header(format!("x-forwarded-{name}"), *value)
        });
        Reply::of(address.into_iter().fold(request, |all, it| all.header("x-forwarded-for", it)))
            .await
    };
    expect(&ask(Some("127.0.0.5")).await?, 200, "bypassed")?;
    expect(&ask(None).await?, 503, "wait")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_trusted_proxies_may_ask() -> Result<()> {
    let networks = "10.0.0.0/8,2001:db8::/32";
    let trusted = Deployment::builder().environment("VESTIBULE_TRUSTED_PROXIES", networks);
    let deployment = trusted.start().await?;
    deployment.create_room("sale", &json!({ "routes": [{ "host": HOST }] })).await?;
    for refuse in ["page", "status", "redirect"] {
        let reply = deployment.site_visitor(HOST).refused_by(refuse).get("/sale").await?;
        ensure!(reply.status == 403, "{}", reply.text);
        ensure!(reply.body["type"] == "urn:vestibule:problem:untrusted-proxy", "{}", reply.text);
    }
    let revoke = deployment.site_visitor(HOST).site_commands("Vestibule-Command", "revoke").await?;
    ensure!(revoke.status == 403, "{}", revoke.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_browsers_send_is_a_preflight() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 0 })).await?;
    let asked = |more: &[(&'static str, &str)]| {
        let headers: Vec<_> = PREFLIGHT.iter().chain(more).collect();
        headers.into_iter().fold(deployment.site_visitor(HOST), |visitor, (name, value)| {
            visitor.with_header(name, *value)
        })
    };
    let sound: [&[(&'static str, &str)]; 3] =
        [&[], &[("access-control-request-headers", "x-a")], &[("content-length", "0")]];
    for more in sound {
        expect(&asked(more).asks("OPTIONS", "/sale").await?, 200, "preflight")?;
    }
    for more in [
        ("cookie", "PHPSESSID=1"),
        ("authorization", "Basic eDp5"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://other.example"),
        ("access-control-request-method", "GET"),
    ] {
        let reply = asked(&[more]).asks("OPTIONS", "/sale").await?;
        expect(&reply, 503, "wait").with_context(|| format!("{more:?}"))?;
    }
    for (origin, method) in [("x", "PUT"), ("https://app.example/x", "PUT"), ("null", "a b")] {
        let visitor = deployment.site_visitor(HOST).with_header("origin", origin);
        let mut visitor = visitor.with_header("access-control-request-method", method);
        expect(&visitor.asks("OPTIONS", "/sale").await?, 503, "wait")?;
    }
    Ok(())
}
