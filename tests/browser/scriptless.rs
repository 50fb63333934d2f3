//! The same without script: the page loads itself anew.

use anyhow::{Context, Result, ensure};
use vestibule_tests::eventually;

use crate::place::{HELD, ON_THE_SITE, Place, SOON, WANTED, held_for, seat_and_gateway};

/// The second place in line, on a page that is there as a whole: all of it is seen at one moment,
/// as the page may be loaded anew at the next.
const WAITS: &str = "document.documentElement.dataset.state === 'waiting' &&
    document.getElementById('position').innerText === '2'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_place_of_the_wanted_page() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    browser.set_scripts(false).await?;
    browser.goto(WANTED).await?;
    let no_tools = "!document.getElementById('tools').checkVisibility()";
    browser.until(&format!("{WAITS} && {no_tools}"), SOON).await?;
    let first = browser.eval("performance.timeOrigin").await?;
    let anew = format!("performance.timeOrigin > {first} && {WAITS}");
    browser.until(&anew, 2 * SOON).await.context("keeps its place")?;
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
    browser.until(WAITS, SOON).await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    let held = eventually(SOON, "the time that is left", || held_for(&browser)).await?;
    ensure!((HELD / 2..=HELD).contains(&held), "held for {held} seconds");
    browser.press("enter").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    Ok(())
}
