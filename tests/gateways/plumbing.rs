//! What has nothing to do with waiting must work as it did: uploads, web sockets, the site's own
//! statuses and cookies.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use vestibule_tests::{
    Reply,
    gateway::{Browser, Kind},
};

use crate::{
    journey::{expect_site, expect_waiting, header_of},
    place::Place,
};

/// More than any buffer holds.
const UPLOAD_BYTES: usize = 5 << 20;

/// All of it, for a visitor inside; then what somebody gets who waits.
pub(crate) async fn all(place: &Place) -> Result<()> {
    let visitor = place.gateway.browser()?;
    expect_site(&visitor.get("/sale").await?)?;
    uploads(&visitor).await.context("uploads")?;
    statuses(&visitor).await.context("the site's own statuses")?;
    facts(&visitor).await.context("what the site is told")?;
    if !matches!(place.kind, Kind::Replayed(_)) {
        tunnels(place, &visitor).await?;
    }
    let other = place.gateway.browser()?;
    let refused = Reply::of(other.request(Method::POST, "/sale/basket").body("shoes=1")).await?;
    expect_waiting(&refused, place.kind).context("a form of somebody who waits")
}

async fn tunnels(place: &Place, visitor: &Browser) -> Result<()> {
    let mut tunnel = visitor.tunnel("/sale/socket").await.context("a WebSocket")?;
    ensure!(tunnel.echo("hello").await? == "hello", "the tunnel changes what goes through");
    ensure!(tunnel.echo("again").await? == "again", "the tunnel closes");
    let other = place.gateway.browser()?;
    ensure!(other.tunnel("/sale/socket").await.is_err(), "a tunnel past the line");
    Ok(())
}

async fn uploads(visitor: &Browser) -> Result<()> {
    for method in [Method::POST, Method::PUT] {
        let upload = vec![b'x'; UPLOAD_BYTES];
        let reply = Reply::of(visitor.request(method.clone(), "/sale/upload").body(upload)).await?;
        expect_site(&reply)?;
        ensure!(
            reply.body["method"] == method.as_str(),
            "{method} became {}",
            reply.body["method"]
        );
        ensure!(reply.number("body_bytes")? == u64::try_from(UPLOAD_BYTES)?, "{}", reply.text);
    }
    Ok(())
}

async fn statuses(visitor: &Browser) -> Result<()> {
    for (path, status) in [("/sale/unauthorized", 401), ("/sale/broken", 500)] {
        let reply = visitor.get(path).await?.expect(status)?;
        ensure!(reply.body["site"] == "shop", "somebody else answered {path}: {}", reply.text);
    }
    Ok(())
}

async fn facts(visitor: &Browser) -> Result<()> {
    let reply = visitor.get("/sale").await?;
    ensure!(header_of(&reply, "x-forwarded-for") == ["127.0.0.1"], "{}", reply.text);
    ensure!(header_of(&reply, "x-forwarded-proto") == ["http"], "{}", reply.text);
    let host = header_of(&reply, "host");
    ensure!(host.len() == 1 && host[0].starts_with("shop.example"), "{}", reply.text);
    Ok(())
}
