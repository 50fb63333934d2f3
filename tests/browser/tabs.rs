//! Several tabs, several rooms, frames, and a network that goes away.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use vestibule_tests::{
    Deployment, Service,
    browser::{Chromium, Options, Seat},
    gateway::{SITE_HOST, Site},
};

use crate::place::{self, ON_THE_SITE, Place, SOON, WANTED, call, fill, seat_and_gateway};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_of_two_rooms_do_not_disturb_each_other() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    fill(&place.deployment, "tickets", &place::room("/tickets")).await?;
    place.deployment.site_visitor(SITE_HOST).finds_a_room("/tickets", SOON).await?;
    let browser = place.browser().await?;
    browser.goto(WANTED).await?;
    expect_place(&browser, "sale", "2").await?;
    let sale = browser.tab().await?;
    let tickets = browser.open_tab().await?;
    browser.goto("http://shop.example/tickets/1").await?;
    expect_place(&browser, "tickets", "2").await?;
    let other_sale = browser.open_tab().await?;
    browser.goto("http://shop.example/sale/other").await?;
    expect_place(&browser, "sale", "2").await.context("the same visitor in a second tab")?;
    browser.goto("http://shop.example/sale/other").await?;
    expect_place(&browser, "sale", "2").await.context("loaded anew")?;

    call(&place.deployment, "tickets").await?;
    browser.use_tab(&tickets).await?;
    browser.reaches("turn", SOON).await?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;

    browser.use_tab(&sale).await?;
    browser.hide().await?;
    browser.eval("window.mark = 'here'").await?;
    expect_place(&browser, "sale", "2").await.context("a hidden tab keeps its place")?;
    place.call().await?;
    browser.reaches("turn", SOON).await.context("a hidden tab hears of its turn")?;
    ensure!(browser.eval("document.hidden && window.mark").await? == "here", "loaded anew");
    ensure!(browser.driver()?.title().await? == "It’s your turn");
    browser.bring_to_front().await?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;

    browser.use_tab(&other_sale).await?;
    browser.reaches("inside", SOON).await.context("the other tab hears of it")?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == "http://shop.example/sale/other");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_goes_away_takes_nothing_with_it() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    browser.goto("http://shop.example/").await?;
    browser.goto(WANTED).await?;
    expect_place(&browser, "sale", "2").await?;
    browser.eval("window.mark = 'here'").await?;
    browser.set_online(false).await?;
    let failed =
        "performance.getEntriesByType('resource').some(entry => entry.responseStatus === 0)";
    browser.until(failed, SOON).await.context("a poll that fails")?;
    expect_place(&browser, "sale", "2").await.context("without network")?;
    let updated = browser.text("updated").await?;
    place.call().await?;
    ensure!(browser.text("updated").await? == updated, "pretends to be up to date");
    browser.set_online(true).await?;
    browser.reaches("turn", SOON).await.context("back on the network")?;
    ensure!(browser.eval("window.mark").await? == "here", "loaded anew");
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    // Back is where the visitor came from, not the page where nobody waits any more.
    browser.driver()?.back().await?;
    browser
        .until(&format!("{ON_THE_SITE} && location.href === 'http://shop.example/'"), SOON)
        .await?;
    browser.driver()?.forward().await?;
    browser.until(&format!("{ON_THE_SITE} && location.href === '{WANTED}'"), SOON).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_in_another_site_has_a_place_of_its_own() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    let framed = json!({
        "total_active_users": 1,
        "cookie": { "partitioned": true, "secure": "always", "same_site": "none" },
    });
    fill(&deployment, "framed", &framed).await?;
    deployment.create_room("plain", &json!({ "total_active_users": 9 })).await?;
    let site = Site::start().await?;
    let port = site.address().rsplit_once(':').context("a port")?.1.parse()?;
    let browser = Chromium::start(&Options::site("other.example", port)).await?;
    let vestibule = deployment.address(Service::Admission, 0).replace("127.0.0.1", "localhost");
    let framed = format!("http://{vestibule}/room/framed");

    browser.goto(&format!("http://{}/", site.address())).await?;
    let first = place_in_frame(&browser, &framed).await?;
    ensure!(first == "2", "the place is {first}");
    ensure!(place_in_frame(&browser, &framed).await? == "2", "has lost its place");
    browser.goto("http://other.example/").await?;
    ensure!(place_in_frame(&browser, &framed).await? == "3", "one place in two sites");
    let plain = place_in_frame(&browser, &format!("http://{vestibule}/room/plain")).await?;
    ensure!(plain.is_empty(), "a page that is not made for it shows in a frame: {plain}");
    Ok(())
}

async fn expect_place(browser: &Chromium, room: &str, position: &str) -> Result<()> {
    browser.expect_state("waiting").await?;
    let found = (browser.text("room").await?, browser.text("position").await?);
    ensure!((found.0.as_str(), found.1.as_str()) == (room, position), "{found:?}");
    Ok(())
}

/// Puts the page into a frame of the page at hand, and gives the place that it shows.
async fn place_in_frame(browser: &Chromium, url: &str) -> Result<String> {
    let build = format!(
        "new Promise(done => {{
            document.body.innerHTML = '<iframe width=900 height=700></iframe>';
            const frame = document.querySelector('iframe');
            frame.onload = () => done(true);
            frame.src = '{url}';
        }})"
    );
    browser.eval(&build).await?;
    let driver = browser.driver()?;
    driver.enter_frame(0).await?;
    let script = "return document.getElementById('position')?.innerText ?? ''";
    let text = driver.execute(script, Vec::new()).await?.json().as_str().map(str::to_owned);
    driver.enter_default_frame().await?;
    Ok(text.unwrap_or_default())
}
