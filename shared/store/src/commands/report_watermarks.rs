//! Bearing witness: services tell Redis what they have seen of a room, so that a store that lost
//! its memory can be given it back.

use vestibule_domain::RoomId;

use super::keys;
use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
    scripts,
};

/// What one service has seen of a room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WatermarkReport {
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The highest queue number.
    pub queue_counter: u64,
    /// The highest serving counter.
    pub serving_counter: i64,
    /// The most sessions that ever began.
    pub admitted: u64,
    /// No more seats than this were taken when so many sessions had begun.
    pub active: u64,
}

impl Store {
    /// Tells Redis what `instance` has seen; says whether Redis holds the room.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn report_watermarks(
        &self,
        room: &RoomId,
        instance: &str,
        seen: &WatermarkReport,
    ) -> Result<bool, StoreError> {
        let mut call =
            Self::untimed(&scripts::REPORT_WATERMARKS, &keys(room, [Part::Line, Part::Watermarks]));
        call.arg(instance).arg(seen.reset_epoch).arg(seen.queue_counter);
        call.arg(seen.serving_counter).arg(seen.admitted).arg(seen.active);
        self.run(&call).await
    }

    /// What every service has seen of a room lately.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn watermark_reports(
        &self,
        room: &RoomId,
    ) -> Result<Vec<WatermarkReport>, StoreError> {
        let key = RoomKeys(room).key(Part::Watermarks);
        let all: Vec<String> = self.query(redis::cmd("HVALS").arg(key)).await?;
        Ok(all.iter().filter_map(|text| parse(text)).collect())
    }
}

fn parse(text: &str) -> Option<WatermarkReport> {
    let mut words = text.split(' ');
    Some(WatermarkReport {
        reset_epoch: words.next()?.parse().ok()?,
        queue_counter: words.next()?.parse().ok()?,
        serving_counter: words.next()?.parse().ok()?,
        admitted: words.next()?.parse().ok()?,
        active: words.next()?.parse().ok()?,
    })
}
