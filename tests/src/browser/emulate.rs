//! Circumstances of a visitor: the size of the screen, what the system is set to, a network that is
//! gone, scripts that are off.

use anyhow::Result;
use serde_json::json;

use super::Chromium;

/// What a system is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// Light colours.
    Light,
    /// Dark colours.
    Dark,
    /// Colours that the visitor has chosen for everything.
    ForcedColors,
    /// No movement.
    ReducedMotion,
}

// === impl Chromium ===

impl Chromium {
    /// The system is set like this, from now on.
    pub async fn set_media(&self, media: Media) -> Result<()> {
        let (name, value) = match media {
            Media::Light => ("prefers-color-scheme", "light"),
            Media::Dark => ("prefers-color-scheme", "dark"),
            Media::ForcedColors => ("forced-colors", "active"),
            Media::ReducedMotion => ("prefers-reduced-motion", "reduce"),
        };
        let params = json!({ "features": [{ "name": name, "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", params).await?;
        Ok(())
    }

    /// A screen of so many CSS pixels, as of a phone, which has more dots to one of them.
    pub async fn set_viewport(&self, width: u32, height: u32, scale: f32) -> Result<()> {
        let params = json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": true,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", params).await?;
        Ok(())
    }

    /// Whether the network is there.
    pub async fn set_online(&self, online: bool) -> Result<()> {
        let params = json!({
            "offline": !online, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.devtools("Network.emulateNetworkConditions", params).await?;
        Ok(())
    }

    /// Whether pages may run scripts.
    pub async fn set_scripts(&self, allowed: bool) -> Result<()> {
        let params = json!({ "value": !allowed });
        self.devtools("Emulation.setScriptExecutionDisabled", params).await?;
        Ok(())
    }

    /// Every page runs this before its own scripts.
    pub async fn before_scripts(&self, script: &str) -> Result<()> {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await?;
        Ok(())
    }
}
