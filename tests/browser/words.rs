//! What the operator says, on a page that is open: it comes without a reload, is read out once, and can be read.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Media, Options, Seat},
};

use crate::place::{SOON, fill, page};

/// Notes what screen readers are told of the message: each text that its live region comes to.
const LISTEN: &str = "window.said = [];
    new MutationObserver(() => said.push(document.getElementById('news').innerText))
        .observe(document.getElementById('news'), {childList: true, characterData: true, subtree: true})";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_comes_to_an_open_page_and_is_read_out_once() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    fill(&deployment, "sale", &json!({ "total_active_users": 1 })).await?;
    let logo = "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='30'><rect width='90' height='30'/></svg>";
    put_logo(&deployment, logo).await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.goto(&page(&deployment, "sale", "?lang=ar")).await?;
    browser.expect_state("waiting").await?;
    ensure!(!browser.shows("message").await?, "an empty message is shown");
    browser.eval("window.mark = 'here'").await?;
    browser.eval(LISTEN).await?;

    let operator = deployment.operator();
    let words = json!({
        "message": { "en": "Only standing room is left.", "ar": "لم يتبقَّ إلا أماكن وقوف.\nشكرًا لصبركم." },
        "title": "Summer Tour", "closed_message": "Presale starts on Monday.", "sold_out": false,
        "accent_colour": "#8a1c4a", "logo_alt": "Tickets Ltd",
    });
    operator.patch_room("sale", &words).await?.expect(200)?;
    let is_told = "document.getElementById('message').checkVisibility()";
    browser.until(is_told, SOON).await.context("the message")?;
    ensure!(browser.text("message").await? == "لم يتبقَّ إلا أماكن وقوف.\nشكرًا لصبركم.");
    ensure!(browser.text("room-title").await? == "Summer Tour");
    let attributes = "['lang', 'dir'].map(name => document.getElementById('message')[name]).concat(
        document.getElementById('news').getAttribute('role'), document.title.split(' · ').pop())";
    ensure!(browser.eval(attributes).await? == json!(["ar", "auto", "status", "Summer Tour"]));
    ensure!(browser.eval("window.mark").await? == "here", "loaded anew");

    // Nothing else is read out with it, however often the page is told where its visitor stands.
    operator.patch_room("sale", &json!({ "queue_all": true })).await?.expect(200)?;
    browser.reaches("paused", SOON).await?;
    let said = browser.eval("window.said").await?;
    ensure!(said.as_array().is_some_and(|said| said.len() == 1), "said {said}");
    examine(&browser, &deployment, "paused").await?;

    browser.goto(&page(&deployment, "sale", "?lang=ar")).await?;
    operator
        .patch_room("sale", &json!({ "sold_out": true, "queue_all": false }))
        .await?
        .expect(200)?;
    browser.reaches("sold_out", SOON).await?;
    ensure!(browser.text("message").await? == "Presale starts on Monday.");
    examine(&browser, &deployment, "sold_out").await?;
    let source = "document.getElementById('logo').src.includes('/room/sale/logo/')
        && document.getElementById('logo').naturalWidth === 90";
    browser.until(source, SOON).await.context("the logo")
}

/// In both colours and writing directions.
async fn examine(browser: &Chromium, deployment: &Deployment, state: &str) -> Result<()> {
    for (media, language) in [(Media::Light, "en"), (Media::Dark, "ar")] {
        browser.set_media(media).await?;
        browser.goto(&page(deployment, "sale", &format!("?lang={language}"))).await?;
        browser.reaches(state, SOON).await?;
        browser.expect_silent_console().await?;
        let found = browser.violations().await?;
        found.expect_none().with_context(|| format!("{state}, {language}"))?;
    }
    Ok(())
}

async fn put_logo(deployment: &Deployment, svg: &str) -> Result<()> {
    let url = deployment.controllers().at("/v1/rooms/sale/logo")?;
    let request = deployment.controllers().http().request(Method::PUT, url);
    let request = request.bearer_auth(deployment.secrets()[1]).body(svg.to_owned());
    let answered = request.header("content-type", "image/svg+xml").send().await?;
    ensure!(answered.status() == 204, "{}", answered.status());
    Ok(())
}
