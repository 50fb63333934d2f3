//! What the leader knows of the regions: how many newcomers each had in each minute, and their
//! shares by that. The controller reads the same from the traffic history.

use std::collections::BTreeMap;

use vestibule_domain::{
    plan::TickInput,
    regions::{ByRegion, Shares, minute_of_history},
};

const MINUTE_MS: u64 = 60_000;

/// Newcomers by minute and region.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    minutes: BTreeMap<u64, ByRegion>,
}

// === impl Traffic ===

impl Traffic {
    /// So many newcomers came.
    pub(super) fn note(&mut self, now_ms: u64, region: &str, count: u64) {
        let minute = self.minutes.entry(now_ms / MINUTE_MS).or_default();
        *minute.entry(region.to_owned()).or_default() += count;
    }

    /// The shares in a room as `input` saw it.
    pub(super) fn shares(&mut self, input: &TickInput) -> Shares {
        let minute = minute_of_history(input.now_ms / MINUTE_MS);
        self.minutes = self.minutes.split_off(&minute);
        let newcomers = self.minutes.get(&minute).cloned().unwrap_or_default();
        Shares::from_newcomers(&newcomers, input.usage.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minute_before_last_decides() {
        let mut traffic = Traffic::default();
        traffic.note(0, "eu", 30);
        traffic.note(59_999, "us", 10);
        traffic.note(60_000, "us", 500);
        let mut grants =
            |now_ms| traffic.shares(&TickInput { now_ms, ..TickInput::default() }).divide(8);
        assert_eq!(grants(60_000).regions["eu"], 6, "minute 0 stands for all before it");
        let third = grants(120_000);
        assert_eq!((third.regions["eu"], third.regions["us"]), (6, 2));
        assert_eq!(grants(180_000).regions["us"], 8);
        assert_eq!(grants(240_000).anywhere, 8, "nobody came");
        assert!(traffic.minutes.is_empty(), "what is past is forgotten");
    }
}
