//! The check before the line: the browser solves it by itself, says so, and tells those without script.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Media, Options, Seat},
    eventually,
};

use crate::place::{ON_THE_SITE, Place, SOON, WANTED, fill, page, seat_and_gateway};

/// Workers that never come to an end, so that there is time to look at the page.
const NEVER_DONE: &str = "window.Worker = class extends Worker {
    postMessage(puzzle) { super.postMessage({...puzzle, challenge: '0'.repeat(64), maxnumber: 1e9}); }
};";
/// How far the bar is.
const BAR: &str = "document.getElementById('progress').value";

/// From now on newcomers solve it before they get a place, at every admission.
async fn challenge(deployment: &Deployment) -> Result<()> {
    let change = json!({ "challenge": { "mode": "challenge" } });
    deployment.operator().patch_room("sale", &change).await?.expect(200)?;
    eventually(SOON, "the challenge", || async {
        let admissions = deployment.admissions();
        let told = admissions.http().get(admissions.at("/v1/rooms/sale/challenge")?).send().await?;
        ensure!(told.status().is_success(), "{}", told.status());
        Ok(())
    })
    .await
}

/// A deployment whose room is full, and has a challenge.
async fn challenged() -> Result<Deployment> {
    let deployment = Deployment::builder().start().await?;
    fill(&deployment, "sale", &json!({ "total_active_users": 1 })).await?;
    challenge(&deployment).await?;
    Ok(deployment)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browser_solves_it_in_the_place_of_the_wanted_page() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    solves_and_enters(&Place::in_place_of(json!({ "enter": "automatic" })).await?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browser_solves_it_at_the_pages_own_address() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    solves_and_enters(&Place::own_address_of(100, json!({ "enter": "automatic" })).await?).await
}

/// A visitor solves it without doing anything, waits, and enters, with the page that it came to.
async fn solves_and_enters(place: &Place) -> Result<()> {
    challenge(&place.deployment).await?;
    let browser = place.browser().await?;
    browser.goto(WANTED).await?;
    let first = browser.eval("performance.timeOrigin").await?;
    browser.reaches("waiting", 3 * SOON).await?;
    ensure!(browser.eval("performance.timeOrigin").await? == first, "it was loaded anew");
    ensure!(browser.text("position").await? == "2", "{}", browser.whole_text().await?);
    place.call().await?;
    browser.until(ON_THE_SITE, SOON).await?;
    browser.expect_silent_console().await?;
    // Whoever has been here has a place, and is not asked again.
    let status = place.deployment.operator().status("sale").await?;
    ensure!(status.number("queue_counter")? == 2, "{}", status.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_sees_how_far_it_is() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = challenged().await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.before_scripts(NEVER_DONE).await?;
    for (media, language) in [(Media::Light, "en"), (Media::Dark, "ar")] {
        browser.set_media(media).await?;
        browser.goto(&page(&deployment, "sale", &format!("?lang={language}"))).await?;
        browser.expect_state("challenge").await?;
        browser.until(&format!("{BAR} > 0"), SOON).await?;
        ensure!(browser.shows("progress").await? && !browser.shows("scriptless").await?);
        let before = browser.eval(BAR).await?;
        browser.until(&format!("{BAR} > {before}"), SOON).await?;
        browser.violations().await?.expect_none()?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_script_people_are_told_and_nobody_is_put_into_a_line_without_end() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = challenged().await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.set_scripts(false).await?;
    browser.goto(&page(&deployment, "sale", "")).await?;
    browser.expect_state("challenge").await?;
    let told = browser.text("scriptless").await?;
    ensure!(told.contains("JavaScript") && told.contains("no place in line yet"), "{told}");
    ensure!(!browser.shows("progress").await?, "nothing is under way");
    browser.set_scripts(true).await?;
    browser.goto(&page(&deployment, "sale", "")).await?;
    browser.reaches("waiting", 3 * SOON).await
}

/// `cargo test --workspace --test browser how_long -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measure"]
#[expect(clippy::disallowed_methods, reason = "a measure")]
async fn how_long_it_takes_on_a_slow_processor() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({ "challenge": { "mode": "challenge" } })).await?;
    let browser = Chromium::start(&Options::default()).await?;
    // A worker is not slowed down with its page, so the page itself computes.
    browser.before_scripts("window.Worker = class { postMessage() {} terminate() {} };").await?;
    browser.goto(&page(&deployment, "sale", "")).await?;
    browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 4 })).await?;
    let mut took = Vec::new();
    for _ in 0..15 {
        let admissions = deployment.admissions();
        let told = admissions.http().get(admissions.at("/v1/rooms/sale/challenge")?).send().await?;
        let puzzle: Value = told.json().await?;
        let solve = format!(
            "(() => {{ const begun = performance.now();
            Function('puzzle', document.getElementById('solver').textContent
                + '; return find(puzzle, () => 0)')({puzzle});
            return performance.now() - begun; }})()"
        );
        let begun = Instant::now();
        let ms = browser.eval(&solve).await?.as_f64().unwrap_or(f64::NAN);
        took.push(ms);
        println!("{ms:.0} ms, seen from outside {:?}", begun.elapsed());
    }
    took.sort_by(f64::total_cmp);
    println!("median: {:?}", Duration::from_secs_f64(took[took.len() / 2] / 1000.0));
    Ok(())
}
