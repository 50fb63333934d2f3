//! Visitors who come over TLS, as nearly all do: the gateway ends it, and Vestibule must know.

use anyhow::{Context, Result, ensure};
use vestibule_tests::gateway::{Kind, Scheme};

use crate::{
    journey::{self, expect_site, header_of},
    place::{Place, is_left_out},
};

/// The whole journey, and what the first answer says about cookies.
async fn tested(kind: Kind) -> Result<()> {
    if is_left_out() {
        return Ok(());
    }
    let place = Place::speaking(kind, Scheme::Https).await?;
    let tested = async {
        journey::whole(&place).await?;
        strict_cookies(&place).await
    };
    tested.await.with_context(|| format!("{kind:?}; its log ends:\n{}", place.gateway.log_end()))
}

/// The ticket is sent back over TLS only, to this very host only, and no script can read it.
async fn strict_cookies(place: &Place) -> Result<()> {
    let visitor = place.gateway.browser()?;
    let page = visitor.get("/sale").await?;
    let cookie = page.header("set-cookie");
    ensure!(cookie.starts_with("__Host-vestibule_sale="), "{cookie}");
    for attribute in ["Secure", "HttpOnly", "Path=/"] {
        ensure!(cookie.split("; ").any(|found| found == attribute), "not {attribute}: {cookie}");
    }
    let uncovered = visitor.get("/about").await?;
    expect_site(&uncovered)?;
    let told = header_of(&uncovered, "x-forwarded-proto");
    ensure!(told == ["https"], "the site is told {told:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nginx() -> Result<()> {
    tested(Kind::Nginx).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn haproxy() -> Result<()> {
    tested(Kind::Haproxy).await
}
