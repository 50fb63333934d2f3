//! Circumstances of a visitor: the size of the screen, what the system is set to, a network that is
//! gone, scripts that are off.

use anyhow::Result;
use serde_json::{Value, json};

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
    pub async fn set_viewport(&self, width: u32, height: u32, scale: u32) -> Result<()> {
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

    /// Elements that would move: with a transition or an animation, also inside of controls.
    pub async fn moving(&self) -> Result<Vec<String>> {
        self.devtools("DOM.enable", json!({})).await?;
        self.devtools("CSS.enable", json!({})).await?;
        let everything = json!({ "depth": -1, "pierce": true });
        let document = self.devtools("DOM.getDocument", everything).await?;
        let mut moving = Vec::new();
        for node in elements(&document["root"]) {
            let of = json!({ "nodeId": node["nodeId"] });
            let style = self.devtools("CSS.getComputedStyleForNode", of).await?;
            if moves(&style["computedStyle"]) {
                moving.push(format!("{} {}", node["localName"], node["attributes"]));
            }
        }
        self.devtools("CSS.disable", json!({})).await?;
        self.devtools("DOM.disable", json!({})).await?;
        Ok(moving)
    }

    /// Every page runs this before its own scripts.
    pub async fn before_scripts(&self, script: &str) -> Result<()> {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await?;
        Ok(())
    }

    /// Requests to addresses of these patterns fail, as behind a proxy that cuts them.
    pub async fn block(&self, patterns: &[&str]) -> Result<()> {
        self.devtools("Network.enable", json!({})).await?;
        self.devtools("Network.setBlockedURLs", json!({ "urls": patterns })).await?;
        Ok(())
    }
}

/// A node of the tree, and everything below it, also what a control is made of.
fn elements(node: &Value) -> Vec<&Value> {
    let below = ["children", "shadowRoots", "pseudoElements"];
    let below = below.iter().filter_map(|kind| node[kind].as_array()).flatten();
    let own = (node["nodeType"] == 1).then_some(node);
    own.into_iter().chain(below.flat_map(elements)).collect()
}

fn moves(style: &Value) -> bool {
    let has = |name: &str, still: &str| {
        let mut found = style.as_array().into_iter().flatten();
        let value = found.find(|property| property["name"] == name);
        let value = value.and_then(|property| property["value"].as_str()).unwrap_or(still);
        // A node that is not drawn has empty values.
        value.split(", ").any(|part| !part.is_empty() && part != still)
    };
    has("transition-duration", "0s") || has("animation-name", "none")
}
