//! The traffic history: newcomers per minute and region, and admissions per minute.

use std::collections::BTreeMap;

use tokio::time::Instant;
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
};

/// Days that the history reaches back.
pub(super) const DAYS_KEPT: u64 = 30;
pub(super) const MINUTES_PER_DAY: u64 = 24 * 60;
/// How long the history of a day is kept.
pub(super) const KEPT_SECONDS: u64 = (DAYS_KEPT + 1) * MINUTES_PER_DAY * 60;

/// One minute of a room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MinuteTraffic {
    /// Newcomers per region.
    pub arrivals: BTreeMap<String, u64>,
    /// Sessions that began.
    pub admitted: u64,
}

/// The day of a minute, both since 1970.
pub(super) fn day_of(minute: u64) -> u64 {
    minute / MINUTES_PER_DAY
}

impl Store {
    /// The traffic of the minutes `from ..= to` (minutes since 1970) within the last 30 days, the current
    /// minute included. Minutes without traffic are left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn history(
        &self,
        room: &RoomId,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<u64, MinuteTraffic>, StoreError> {
        let today = day_of(self.now_ms().await? / 60_000);
        let first = day_of(from).max(today.saturating_sub(DAYS_KEPT));
        let days = (first..=day_of(to).min(today)).map(|day| RoomKeys(room).history(day));
        let mut minutes = BTreeMap::new();
        for key in days.chain([RoomKeys(room).key(Part::Traffic)]) {
            let counts: Vec<(String, u64)> = self.query(redis::cmd("HGETALL").arg(key)).await?;
            for (field, count) in counts {
                add(&mut minutes, &field, count);
            }
        }
        minutes.retain(|minute, _| (from..=to).contains(minute));
        Ok(minutes)
    }

    /// Redis's time in ms, or the test's.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn now_ms(&self) -> Result<u64, StoreError> {
        if let crate::Clock::Manual(clock) = self.clock() {
            return Ok(clock.now_ms());
        }
        let sent = Instant::now();
        let (seconds, micros): (u64, u64) = self.query(&redis::cmd("TIME")).await?;
        let now_ms = seconds * 1000 + micros / 1000;
        self.note_time(sent, now_ms);
        Ok(now_ms)
    }
}

/// Adds one field, `minute.r.region` or `minute.a`. Other fields, of a newer release, are ignored.
pub(super) fn add(minutes: &mut BTreeMap<u64, MinuteTraffic>, field: &str, count: u64) {
    let mut parts = field.splitn(3, '.');
    let Some(minute) = parts.next().and_then(|minute| minute.parse().ok()) else { return };
    let minute = minutes.entry(minute).or_default();
    match (parts.next(), parts.next()) {
        (Some("r"), Some(region)) => {
            *minute.arrivals.entry(region.to_owned()).or_default() += count;
        }
        (Some("a"), None) => minute.admitted += count,
        _ => {}
    }
}
