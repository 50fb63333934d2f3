//! Drawing: those who came in a pre-queue get their places, and what proves it is published.

use std::collections::BTreeMap;

use vestibule_domain::{Draw, RoomId, draw::DrawRecord};

use super::{Pool, keys, put_config::json};
use crate::{
    Store, StoreError,
    keys::{Part, RoomKeys},
    scripts,
};

impl Store {
    /// Applies a draw of `pool`, or lets those in it go without one, and publishes `record` under
    /// the pool's draw id; `None`: the draw is yet to come. `draws` are all since the reset, the new
    /// one last; `None`: none was added. Says whether it did: a draw is drawn once. Refused for a
    /// stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn draw(
        &self,
        room: &RoomId,
        epoch: u64,
        pool: &Pool,
        draws: Option<&[Draw]>,
        record: Option<&DrawRecord>,
    ) -> Result<bool, StoreError> {
        let parts = [Part::Line, Part::Settings, Part::Sessions, Part::Rate, Part::Draws];
        let mut call = self.timed(&scripts::DRAW, &keys(room, parts));
        call.arg(room.as_str()).arg(epoch).arg(&pool.draw_id).arg(pool.first).arg(pool.last);
        call.arg(draws.map(|draws| json(&draws)).transpose()?.unwrap_or_default());
        call.arg(record.map(json).transpose()?.unwrap_or_default());
        self.run(&call).await
    }

    /// What is published of the draws of a room, by draw id.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn read_draws(
        &self,
        room: &RoomId,
    ) -> Result<BTreeMap<String, DrawRecord>, StoreError> {
        let key = RoomKeys(room).key(Part::Draws);
        let all: Vec<(String, String)> = self.query(redis::cmd("HGETALL").arg(key)).await?;
        let parse = |(id, text): (String, String)| {
            Ok((id, serde_json::from_str(&text).map_err(StoreError::unexpected)?))
        };
        all.into_iter().map(parse).collect()
    }

    /// Publishes again what a lost store had published.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn restore_draws(
        &self,
        room: &RoomId,
        draws: &BTreeMap<String, DrawRecord>,
    ) -> Result<(), StoreError> {
        let key = RoomKeys(room).key(Part::Draws);
        for (id, record) in draws {
            let mut set = redis::cmd("HSETNX");
            self.query::<()>(set.arg(&key).arg(id).arg(json(record)?)).await?;
        }
        Ok(())
    }
}
