//! What one session may be used for, as a visitor behind a gateway meets it: too many requests are answered 429, and the
//! ticket of a session that is bound is worth nothing to another browser.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::{
    Method, RequestBuilder,
    header::{HeaderValue, USER_AGENT},
};
use serde_json::json;
use vestibule_tests::{Reply, eventually};

use crate::{
    journey::{expect_site, expect_waiting},
    place::Place,
};

const WANTED: &str = "/sale/item";
const SOON: Duration = Duration::from_secs(20);
const AT_ONCE: usize = 30;

pub(crate) async fn all(place: &Place) -> Result<()> {
    let settings =
        json!({ "requests_per_session_per_second": 1, "bind_sessions": "network_and_agent" });
    place.deployment.operator().patch_room("sale", &settings).await?.expect(200)?;
    let visitor = place.gateway.browser()?;
    expect_site(&visitor.get(WANTED).await?).context("it enters")?;
    let asked = (0..AT_ONCE).map(|_| visitor.get(WANTED));
    let replies = try_join_all(asked).await?;
    let (passed, refused): (Vec<_>, Vec<_>) =
        replies.iter().partition(|reply| expect_site(reply).is_ok());
    ensure!(!passed.is_empty() && !refused.is_empty(), "{} have passed", passed.len());
    for reply in refused {
        let told = (reply.status, reply.header("retry-after").is_empty());
        ensure!(told == (429, false), "{told:?}: {:?} {}", reply.headers, reply.text);
        ensure!(reply.header("cache-control").contains("no-store"), "{:?}", reply.headers);
    }
    let may_go_on = || async { expect_site(&visitor.get(WANTED).await?) };
    eventually(SOON, "it may go on", may_go_on).await?;

    let off = json!({ "requests_per_session_per_second": null });
    place.deployment.operator().patch_room("sale", &off).await?.expect(200)?;
    let (client, request) = visitor.request(Method::GET, WANTED).build_split();
    let mut request = request?;
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("another browser"));
    let reply = Reply::of(RequestBuilder::from_parts(client, request)).await?;
    expect_waiting(&reply, place.kind).context("with the ticket of the first")
}
