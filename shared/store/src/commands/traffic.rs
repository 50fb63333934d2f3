//! The newest minutes of the traffic history, for those who keep it, and what they put back when Redis has lost it.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, ledger::Figure};

use super::history::{
    KEPT_SECONDS, MINUTES_KEPT_SECONDS, MINUTES_PER_DAY, MinuteTraffic, add, add_row, day_of,
    keys_of_day,
};
use crate::{
    Store, StoreError,
    keys::{REGIONS, RoomKeys},
    scripts,
};

/// So many counts are put back with one call, which takes a fraction of a millisecond.
const AT_ONCE: usize = 500;

/// What was counted in some minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By minute since 1970. Minutes without traffic are left out.
    pub minutes: BTreeMap<u64, MinuteTraffic>,
    /// The first minute, of these or others, that has counts which are not closed yet.
    pub open: Option<u64>,
}

/// Of each count its field in the hash of the history.
type Counts = Vec<(String, u64)>;

#[derive(Serialize)]
struct ReadArguments<'a> {
    first: u64,
    last: u64,
    regions: &'a [String],
}

#[derive(Deserialize)]
struct ReadReply {
    open: Option<u64>,
    counts: Counts,
    rows: Vec<String>,
}

#[derive(Serialize)]
struct RestoreArguments<'a> {
    counts: &'a [(String, u64)],
    minutes_kept_seconds: u64,
    kept_seconds: u64,
}

#[derive(Deserialize)]
struct RestoreReply {
    restored: u64,
}

impl Store {
    /// What was counted in these few minutes (since 1970) for these regions, of one moment for each day.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Rewound`]; otherwise see [`StoreError`].
    pub async fn read_traffic(
        &self,
        room: &RoomId,
        minutes: RangeInclusive<u64>,
        regions: &[String],
    ) -> Result<Traffic, StoreError> {
        let (from, to) = minutes.into_inner();
        let mut traffic = Traffic::default();
        for day in day_of(from)..=day_of(to) {
            let begins = day * MINUTES_PER_DAY;
            let (first, last) = (from.max(begins), to.min(begins + MINUTES_PER_DAY - 1));
            let keys = RoomKeys(room);
            let (history, arguments) =
                ([keys.history(day), keys.minutes(day)], ReadArguments { first, last, regions });
            let reply: ReadReply =
                self.call_with(&scripts::READ_TRAFFIC, room, &history, &arguments).await?;
            for (field, count) in reply.counts {
                add(&mut traffic.minutes, &field, count);
            }
            for row in reply.rows {
                add_row(&mut traffic.minutes, day, &row);
            }
            // What is closed between two readings counts as open, and is read again.
            traffic.open = [traffic.open, reply.open].into_iter().flatten().min();
        }
        Ok(traffic)
    }

    /// Puts back what was counted in these minutes (since 1970), as far as Redis has lost it. Returns how many counts
    /// were too low.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn restore_traffic(
        &self,
        room: &RoomId,
        minutes: &BTreeMap<u64, MinuteTraffic>,
    ) -> Result<u64, StoreError> {
        let mut days: BTreeMap<u64, Counts> = BTreeMap::new();
        for (minute, traffic) in minutes {
            days.entry(day_of(*minute)).or_default().extend(fields(*minute, traffic));
        }
        let mut restored = 0;
        for (day, counts) in days {
            let history = keys_of_day(room, day);
            for some in counts.chunks(AT_ONCE) {
                let arguments = RestoreArguments {
                    counts: some,
                    minutes_kept_seconds: MINUTES_KEPT_SECONDS,
                    kept_seconds: KEPT_SECONDS,
                };
                let reply: RestoreReply =
                    self.call_with(&scripts::RESTORE_TRAFFIC, room, &history, &arguments).await?;
                restored += reply.restored;
            }
        }
        Ok(restored)
    }

    /// The names of all regions that there have been.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn region_names(&self) -> Result<Vec<String>, StoreError> {
        let names: BTreeMap<String, u8> = self.query(redis::cmd("HGETALL").arg(REGIONS)).await?;
        Ok(names.into_keys().collect())
    }
}

/// The field of a figure among what is not closed.
pub(super) fn field(minute: u64, region: &str, figure: Figure) -> String {
    let dot = if region.is_empty() { "" } else { "." };
    format!("{minute}.{}{dot}{region}", figure.code())
}

/// The counts of a minute, each with its field.
fn fields(minute: u64, traffic: &MinuteTraffic) -> Counts {
    let MinuteTraffic { arrivals, admitted, figures } = traffic;
    let arrivals = arrivals.iter().map(|(region, count)| (format!("{minute}.r.{region}"), *count));
    let admitted = (*admitted > 0).then(|| (format!("{minute}.a"), *admitted));
    let others =
        figures.iter().map(|(region, figure, count)| (field(minute, region, figure), count));
    arrivals.chain(admitted).chain(others).collect()
}
