//! The page in the visitor's language.

use anyhow::{Context, Result, ensure};
use thirtyfour::By;
use vestibule_tests::browser::Chromium;

use crate::place::{ON_THE_SITE, Place, SOON, WANTED, seat_and_gateway};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browsers_language_until_another_is_chosen() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser_of("de-AT,de,en").await?;
    place.somebody_comes().await?;
    browser.goto(WANTED).await?;
    expect_language(&browser, "de", "ltr").await?;
    let (brand, chooser) = edges(&browser).await?;
    ensure!(brand < chooser, "the site's name is at {brand}, the languages are at {chooser}");

    browser.driver()?.find(By::Css("#language option[value=ar]")).await?.click().await?;
    browser.driver()?.find(By::Css("#languages button")).await?.click().await?;
    browser.until("document.documentElement.lang === 'ar'", SOON).await?;
    expect_language(&browser, "ar", "rtl").await?;
    let (brand, chooser) = edges(&browser).await?;
    ensure!(brand > chooser, "not mirrored: {brand}, {chooser}");
    ensure!(browser.text("headline").await?.chars().any(|c| ('\u{600}'..'\u{700}').contains(&c)));

    browser.goto(WANTED).await?;
    expect_language(&browser, "ar", "rtl").await.context("remembered")?;
    browser.expect_state("waiting").await?;
    browser.goto(&format!("{WANTED}&vestibule_lang=fr")).await?;
    expect_language(&browser, "fr", "ltr").await.context("chosen by the address")?;
    ensure!(browser.address().await? == WANTED, "not as wanted: {}", browser.address().await?);
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    ensure!(browser.text("headline").await? != "It’s your turn", "an update in another language");
    browser.press("go").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    ensure!(browser.address().await? == WANTED, "at {}", browser.address().await?);
    browser.expect_silent_console().await
}

async fn expect_language(browser: &Chromium, code: &str, direction: &str) -> Result<()> {
    let found = browser
        .eval("[document.documentElement.lang, getComputedStyle(document.body).direction]")
        .await?;
    ensure!(found == serde_json::json!([code, direction]), "{found}, not {code} {direction}");
    let selected = browser.eval("document.getElementById('language').value").await?;
    ensure!(selected == code, "the list says {selected}");
    let headline = browser.text("headline").await?;
    ensure!(!headline.is_empty() && headline != "You are in line", "in English: {headline}");
    Ok(())
}

/// Where the site's name and the languages begin, from the left.
async fn edges(browser: &Chromium) -> Result<(f64, f64)> {
    let left = |id: &str| format!("document.getElementById('{id}').getBoundingClientRect().left");
    let (site, chooser) =
        (browser.eval(&left("site")).await?, browser.eval(&left("languages")).await?);
    Ok((site.as_f64().context("a number")?, chooser.as_f64().context("a number")?))
}
