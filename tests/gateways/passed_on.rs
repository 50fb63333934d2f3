//! What of a visitor's request reaches the site: no header that only a gateway may set, under its name or one that sites
//! read as the same, and no tunnel but that of a WebSocket, through which requests would go that nobody has looked at.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use vestibule_tests::{
    Reply,
    gateway::{Browser, Kind},
};

use crate::{journey::expect_site, place::Place};

/// What nobody is asked about, or what opens without a wait.
const UNCOVERED: &str = "/about";
const FORGED: &str = "forged";

const DROPPED: &[&str] = &[
    "Forwarded",
    "HTTP2-Settings",
    "Vestibule-Command",
    "Vestibule-Decision",
    "Vestibule-Room",
    "Vestibule-Rule",
    "Vestibule-Ticket",
    "Vestibule-Token",
    "X-Forwarded-By",
    "X-Forwarded-Client-Cert",
    "X-Forwarded-Host",
    "X-Forwarded-Method",
    "X-Forwarded-Path",
    "X-Forwarded-Port",
    "X-Forwarded-Prefix",
    "X-Forwarded-Protocol",
    "X-Forwarded-Scheme",
    "X-Forwarded-Server",
    "X-Forwarded-Ssl",
    "X-Forwarded-Uri",
    "X-Forwarded-User",
    "X-Original-URL",
    "X-Rewrite-URL",
    // CGI and WSGI read these as those with dashes.
    "Vestibule_Token",
    "X_Forwarded_For",
    "X_Forwarded_Host",
    "X-Original_URL",
    "X_Original_URL",
    "X_Rewrite_Url",
];

/// Characters of a header's name that some servers read as a dash.
const READ_AS_DASHES: &str = "!#$%&'*+.^_`|~";

/// Each is a way of asking for a protocol that is no WebSocket's, or for several.
const OTHER_TUNNELS: &[&str] = &[
    "Upgrade: h2c",
    "Upgrade: H2C",
    "Upgrade: h2c, websocket",
    "Upgrade: websocket, h2c",
    "Upgrade: h2c\r\nUpgrade: websocket",
    "Upgrade: websocket\r\nUpgrade: h2c",
    "Upgrade: websocket/13",
    "Upgrade: tcp",
];

/// Headers.
pub(crate) async fn headers(place: &Place) -> Result<()> {
    nothing_forged(&place.gateway.browser()?).await
}

/// Tunnels, which are not replayed.
pub(crate) async fn tunnels(place: &Place) -> Result<()> {
    if matches!(place.kind, Kind::Replayed(_)) {
        return Ok(());
    }
    no_other_tunnel(&place.gateway.browser()?).await
}

/// Both, at a gateway that asks nobody.
pub(crate) async fn by(visitor: &Browser) -> Result<()> {
    nothing_forged(visitor).await?;
    no_other_tunnel(visitor).await
}

async fn nothing_forged(visitor: &Browser) -> Result<()> {
    let spelled = READ_AS_DASHES.chars().map(|dash| format!("X{dash}Original{dash}URL"));
    let names = DROPPED.iter().map(|name| (*name).to_owned()).chain(spelled);
    let request = visitor.request(Method::GET, UNCOVERED);
    let reply =
        Reply::of(names.fold(request, |request, name| request.header(name, FORGED))).await?;
    expect_site(&reply)?;
    ensure!(!reply.text.contains(FORGED), "came through: {}", reply.text);
    Ok(())
}

async fn no_other_tunnel(visitor: &Browser) -> Result<()> {
    for lines in OTHER_TUNNELS {
        let (_, head) =
            visitor.upgrade(UNCOVERED, lines).await.with_context(|| format!("{lines:?}"))?;
        // Of several, one may be left.
        let one = head.to_lowercase().contains("\r\nupgrade: websocket\r\n");
        let may_be_one = lines.contains("\r\n");
        ensure!(may_be_one && one || !head.starts_with("HTTP/1.1 101"), "{lines:?}: {head}");
    }
    let (mut tunnel, head) = visitor.upgrade(UNCOVERED, "Upgrade: WebSocket").await?;
    ensure!(head.starts_with("HTTP/1.1 101"), "a WebSocket: {head}");
    ensure!(tunnel.echo("hello").await? == "hello", "the tunnel changes what goes through");
    Ok(())
}
