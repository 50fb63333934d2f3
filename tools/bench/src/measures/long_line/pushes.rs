//! How long the snapshots are that the leader pushes while people are let in: whole, and as differences.

use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt;
use serde::Deserialize;
use vestibule_domain::Formats;
use vestibule_store::{LinkOptions, Messages, open_link};
use vestibule_tests::Redis;

use crate::report::{Figures, Unit};

const CHANNELS: [&str; 2] = ["vestibule:snapshots", "vestibule:differences"];
const ANSWER: Duration = Duration::from_secs(10);

/// Everything that is pushed from now on.
pub(super) struct Pushes(Messages);

#[derive(Deserialize)]
struct Head {
    format: u32,
}

// === impl Pushes ===

impl Pushes {
    pub(super) async fn from(redis: &Redis) -> Result<Self> {
        let link = open_link(&redis.url().parse()?, &LinkOptions::new(ANSWER))?;
        Ok(Self(link.subscribe(&CHANNELS).await?))
    }

    /// The figures with the lengths of so many.
    pub(super) async fn add_to(mut self, count: u32, figures: Figures) -> Result<Figures> {
        let (mut whole, mut differences) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let text = self.0.next().await.context("the subscription has ended")?.payload;
            let Head { format } = serde_json::from_str(&text)?;
            let lengths = if format == Formats::DIFFERENCE { &mut differences } else { &mut whole };
            lengths.push(f64::from(u32::try_from(text.len())?));
        }
        Ok(figures.add("bytes of a snapshot that is pushed whole", Unit::Whole, whole).add(
            "bytes of one that is pushed as a difference",
            Unit::Whole,
            differences,
        ))
    }
}
