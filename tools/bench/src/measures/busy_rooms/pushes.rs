//! How old snapshots get, and how many bytes of them every service is sent. A tick that changes something pushes one, and
//! in a room in which nothing changes there is one a second. So while ticks are on time none gets older than 1,250 ms.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use vestibule_store::{LinkOptions, open_link};
use vestibule_tests::Redis;

use crate::{
    report::{Figures, Unit},
    statistics::{count, quantile},
};

const CHANNELS: [&str; 2] = ["vestibule:snapshots", "vestibule:differences"];
const ANSWER: Duration = Duration::from_secs(10);
const WATCHED: Duration = Duration::from_secs(5);

/// What was pushed in some time.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    bytes: usize,
    /// When the last one of each room was made, on Redis's clock.
    last: BTreeMap<String, u64>,
    /// The milliseconds between two of a room, of all rooms.
    between: Vec<f64>,
}

/// What is read of a snapshot.
#[derive(Debug, Deserialize)]
struct Head {
    room: String,
    now_ms: u64,
}

// === impl Pushes ===

impl Pushes {
    /// Everything that is pushed from now on, for a moment.
    pub(super) async fn watch(redis: &Redis) -> Result<Self> {
        let link = open_link(&redis.url().parse()?, &LinkOptions::new(ANSWER))?;
        let mut messages = link.subscribe(&CHANNELS).await?;
        let (mut pushes, until) = (Self::default(), Instant::now() + WATCHED);
        while let Ok(message) = timeout_at(until, messages.next()).await {
            pushes.take(&message.context("the subscription has ended")?.payload)?;
        }
        Ok(pushes)
    }

    fn take(&mut self, text: &str) -> Result<()> {
        let Head { room, now_ms } = serde_json::from_str(text).context("a snapshot")?;
        self.bytes += text.len();
        if let Some(before) = self.last.insert(room, now_ms) {
            let millis = u32::try_from(now_ms.saturating_sub(before))?;
            self.between.push(f64::from(millis));
        }
        Ok(())
    }

    /// `figures` with these.
    pub(super) fn add_to(mut self, figures: Figures) -> Figures {
        self.between.sort_unstable_by(f64::total_cmp);
        let of_all = |q| quantile(&self.between, q);
        let bytes = count(self.bytes as u64) / WATCHED.as_secs_f64();
        figures
            .add("bytes of snapshots per second, to each service", Unit::Whole, [bytes])
            .add("ms between two snapshots of a room, 99th percentile", Unit::Whole, of_all(0.99))
            .add("ms between two snapshots of a room, most", Unit::Whole, of_all(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_compared_room_by_room() {
        let mut pushes = Pushes::default();
        for (room, now_ms) in [("a", 1_000), ("b", 1_100), ("a", 1_250), ("b", 1_600)] {
            pushes.take(&format!(r#"{{"room":"{room}","now_ms":{now_ms}}}"#)).unwrap();
        }
        assert_eq!(pushes.between, [250.0, 500.0]);
        assert_eq!(pushes.bytes, 4 * 26);
    }
}
