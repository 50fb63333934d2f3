//! The same without script: the page loads itself anew.

use anyhow::{Result, ensure};

use crate::place::{ON_THE_SITE, Place, SOON, WANTED, seat_and_gateway};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_place_of_the_wanted_page() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    browser.set_scripts(false).await?;
    browser.goto(WANTED).await?;
    browser.expect_state("waiting").await?;
    ensure!(browser.text("position").await? == "2");
    ensure!(!browser.shows("tools").await?, "offers what only works with script");
    let first = browser.eval("performance.timeOrigin").await?;
    browser.until(&format!("performance.timeOrigin > {first}"), SOON).await?;
    browser.expect_state("waiting").await?;
    ensure!(browser.text("position").await? == "2", "has lost its place");
    place.call().await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_own_address() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::own_address(100).await?;
    let browser = place.browser().await?;
    browser.set_scripts(false).await?;
    browser.goto(WANTED).await?;
    browser.expect_state("waiting").await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    ensure!(browser.text("hold").await?.starts_with("1:"), "{}", browser.whole_text().await?);
    browser.press("enter").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    Ok(())
}
