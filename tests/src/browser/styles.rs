//! How elements are drawn, also the parts that a control is made of, which scripts cannot see.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Chromium;

/// One element, or part of a control.
struct Drawn {
    node: Value,
    style: Value,
}

// === impl Chromium ===

impl Chromium {
    /// Elements that would move: with a transition or an animation.
    pub async fn moving(&self) -> Result<Vec<String>> {
        let drawn = self.drawn().await?;
        Ok(drawn.iter().filter(|drawn| drawn.moves()).map(Drawn::name).collect())
    }

    /// The colour behind a part of a control, such as `-webkit-progress-value`.
    pub async fn colour_behind(&self, part: &str) -> Result<String> {
        let drawn = self.drawn().await?;
        let found = drawn.iter().find(|drawn| drawn.attribute("pseudo") == Some(part));
        let found = found.with_context(|| format!("there is no {part}"))?;
        Ok(found.value("background-color").to_owned())
    }

    async fn drawn(&self) -> Result<Vec<Drawn>> {
        self.devtools("DOM.enable", json!({})).await?;
        self.devtools("CSS.enable", json!({})).await?;
        let everything = json!({ "depth": -1, "pierce": true });
        let document = self.devtools("DOM.getDocument", everything).await?;
        let mut drawn = Vec::new();
        for node in elements(&document["root"]) {
            let of = json!({ "nodeId": node["nodeId"] });
            let mut style = self.devtools("CSS.getComputedStyleForNode", of).await?;
            drawn.push(Drawn { node: node.clone(), style: style["computedStyle"].take() });
        }
        self.devtools("CSS.disable", json!({})).await?;
        self.devtools("DOM.disable", json!({})).await?;
        Ok(drawn)
    }
}

// === impl Drawn ===

impl Drawn {
    fn name(&self) -> String {
        format!("{} {}", self.node["localName"], self.node["attributes"])
    }

    /// Names and values follow each other.
    fn attribute(&self, name: &str) -> Option<&str> {
        let all = self.node["attributes"].as_array()?;
        all.chunks(2).find(|pair| pair[0] == name)?.get(1)?.as_str()
    }

    /// The value of a property; empty where nothing is drawn.
    fn value(&self, name: &str) -> &str {
        let mut all = self.style.as_array().into_iter().flatten();
        let found = all.find(|property| property["name"] == name);
        found.and_then(|property| property["value"].as_str()).unwrap_or_default()
    }

    fn moves(&self) -> bool {
        let has = |name: &str, still: &str| {
            self.value(name).split(", ").any(|part| !part.is_empty() && part != still)
        };
        has("transition-duration", "0s") || has("animation-name", "none")
    }
}

/// A node of the tree, and everything below it, also what a control is made of.
fn elements(node: &Value) -> Vec<&Value> {
    let below = ["children", "shadowRoots", "pseudoElements"];
    let below = below.iter().filter_map(|kind| node[kind].as_array()).flatten();
    let own = (node["nodeType"] == 1).then_some(node);
    own.into_iter().chain(below.flat_map(elements)).collect()
}
