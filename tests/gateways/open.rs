//! A gateway that lets everybody pass while Vestibule is down: what Vestibule cannot read does not mean that it is down.

use anyhow::{Context, Result, ensure};
use vestibule_tests::{Service, gateway::Kind};

use crate::{
    journey::expect_site,
    place::{self, Place},
};

/// Paths that Vestibule refuses, or some gateway does.
fn paths() -> Vec<String> {
    vec![
        format!("/sale/{}", "a".repeat(2048)),
        format!("/sale/{}", "a".repeat(7000)),
        format!("/sale/{}", "a".repeat(30_000)),
        format!("/sale/{}", "a".repeat(50_000)),
        format!("/sale/{}", "./".repeat(1022)),
        "/sale/%252e%255c;%u002e//%23..".to_owned(),
        "/sale?x=\"<>".to_owned(),
        "/sale?x=<y>".to_owned(),
        "/sale/`".to_owned(),
        "/sale/<".to_owned(),
        "/sale/{x}^|`".to_owned(),
        "/sale/\u{fc}".to_owned(),
    ]
}

/// As many headers as Vestibule, or a gateway, may find too many, and as many bytes.
fn headers() -> Vec<String> {
    let many = |count: usize, value: &str| {
        let lines = (0..count).map(|number| format!("X-Header-{number}: {value}\r\n"));
        lines.collect::<Vec<_>>().concat()
    };
    let (short, long) = ("y", "y".repeat(6000));
    let counted = [90, 95, 99, 110, 118, 120, 122, 124].map(|count| many(count, short));
    counted.into_iter().chain([5, 6, 7, 8, 9, 10].map(|count| many(count, &long))).collect()
}

async fn tested(kind: Kind) -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let mut place = Place::that_fails_open(kind).await?;
    let tested = refuses_until_it_is_down(&mut place).await;
    tested.with_context(|| format!("{kind:?}; its log ends:\n{}", place.gateway.log_end()))
}

async fn refuses_until_it_is_down(place: &mut Place) -> Result<()> {
    let inside = place.gateway.browser()?;
    expect_site(&inside.get("/sale").await?)?;
    let visitor = place.gateway.browser()?;
    let paths = paths().into_iter().map(|path| (path, String::new()));
    let headers = headers().into_iter().map(|headers| ("/sale".to_owned(), headers));
    for (path, headers) in paths.chain(headers) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n{headers}\r\n"
        );
        // Some gateways close such a connection before they have read all of it.
        let answer = visitor.raw(&request).await.unwrap_or_default();
        let what = format!("{} bytes, {:.60}", request.len(), request);
        // The site cannot read some of them either; where Envoy asks by gRPC, it says whether the site was asked.
        let by_the_site = answer.contains("\"shop\"")
            || place.kind == Kind::EnvoyGrpc && answer.contains("x-envoy-upstream-service-time");
        ensure!(!by_the_site, "{what} got through");
    }
    place.deployment.kill(Service::Admission, 0)?;
    expect_site(&place.gateway.browser()?.get("/sale").await?).context("while it is down")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nginx() -> Result<()> {
    tested(Kind::Nginx).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn haproxy() -> Result<()> {
    tested(Kind::Haproxy).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_http() -> Result<()> {
    tested(Kind::EnvoyHttp).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_grpc() -> Result<()> {
    tested(Kind::EnvoyGrpc).await
}
