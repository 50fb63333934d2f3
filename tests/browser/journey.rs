//! The whole journey of a newcomer to a full room: waits behind somebody, is called, enters.

use anyhow::{Result, ensure};
use vestibule_tests::{Service, browser::Chromium, eventually};

use crate::place::{HELD, ON_THE_SITE, Place, SOON, WANTED, held_for, seat_and_gateway};

/// What the page may cost a visitor, in bytes, headers included.
const LIGHT: u64 = 19_500;
/// What each request after it may cost: how many there are depends on how long the visitor waits.
const LIGHTER: u64 = 1_500;

/// Notes what live updates say, besides what the page does with them.
const LISTEN_TO_LIVE_UPDATES: &str = "window.live = [];
    window.EventSource = class extends EventSource {
        constructor(...all) {
            super(...all);
            this.addEventListener('open', () => live.push('opened'));
            this.addEventListener('error', () => live.push('cut'));
            this.addEventListener('message', event => live.push(JSON.parse(event.data).state));
        }
    };";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_place_of_the_wanted_page() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    place.somebody_comes().await?;
    browser.goto(WANTED).await?;
    ensure!(browser.address().await? == WANTED, "sent away from what it wanted");
    expect_waiting(&browser).await?;
    watch(&browser).await?;
    polls(&browser, 4).await?;
    expect_calm(&browser).await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    expect_called(&browser, "go").await?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    expect_light(&browser, "http://shop.example/").await?;
    browser.expect_silent_console().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_own_address_with_live_updates() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::own_address(100).await?;
    let browser = place.browser().await?;
    place.somebody_comes().await?;
    browser.before_scripts(LISTEN_TO_LIVE_UPDATES).await?;
    browser.goto(WANTED).await?;
    expect_waiting(&browser).await?;
    watch(&browser).await?;
    browser.until("live.includes('opened')", SOON).await?;
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    expect_called(&browser, "enter").await?;
    browser.until("window.live.includes('turn')", SOON).await?;
    enters_by_the_form(&browser).await?;
    // Back at the page, nothing is lost and nothing is asked for twice.
    browser.driver()?.back().await?;
    browser.reaches("inside", SOON).await?;
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_own_address_by_polls_when_live_updates_are_refused() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::own_address(0).await?;
    let browser = place.browser().await?;
    place.somebody_comes().await?;
    browser.goto(WANTED).await?;
    expect_waiting(&browser).await?;
    watch(&browser).await?;
    polls(&browser, 2).await?;
    let urls = browser.traffic().await?.urls;
    let refused = urls.iter().filter(|url| url.contains("/room/sale/live?")).count();
    ensure!(refused == 1, "asked for live updates {refused} times");
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    expect_called(&browser, "enter").await?;
    enters_by_the_form(&browser).await?;
    browser.expect_silent_console().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_own_address_by_polls_when_live_updates_are_cut() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let mut place = Place::own_address(100).await?;
    let browser = place.browser().await?;
    place.somebody_comes().await?;
    browser.before_scripts(LISTEN_TO_LIVE_UPDATES).await?;
    browser.goto(WANTED).await?;
    expect_waiting(&browser).await?;
    watch(&browser).await?;
    browser.until("live.includes('opened')", SOON).await?;
    place.deployment.kill(Service::Admission, 0)?;
    browser.until("live.includes('cut')", SOON).await?;
    place.deployment.restart(Service::Admission, 0).await?;
    place.call().await?;
    // The longer it was cut off, the longer the page pauses before it asks again.
    browser.reaches("turn", 6 * SOON).await?;
    expect_called(&browser, "enter").await?;
    enters_by_the_form(&browser).await
}

/// The facts are there, and the turn is not.
async fn expect_waiting(browser: &Chromium) -> Result<()> {
    browser.expect_state("waiting").await?;
    // Until the leader has seen that somebody waits, it tells the pace at which visitors came in.
    browser
        .until("document.getElementById('status-text').innerText === 'Not known yet'", SOON)
        .await?;
    for (id, told) in [
        ("headline", "You are in line"),
        ("status-label", "Expected wait"),
        ("position", "3"),
        ("ahead", "1"),
        ("room", "sale"),
        ("site", "shop.example"),
    ] {
        let text = browser.text(id).await?;
        ensure!(text == told, "#{id} says `{text}`, not `{told}`");
    }
    ensure!(browser.text("updated").await?.contains(':'), "no time of the last update");
    for id in ["go", "enter", "hold", "hold-after", "notice"] {
        ensure!(!browser.shows(id).await?, "#{id} is to be seen");
    }
    Ok(())
}

/// Keeps an eye on the page: whether it is loaded anew, and what its status region says.
async fn watch(browser: &Chromium) -> Result<()> {
    let watcher = "window.spoken = []; document.getElementById('language').focus();
        for (const id of ['status', 'alert']) {
            const region = document.getElementById(id);
            let last = region.innerText;
            new MutationObserver(() => {
                if (region.innerText !== last) spoken.push(id + ': ' + (last = region.innerText));
            }).observe(region, { subtree: true, childList: true, characterData: true,
                attributes: true });
        }";
    browser.eval(watcher).await?;
    Ok(())
}

/// Waits until the page has asked for updates so many times.
async fn polls(browser: &Chromium, count: u32) -> Result<()> {
    let polls = format!(
        "performance.getEntriesByType('resource')
            .filter(entry => entry.initiatorType === 'fetch').length >= {count}"
    );
    browser.until(&polls, 2 * SOON).await
}

/// Nothing was said to a screen reader, as nothing has changed its meaning.
async fn expect_calm(browser: &Chromium) -> Result<()> {
    let spoken = browser.eval("window.spoken ?? 'it was loaded anew'").await?;
    ensure!(spoken == serde_json::json!([]), "{spoken}");
    Ok(())
}

/// The turn has come: it is said once and loudly, and the visitor is left alone.
async fn expect_called(browser: &Chromium, button: &str) -> Result<()> {
    let title = browser.driver()?.title().await?;
    ensure!(title == "It’s your turn", "the title is {title}");
    let alert = browser.text("alert").await?;
    ensure!(alert.starts_with("It’s your turn"), "the alert is `{alert}`");
    let alerts =
        browser.eval("window.spoken?.filter(text => text.startsWith('alert')).length").await?;
    ensure!(alerts == 1, "alerted {alerts} times, or loaded anew");
    ensure!(
        browser.text(button).await? == "Enter now",
        "no button: {}",
        browser.whole_text().await?
    );
    let focus = browser.eval("document.activeElement.id").await?;
    ensure!(focus == "language", "the focus has moved to {focus}");
    // Live updates say that it is the visitor's turn; the page asks then, and a seat is held for it.
    let held = eventually(SOON, "the time that is left", || held_for(browser)).await?;
    ensure!((HELD / 2..=HELD).contains(&held), "held for {held} seconds");
    ensure!(browser.text("hold-after").await?.contains("the next person"), "and after that?");
    let text = "document.getElementById('hold').innerText";
    let before = browser.eval(text).await?;
    browser.until(&format!("{text} !== {before}"), SOON).await
}

async fn enters_by_the_form(browser: &Chromium) -> Result<()> {
    browser.press("enter").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    Ok(())
}

/// Only this site was asked, and it was not much.
async fn expect_light(browser: &Chromium, origin: &str) -> Result<()> {
    let traffic = browser.traffic().await?;
    ensure!(traffic.urls.len() > 4, "only {:?}", traffic.urls);
    let foreign: Vec<_> = traffic.urls.iter().filter(|url| !url.starts_with(origin)).collect();
    ensure!(foreign.is_empty(), "also asked for {foreign:?}");
    let most = LIGHT + LIGHTER * u64::try_from(traffic.urls.len() - 1)?;
    ensure!((2_000..most).contains(&traffic.bytes), "{} bytes, not {most}", traffic.bytes);
    Ok(())
}
