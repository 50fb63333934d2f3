//! The site ends a session with the answer to the very request by which the visitor has entered: what the visitor had sent
//! is not yet the ticket of that session.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use vestibule_tests::{
    eventually,
    gateway::{Browser, Documented, Kind},
};

use crate::{
    journey::{expect_no_ticket_for_caches, expect_site, expect_waiting},
    place::Place,
};

const SOON: Duration = Duration::from_secs(20);
const WANTED: &str = "/sale/item";
/// Where the site orders the end.
const BYE: &str = "/sale/bye";

pub(crate) async fn all(place: &Place) -> Result<()> {
    if matches!(place.kind, Kind::Caddy | Kind::Replayed(Documented::Traefik)) {
        // They have no means for this: the site tells Vestibule by itself.
        return Ok(());
    }
    let browser = || place.gateway.browser();
    let given_and_taken = browser()?.get(BYE).await?;
    expect_site(&given_and_taken).context("a newcomer enters")?;
    expect_no_ticket_for_caches(&given_and_taken)?;
    let inside = browser()?;
    enters(&inside, WANTED).await.context("the seat of a newcomer who was sent out at once")?;
    let waiting = browser()?;
    expect_waiting(&waiting.get(WANTED).await?, place.kind)?;
    expect_site(&inside.get(BYE).await?)?;
    enters(&waiting, BYE).await.context("the one who has waited enters")?;
    let last = browser()?;
    enters(&last, WANTED).await.context("the seat of one who had waited")?;
    if matches!(place.kind, Kind::Replayed(_)) {
        return Ok(());
    }
    an_order_that_is_not_taken_costs_nothing(place).await
}

/// Then nobody is sent out, and the visitor needs its new cookie.
async fn an_order_that_is_not_taken_costs_nothing(place: &Place) -> Result<()> {
    let settings = json!({ "origin_commands": [], "total_active_users": 2 });
    place.deployment.operator().patch_room("sale", &settings).await?.expect(200)?;
    let visitor = place.gateway.browser()?;
    enters(&visitor, BYE).await?;
    let ticket = visitor.ticket("sale").context("the cookie was lost")?;
    expect_site(&visitor.get(WANTED).await?).context("the seat was lost")?;
    ensure!(visitor.ticket("sale") == Some(ticket), "another ticket");
    Ok(())
}

async fn enters(visitor: &Browser, target: &str) -> Result<()> {
    eventually(SOON, "the seat", || async { expect_site(&visitor.get(target).await?) }).await
}
