//! Services report to Redis the highest counters that they have seen of a room, so that the leader can
//! restore a room that Redis loses.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, restoration::WatermarkReport};

use crate::{
    Store, StoreError, document,
    keys::{Part, RoomKeys},
    scripts,
};

#[derive(Serialize)]
struct Arguments<'a> {
    instance: &'a str,
    reset_epoch: u64,
    queue_counter: u64,
    report: String,
}

#[derive(Deserialize)]
struct Reply {
    held: bool,
}

impl Store {
    /// Reports what `instance` has seen; returns whether Redis holds the room.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn report_watermarks(
        &self,
        room: &RoomId,
        instance: &str,
        seen: &WatermarkReport,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments {
            instance,
            reset_epoch: seen.reset_epoch,
            queue_counter: seen.queue_counter,
            report: document::text(seen)?,
        };
        let reply: Reply = self.call(&scripts::REPORT_WATERMARKS, room, &arguments).await?;
        Ok(reply.held)
    }

    /// The reports of all services within the last 60 seconds. Those that this release cannot read are
    /// left out.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn watermark_reports(
        &self,
        room: &RoomId,
    ) -> Result<Vec<WatermarkReport>, StoreError> {
        let key = RoomKeys(room).key(Part::Watermarks);
        let all: Vec<String> = self.query(redis::cmd("HVALS").arg(key)).await?;
        Ok(all.iter().filter_map(|text| document::decode(text).ok()).collect())
    }
}
