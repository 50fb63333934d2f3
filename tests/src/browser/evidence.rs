//! What a browser has to say about a visit: its console, and what went over the network.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use thirtyfour::BrowserLogEntry;

use super::Chromium;

/// What went over the network since it was last asked, of what is on the network at all.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The addresses that were asked for, in order.
    pub urls: Vec<String>,
    /// The bytes of the answers as they came, with their headers.
    pub bytes: u64,
    requests: BTreeSet<String>,
}

// === impl Chromium ===

impl Chromium {
    /// What the console says since it was last asked: errors, and what a policy has refused.
    pub async fn console(&self) -> Result<Vec<String>> {
        let entries = self.driver()?.browser_log().await?;
        // The page of a visitor who waits may well come with 503.
        let counts = |entry: &BrowserLogEntry| {
            !entry.message.contains("the server responded with a status of 503")
                && !entry.message.contains("/favicon.ico")
        };
        Ok(entries.into_iter().filter(counts).map(|entry| entry.message).collect())
    }

    /// Fails if the console says anything.
    pub async fn expect_silent_console(&self) -> Result<()> {
        let said = self.console().await?;
        ensure!(said.is_empty(), "the console says {said:#?}");
        Ok(())
    }

    /// The page in front as a picture (PNG), also what is below the edge of the screen.
    pub async fn picture(&self) -> Result<Vec<u8>> {
        let size = "(({ width, height }) => ({ x: 0, y: 0, width, height, scale: 1 }))
            (document.documentElement.getBoundingClientRect())";
        let params = json!({
            "format": "png", "captureBeyondViewport": true, "clip": self.eval(size).await?,
        });
        let taken = self.devtools("Page.captureScreenshot", params).await?;
        STANDARD.decode(taken["data"].as_str().unwrap_or_default()).context("a picture")
    }

    /// What went over the network since it was last asked.
    pub async fn traffic(&self) -> Result<Traffic> {
        let mut traffic = Traffic::default();
        for entry in self.driver()?.get_log("performance").await? {
            let event: Value = serde_json::from_str(&entry.message).context("an event")?;
            traffic.note(&event["message"]);
        }
        Ok(traffic)
    }
}

// === impl Traffic ===

impl Traffic {
    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        let request = params["requestId"].as_str().unwrap_or_default();
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                // Not what is inline, nor the browser's own pages.
                if url.starts_with("http") {
                    self.urls.push(url.to_owned());
                    self.requests.insert(request.to_owned());
                }
            }
            "Network.loadingFinished" if self.requests.contains(request) => {
                self.bytes += bytes(&params["encodedDataLength"]);
            }
            _ => {}
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
fn bytes(number: &Value) -> u64 {
    number.as_f64().unwrap_or(0.0) as u64
}
