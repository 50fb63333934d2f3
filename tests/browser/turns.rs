//! How a visitor takes its turn: a page in front enters by itself, a hidden one calls, and a button is given
//! time.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::place::{HELD, ON_THE_SITE, Place, SOON, WANTED, held_for, seat_and_gateway};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_front_enters_by_itself_in_the_place_of_the_wanted_page() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place_of(json!({ "enter": "automatic" })).await?;
    enters_by_itself(&place).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_front_enters_by_itself_from_its_own_address() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::own_address_of(100, json!({ "enter": "automatic" })).await?;
    enters_by_itself(&place).await
}

async fn enters_by_itself(place: &Place) -> Result<()> {
    let browser = place.browser().await?;
    browser.goto("http://shop.example/").await?;
    browser.goto(WANTED).await?;
    browser.expect_state("waiting").await?;
    place.call().await?;
    browser.until(ON_THE_SITE, SOON).await.context("nobody has pressed anything")?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    browser.expect_silent_console().await?;
    // The waiting page is not in the way back.
    browser.driver()?.back().await?;
    let before = format!("{ON_THE_SITE} && location.href === 'http://shop.example/'");
    browser.until(&before, SOON).await
}

/// A site may answer what the page asks by no success: by 406 to a media type that it does not know. And only browsers know
/// of a fragment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_enters_whatever_the_site_answers_it_and_keeps_the_fragment() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place_of(json!({ "enter": "automatic" })).await?;
    let browser = place.browser().await?;
    let wanted = "http://shop.example/sale/picky?size=40#reviews";
    browser.goto(wanted).await?;
    browser.expect_state("waiting").await?;
    place.call().await?;
    browser.until(ON_THE_SITE, SOON).await.context("nobody has pressed anything")?;
    ensure!(browser.address().await? == wanted, "at {}", browser.address().await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_page_calls_and_its_seat_is_held_until_somebody_looks() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place_of(json!({ "enter": "automatic" })).await?;
    let browser = place.browser().await?;
    browser.goto(WANTED).await?;
    browser.expect_state("waiting").await?;
    browser.hide().await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    ensure!(browser.driver()?.title().await? == "It’s your turn");
    let held = held_for(&browser).await?;
    ensure!((1..=HELD).contains(&held), "held for {held} seconds");
    ensure!(browser.shows("hold-after").await?, "and after that?");
    let status = place.deployment.operator().status("sale").await?;
    ensure!(status.number("active_users")? == 2, "the seat is taken: {}", status.text);
    ensure!(status.number("admitted")? == 1, "and nobody has entered: {}", status.text);
    browser.bring_to_front().await?;
    browser.until(ON_THE_SITE, SOON).await.context("somebody looks")
}

/// Ten seconds, for which the seat is held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_button_is_given_time_and_works_after_it_too() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place_of(json!({ "turn_hold_seconds": 10 })).await?;
    let browser = place.browser().await?;
    browser.goto(WANTED).await?;
    browser.expect_state("waiting").await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    browser.until("document.getElementById('hold-after').checkVisibility()", SOON).await?;
    ensure!(held_for(&browser).await? <= 10, "longer than the room says");
    let over = "!document.getElementById('hold-after').checkVisibility()";
    browser.until(over, SOON).await.context("the hold is over")?;
    browser.expect_state("turn").await.context("seats are free all the same")?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await
}
