//! The waiting page as a visitor meets it: by the ids of its elements.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use thirtyfour::{By, WindowHandle};
use tokio::time::{Instant, sleep};

use super::Chromium;
use crate::eventually;

/// Pause between two looks at a page: a look costs the browser some work.
const PAUSE: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_secs(20);

/// One tab.
#[derive(Debug, Clone)]
pub struct At(WindowHandle);

// === impl Chromium ===

impl Chromium {
    /// The text of an element, as it is shown; empty where nothing is.
    pub async fn text(&self, id: &str) -> Result<String> {
        let text = self.eval(&format!("document.getElementById('{id}')?.innerText.trim()")).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Everything that the page shows.
    pub async fn whole_text(&self) -> Result<String> {
        let text = self.eval("document.body?.innerText").await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// The address of the page.
    pub async fn address(&self) -> Result<String> {
        Ok(self.eval("location.href").await?.as_str().unwrap_or_default().to_owned())
    }

    /// Whether an element is to be seen.
    pub async fn shows(&self, id: &str) -> Result<bool> {
        let look = format!("!!document.getElementById('{id}')?.checkVisibility()");
        Ok(self.eval(&look).await? == true)
    }

    /// How the visitor stands, by the page.
    pub async fn state(&self) -> Result<String> {
        let state = self.eval("document.documentElement?.dataset.state").await?;
        Ok(state.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the page says that the visitor stands like this.
    pub async fn reaches(&self, state: &str, within: Duration) -> Result<()> {
        let condition = format!("document.documentElement?.dataset.state === '{state}'");
        self.until(&condition, within).await
    }

    /// Waits until an expression is true in the page, which may be another one by then, and is
    /// there as a whole.
    pub async fn until(&self, condition: &str, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        let whole = format!("document.readyState === 'complete' && ({condition})");
        loop {
            // Between two pages there is nothing to look at.
            let seen = self.eval(&whole).await.unwrap_or(Value::Null);
            if seen == true {
                return Ok(());
            }
            if Instant::now() > deadline {
                let (address, text) = (self.address().await?, self.whole_text().await?);
                bail!("not in {within:?}: {condition}; at {address} the page says:\n{text}");
            }
            sleep(PAUSE).await;
        }
    }

    /// Presses an element as a visitor does, with the mouse; once more if the page was loaded anew
    /// between looking and pressing.
    pub async fn press(&self, id: &str) -> Result<()> {
        eventually(SOON, "an element to press", || async {
            let element = self.driver()?.find(By::Id(id.to_owned())).await?;
            element.click().await.with_context(|| format!("#{id} cannot be pressed"))
        })
        .await
    }

    /// The tab that is in use.
    pub async fn tab(&self) -> Result<At> {
        Ok(At(self.driver()?.window().await?))
    }

    /// Opens a tab, in front of the others, and uses it.
    pub async fn open_tab(&self) -> Result<At> {
        let tab = self.driver()?.new_tab().await?;
        self.driver()?.switch_to_window(tab.clone()).await?;
        Ok(At(tab))
    }

    /// Uses another tab. It does not come to the front by that.
    pub async fn use_tab(&self, tab: &At) -> Result<()> {
        Ok(self.driver()?.switch_to_window(tab.0.clone()).await?)
    }

    /// Puts the window away, and its tabs with it: they know that they are hidden.
    pub async fn hide(&self) -> Result<()> {
        self.driver()?.minimize_window().await?;
        self.until("document.hidden", SOON).await
    }

    /// Brings the window back, with the tab that is in use in front.
    pub async fn bring_to_front(&self) -> Result<()> {
        self.driver()?.set_window_rect(0, 0, 1000, 900).await?;
        self.devtools("Page.bringToFront", json!({})).await?;
        self.until("!document.hidden", SOON).await
    }

    /// Fails unless the page is the waiting page in this state.
    pub async fn expect_state(&self, state: &str) -> Result<()> {
        let found = self.state().await?;
        ensure!(found == state, "expected `{state}`, got `{found}`: {}", self.whole_text().await?);
        Ok(())
    }
}
