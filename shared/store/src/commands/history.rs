//! The history: newcomers per minute and region, admissions per minute, and other figures. Minutes are kept for two days,
//! five minutes for thirty.

use std::collections::BTreeMap;

use vestibule_domain::{
    RoomId,
    ledger::{COARSE_MINUTES, Figure, Figures},
};

use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
};

/// Days that the history reaches back.
pub(super) const DAYS_KEPT: u64 = 30;
pub(super) const MINUTES_PER_DAY: u64 = 24 * 60;
/// How long the history of a day is kept.
pub(super) const KEPT_SECONDS: u64 = (DAYS_KEPT + 1) * MINUTES_PER_DAY * 60;
/// How long minutes are kept after the last one of their day was closed.
pub(super) const MINUTES_KEPT_SECONDS: u64 = 2 * MINUTES_PER_DAY * 60;

/// One minute of a room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MinuteTraffic {
    /// Newcomers per region.
    pub arrivals: BTreeMap<String, u64>,
    /// Sessions that began.
    pub admitted: u64,
    /// All other figures.
    pub figures: Figures,
}

/// The day of a minute, both since 1970.
pub(super) fn day_of(minute: u64) -> u64 {
    minute / MINUTES_PER_DAY
}

impl Store {
    /// What was counted in the minutes `from ..= to` (minutes since 1970), the current minute included. Minutes of which
    /// nothing is known are left out: those without people, and most of before two days.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn history(
        &self,
        room: &RoomId,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<u64, MinuteTraffic>, StoreError> {
        let mut minutes = BTreeMap::new();
        let keys = RoomKeys(room);
        for day in self.days(room, from, to).await? {
            for (field, count) in self.hash::<u64>(&keys.history(day)).await? {
                add(&mut minutes, &field, count);
            }
            for text in self.hash::<String>(&keys.minutes(day)).await?.into_values() {
                text.lines().for_each(|row| add_row(&mut minutes, day, row));
            }
        }
        for part in [Part::Traffic, Part::Counts] {
            for (field, count) in self.hash::<u64>(&keys.key(part)).await? {
                add(&mut minutes, &field, count);
            }
        }
        minutes.retain(|minute, _| (from..=to).contains(minute));
        Ok(minutes)
    }

    /// What was counted in these minutes, as it is kept for longer: by [`COARSE_MINUTES`], each by the first of them.
    /// What is not closed yet is left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn ledger(
        &self,
        room: &RoomId,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<u64, Figures>, StoreError> {
        let mut ledger = BTreeMap::new();
        for day in self.days(room, from, to).await? {
            for text in self.hash::<String>(&RoomKeys(room).ledger(day)).await?.into_values() {
                let rows = text.lines().filter_map(read_row);
                let at = |slot| day * MINUTES_PER_DAY + slot * COARSE_MINUTES;
                ledger.extend(rows.map(|(slot, figures)| (at(slot), figures)));
            }
        }
        ledger.retain(|minute, _| (from..=to).contains(minute));
        Ok(ledger)
    }

    /// The days of these minutes, as far as the room's history reaches.
    async fn days(
        &self,
        room: &RoomId,
        from: u64,
        to: u64,
    ) -> Result<std::ops::RangeInclusive<u64>, StoreError> {
        let today = day_of(self.now_ms_in(room).await? / 60_000);
        Ok(day_of(from).max(today.saturating_sub(DAYS_KEPT))..=day_of(to).min(today))
    }

    async fn hash<T: redis::FromRedisValue>(
        &self,
        key: &str,
    ) -> Result<BTreeMap<String, T>, StoreError> {
        self.query(redis::cmd("HGETALL").arg(key)).await
    }
}

/// The keys that a minute of this day is closed into: newcomers and admissions, other figures, and the ledger.
pub(super) fn keys_of_day(room: &RoomId, day: u64) -> [String; 3] {
    let keys = RoomKeys(room);
    [keys.history(day), keys.minutes(day), keys.ledger(day)]
}

/// Adds one field: `minute.r.region`, `minute.a`, or `minute.figure` and perhaps a region. Others, of a newer release, are
/// ignored.
pub(super) fn add(minutes: &mut BTreeMap<u64, MinuteTraffic>, field: &str, count: u64) {
    let mut parts = field.splitn(3, '.');
    let Some(minute) = parts.next().and_then(|minute| minute.parse().ok()) else { return };
    let (Some(figure), region) = (parts.next(), parts.next()) else { return };
    match (figure, region) {
        ("r", Some(region)) => {
            let traffic: &mut MinuteTraffic = minutes.entry(minute).or_default();
            *traffic.arrivals.entry(region.to_owned()).or_default() += count;
        }
        ("a", None) => minutes.entry(minute).or_default().admitted += count,
        (code, region) => {
            let Some(figure) = Figure::of_code(code) else { return };
            minutes.entry(minute).or_default().figures.add(region.unwrap_or(""), figure, count);
        }
    }
}

/// Adds a row of closed figures of a minute of `day`.
pub(super) fn add_row(minutes: &mut BTreeMap<u64, MinuteTraffic>, day: u64, row: &str) {
    if let Some((slot, figures)) = read_row(row) {
        let minute = minutes.entry(day * MINUTES_PER_DAY + slot).or_default();
        minute.figures.add_all(&figures);
    }
}

/// A row, as `scripts/lib/ledger.lua` writes it: its slot and its figures. Figures of a newer release are left out.
fn read_row(row: &str) -> Option<(u64, Figures)> {
    let mut parts = row.split('|');
    let slot = parts.next()?.parse().ok()?;
    let (mut figures, mut region) = (Figures::default(), "");
    while let Some(counts) = parts.next() {
        for count in counts.split(',') {
            let Some((code, count)) = count.split_at_checked(2) else { continue };
            if let (Some(figure), Ok(count)) = (Figure::of_code(code), count.parse()) {
                figures.add(region, figure, count);
            }
        }
        region = parts.next().unwrap_or("");
    }
    Some((slot, figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_far_as_it_is_known() {
        let (slot, figures) = read_row("754|q012,i03,y99|eu|r05,w02|us|t11").unwrap();
        let read: Vec<_> = figures.iter().collect();
        let expected = [
            ("", Figure::Waiting, 12),
            ("", Figure::Inside, 3),
            ("eu", Figure::Arrived, 5),
            ("eu", Figure::Waited(0), 2),
            ("us", Figure::Told(1), 1),
        ];
        assert_eq!((slot, &*read), (754, &expected[..]));
        assert_eq!(
            read_row("7|").map(|(slot, figures)| (slot, figures.is_empty())),
            Some((7, true))
        );
        assert!(read_row("").is_none() && read_row("x|q01").is_none());
    }
}
