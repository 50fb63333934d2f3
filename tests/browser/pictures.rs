//! The pictures of the README, taken when `VESTIBULE_SCREENSHOTS` names a directory for them
//! (`docs`, from the root of the repository).

use std::{env, fs, path::Path};

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::{
    Deployment,
    browser::{Chromium, Media, Options, Seat},
};

use crate::states::show;

/// They are part of the repository for ever.
const LARGEST: usize = 120_000;

/// Name, state, language, colours, width in CSS pixels, dots to one of them.
const PICTURES: [(&str, &str, &str, Media, u32, f32); 4] = [
    ("page-light", "waiting", "en", Media::Light, 840, 1.5),
    ("page-dark", "prequeue", "en", Media::Dark, 840, 1.5),
    ("page-turn", "turn", "en", Media::Light, 840, 1.5),
    ("page-arabic-phone", "waiting", "ar", Media::Light, 375, 2.0),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn are_taken_when_asked_for() -> Result<()> {
    let Some(directory) = env::var_os("VESTIBULE_SCREENSHOTS") else { return Ok(()) };
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(directory);
    let deployment = Deployment::builder().start().await?;
    let settings = json!({
        "routes": [{ "host": "tickets.example", "path": "/summer-tour" }],
    });
    deployment.create_room("summer-tour", &settings).await?;
    let browser = Chromium::start(&Options::default()).await?;
    for (name, state, language, media, width, scale) in PICTURES {
        browser.set_media(media).await?;
        browser.set_viewport(width, 640, scale).await?;
        show(&browser, &deployment, "summer-tour", state, language).await?;
        let picture = browser.picture().await?;
        ensure!(picture.len() < LARGEST, "{name} is {} bytes", picture.len());
        fs::write(directory.join(name).with_extension("png"), picture)?;
    }
    Ok(())
}
