//! The draw: visitors of a pre-queue get their places, and the record that proves it is published.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::{
    Draw, RoomId,
    draw::{DrawRecord, Pool},
};

use crate::{
    Store, StoreError, document,
    keys::{Part, RoomKeys},
    scripts,
};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    draw_id: &'a str,
    pool_first: u64,
    pool_last: u64,
    draws: Option<String>,
    record: Option<String>,
    reset_epoch: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    applied: bool,
}

impl Store {
    /// Applies a draw of `pool`, or releases the pool without one.
    ///
    /// `draws`: all draws since the reset, the new one last; `None`: no draw is added. `record` is
    /// published under the pool's draw id; `None`: nothing is published, so the draw may still take
    /// place. Returns `false` if the draw id was drawn before, the pool has changed, or the room is of another reset epoch
    /// than the record. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn draw(
        &self,
        room: &RoomId,
        epoch: u64,
        pool: &Pool,
        draws: Option<&[Draw]>,
        record: Option<&DrawRecord>,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments {
            room,
            leader_epoch: epoch,
            draw_id: &pool.draw_id,
            pool_first: pool.first,
            pool_last: pool.last,
            draws: draws.map(|draws| document::text(&draws)).transpose()?,
            record: record.map(document::text).transpose()?,
            reset_epoch: record.and_then(|record| record.reset_epoch),
        };
        let reply: Reply = self.call(&scripts::DRAW, room, &arguments).await?;
        Ok(reply.applied)
    }

    /// The published records of a room's draws, by draw id.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_draws(
        &self,
        room: &RoomId,
    ) -> Result<BTreeMap<String, DrawRecord>, StoreError> {
        let key = RoomKeys(room).key(Part::Draws);
        let all: Vec<(String, String)> = self.query(redis::cmd("HGETALL").arg(key)).await?;
        let parse = |(id, text): (String, String)| Ok((id, document::decode(&text)?));
        all.into_iter().map(parse).collect()
    }

    /// Publishes the records again that a lost store had held.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn restore_draws(
        &self,
        room: &RoomId,
        draws: &BTreeMap<String, DrawRecord>,
    ) -> Result<(), StoreError> {
        let key = RoomKeys(room).key(Part::Draws);
        for (id, record) in draws {
            let mut set = redis::cmd("HSETNX");
            self.query::<()>(set.arg(&key).arg(id).arg(document::text(record)?)).await?;
        }
        Ok(())
    }
}
