//! What axe-core finds in every state of the page, as visitors get there, in light and dark, in a
//! language that runs from left to right and in one that does not.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Media, Options, Seat},
    eventually,
};

use crate::place::{SOON, call, fill, page};

const DRESSES: [(Media, &str); 2] = [(Media::Light, "en"), (Media::Dark, "ar")];
const PREVIEWS: [&str; 10] = [
    "waiting",
    "unknown_wait",
    "random",
    "prequeue",
    "queue_all",
    "turn",
    "inside",
    "reject",
    "sold_out",
    "over",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_kept_out_by_the_page() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    let prequeue_opens = rooms(&deployment).await?;
    let browser = Chromium::start(&Options::default()).await?;
    for (room, state) in [
        ("full", "waiting"),
        ("slow", "waiting"),
        ("free", "inside"),
        ("early", "early"),
        ("held", "paused"),
        ("closed", "turned_away"),
    ] {
        if room == "early" {
            until_second(&deployment, prequeue_opens).await?;
        }
        examine(&browser, &deployment, room, state).await.with_context(|| room.to_owned())?;
    }
    browser.goto(&page(&deployment, "short", "")).await?;
    // Of ten seats none is held.
    let ten = json!({ "total_active_users": 10 });
    deployment.operator().patch_room("short", &ten).await?.expect(200)?;
    let held_no_more = "document.documentElement.dataset.state === 'turn' &&
        document.getElementById('notice').checkVisibility()";
    browser.until(held_no_more, SOON).await?;
    browser.violations().await?.expect_none().context("held no more")?;
    browser.goto(&page(&deployment, "slow", "?lang=en")).await?;
    expect_known_wait(&browser).await?;
    call(&deployment, "full").await?;
    examine(&browser, &deployment, "full", "turn").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_see_the_same_pages() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    let words = json!({
        "title": "Summer Tour", "message": "Doors open late today.", "closed_message": { "ar": "إلى اللقاء" },
        "accent_colour": "#8a1c4a",
    });
    deployment.create_room("sale", &words).await?;
    let browser = Chromium::start(&Options::default()).await?;
    for state in PREVIEWS {
        for language in ["en", "ar"] {
            let seen = preview(&browser, &deployment, state, language).await;
            seen.with_context(|| format!("{state}, {language}"))?;
        }
    }
    Ok(())
}

/// How long it takes, and how much of it is over.
async fn expect_known_wait(browser: &Chromium) -> Result<()> {
    // Less than one per cent is not told.
    browser.until("document.getElementById('progress').checkVisibility()", SOON).await?;
    // All at one moment: the next update may say something else.
    let seen = "['status-text', 'progress-text', 'ahead']
        .map(id => document.getElementById(id).innerText).concat(document.title)";
    let [wait, part, ahead, title]: [String; 4] =
        serde_json::from_value(browser.eval(seen).await?)?;
    ensure!(wait.starts_with("About") && wait.ends_with("minutes"), "the wait is `{wait}`");
    ensure!(part.ends_with("% of the wait is over"), "of the wait `{part}` is over");
    ensure!(browser.shows("progress").await?, "no bar");
    let ahead: u32 = ahead.parse().context("people ahead")?;
    ensure!((1..10).contains(&ahead), "{ahead} people ahead");
    ensure!(title == format!("{wait} · You are in line"), "the title is {title}");
    Ok(())
}

/// One room for each state; gives the second at which the pre-queue of the room `early` opens.
async fn rooms(deployment: &Deployment) -> Result<u64> {
    deployment.create_room("early", &json!({ "total_active_users": 9 })).await?;
    let opens = plan_launch(deployment).await?;
    fill(deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let short = json!({ "total_active_users": 1, "position_expiry_seconds": 2 });
    fill(deployment, "short", &short).await?;
    fill(deployment, "slow", &json!({ "new_users_per_minute": 1 })).await?;
    for (room, settings) in [
        ("free", json!({ "total_active_users": 9 })),
        ("held", json!({ "total_active_users": 9, "queue_all": true })),
        ("closed", json!({ "total_active_users": 9, "queueing_method": "reject" })),
    ] {
        deployment.create_room(room, &settings).await?;
    }
    for _ in 0..8 {
        // They count as there for a minute, though they are never heard of again.
        deployment.visitor("slow").join().await?.expect(200)?;
    }
    Ok(opens)
}

/// Plans an event of the room `early`; gives the second at which its pre-queue opens. It stays open
/// for longer than any test takes.
async fn plan_launch(deployment: &Deployment) -> Result<u64> {
    let opens = deployment.redis().now_seconds().await? + 10;
    let event = json!({
        "prequeue_start_time": opens, "event_start_time": opens + 3600,
        "event_end_time": opens + 7200, "draw_at_event_start": true,
    });
    let path = "/v1/rooms/early/events/launch";
    deployment.operator().call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    Ok(opens)
}

/// Waits until Redis's clock, by which everything goes, is in this second or behind it.
pub(crate) async fn until_second(deployment: &Deployment, second: u64) -> Result<()> {
    eventually(SOON, "a second", || async {
        let now = deployment.redis().now_seconds().await?;
        ensure!(now >= second, "it is {now}, not yet {second}");
        Ok(())
    })
    .await
}

async fn examine(
    browser: &Chromium,
    deployment: &Deployment,
    room: &str,
    state: &str,
) -> Result<()> {
    for (media, language) in DRESSES {
        browser.set_media(media).await?;
        browser.goto(&page(deployment, room, &format!("?lang={language}"))).await?;
        browser.reaches(state, SOON).await?;
        browser.expect_silent_console().await?;
        browser
            .violations()
            .await?
            .expect_none()
            .with_context(|| format!("{state}, {language}"))?;
    }
    Ok(())
}

async fn preview(
    browser: &Chromium,
    deployment: &Deployment,
    state: &str,
    language: &str,
) -> Result<()> {
    show(browser, deployment, "sale", state, language).await?;
    let lang: Value = browser.eval("document.documentElement.lang").await?;
    ensure!(lang == language && browser.shows("headline").await?, "no preview in {lang}");
    browser.expect_silent_console().await?;
    for media in [Media::Light, Media::Dark] {
        browser.set_media(media).await?;
        browser.violations().await?.expect_none().with_context(|| format!("{media:?}"))?;
    }
    Ok(())
}

/// Shows a preview, for which an operator's token is needed.
pub(crate) async fn show(
    browser: &Chromium,
    deployment: &Deployment,
    room: &str,
    state: &str,
    language: &str,
) -> Result<()> {
    let [_, token] = deployment.secrets();
    let headers = json!({ "headers": { "Authorization": format!("Bearer {token}") } });
    browser.devtools("Network.enable", json!({})).await?;
    browser.devtools("Network.setExtraHTTPHeaders", headers).await?;
    let path = format!("/v1/rooms/{room}/preview?state={state}&lang={language}");
    browser.goto(&deployment.controllers().at(&path)?).await
}
