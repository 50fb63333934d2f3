//! Small screens, dark rooms, chosen colours, no movement, no mouse.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use thirtyfour::{By, Key};
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Media, Options, Seat},
};

use crate::place::{ON_THE_SITE, Place, SOON, WANTED, fill, page, seat_and_gateway};

const LANGUAGES: [&str; 12] =
    ["en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja", "zh", "ko", "ar"];

/// The page asks for updates and never gets any.
const NO_UPDATES: &str = "window.fetch = () => new Promise(() => {}); delete window.EventSource;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fits_every_screen_and_setting() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    fill(&deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let free =
        json!({ "total_active_users": 9, "routes": [{ "host": "a-long-name.shop.example" }] });
    deployment.create_room("free", &free).await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.set_viewport(320, 640, 1.0).await?;
    for room in ["full", "free"] {
        for language in LANGUAGES {
            browser.goto(&page(&deployment, room, &format!("?lang={language}"))).await?;
            fits(&browser, 320).await.with_context(|| format!("{room}, {language}"))?;
        }
    }
    // An update would hide what is shown next.
    browser.before_scripts(NO_UPDATES).await?;
    browser.goto(&page(&deployment, "full", "?lang=de")).await?;
    browser.eval("document.getElementById('progress-box').hidden = false").await?;
    browser.eval("document.documentElement.style.fontSize = '200%'").await?;
    browser.set_viewport(640, 640, 1.0).await?;
    fits(&browser, 640).await.context("letters of twice the size")?;
    colours(&browser).await?;
    movement(&browser).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn needs_no_mouse() -> Result<()> {
    let Some(_seat) = seat_and_gateway().await? else { return Ok(()) };
    let place = Place::in_place().await?;
    let browser = place.browser().await?;
    browser.goto(WANTED).await?;
    let reached = tab_through(&browser).await?;
    ensure!(reached == ["language", "BUTTON", "sound", "SUMMARY"], "{reached:?}");
    place.call().await?;
    browser.reaches("turn", SOON).await?;
    browser.eval("document.activeElement.blur()").await?;
    let reached = tab_through(&browser).await?;
    ensure!(reached == ["language", "BUTTON", "go", "SUMMARY"], "{reached:?}");
    browser.driver()?.find(By::Id("go")).await?.send_keys(Key::Enter + "").await?;
    browser.until(ON_THE_SITE, SOON).await?;
    Ok(())
}

async fn fits(browser: &Chromium, width: u32) -> Result<()> {
    let fits =
        format!("[innerWidth, document.scrollingElement.scrollWidth].every(it => it === {width})");
    browser.until(&fits, SOON).await
}

/// Light on dark where that is asked for; and what matters has an outline where colours are forced.
async fn colours(browser: &Chromium) -> Result<()> {
    let dark = "(() => { const [r, g, b] = getComputedStyle(document.documentElement)
        .backgroundColor.match(/[0-9]+/g); return +r + +g + +b < 150; })()";
    browser.set_media(Media::Light).await?;
    ensure!(browser.eval(dark).await? == false, "dark by day");
    browser.set_media(Media::Dark).await?;
    ensure!(browser.eval(dark).await? == true, "light by night");
    browser.set_media(Media::ForcedColors).await?;
    let border = "getComputedStyle(document.getElementById('sound')).borderTopWidth";
    ensure!(browser.eval(border).await? != "0px", "buttons without an outline");
    let parts = ["-webkit-progress-value", "-webkit-progress-bar"];
    let (value, bar) =
        (browser.colour_behind(parts[0]).await?, browser.colour_behind(parts[1]).await?);
    ensure!(value != bar && !value.is_empty(), "the bar is all {value}");
    browser.set_media(Media::Light).await
}

/// What moves stands still where that is asked for.
async fn movement(browser: &Chromium) -> Result<()> {
    browser.set_media(Media::Light).await?;
    ensure!(!browser.moving().await?.is_empty(), "nothing moves: then nothing is tested here");
    browser.set_media(Media::ReducedMotion).await?;
    let moving = browser.moving().await?;
    ensure!(moving.is_empty(), "these move: {moving:?}");
    Ok(())
}

/// What the tabulator key reaches, by id or name, in this order.
async fn tab_through(browser: &Chromium) -> Result<Vec<String>> {
    let mut reached = Vec::new();
    let focused = "(element => element === document.body ? '' : element.id || element.tagName)
        (document.activeElement)";
    for _ in 0..20 {
        browser.driver()?.action_chain().send_keys(Key::Tab + "").perform().await?;
        let found = browser.eval(focused).await?.as_str().unwrap_or_default().to_owned();
        let outlined = "document.activeElement.matches(':focus-visible')";
        if found.is_empty() || reached.contains(&found) {
            break;
        }
        ensure!(browser.eval(outlined).await? == true, "{found} does not show its focus");
        reached.push(found);
    }
    Ok(reached)
}
