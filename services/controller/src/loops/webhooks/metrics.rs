//! The figures of AWS-style rooms, which the original tells once a minute.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use vestibule_domain::{RoomSnapshot, webhook::EventKind};
use vestibule_store::{OutgoingEvent, StoreError};

use crate::{state::Controller, webhooks::news::WaitingRoomMetrics};

const KIND: EventKind = EventKind::WaitingRoomMetrics;
/// So many rooms are looked at at the same time.
const AT_ONCE: usize = 8;

/// The figures of each room whose figures somebody wants, if `now_ms` is in another minute than `told`, which is the one
/// in which they were told last.
pub(super) async fn of_the_minute(
    controller: &Controller,
    told: &mut Option<u64>,
    rooms: &[Arc<RoomSnapshot>],
    now_ms: u64,
) -> Vec<OutgoingEvent> {
    let wanted = rooms.iter().filter(|room| {
        room.settings.aws_style_api && controller.outbox.wants(KIND, room.room.as_str())
    });
    let wanted: Vec<_> = wanted.cloned().collect();
    let minute = Some(now_ms / 60_000).filter(|_| !wanted.is_empty());
    if std::mem::replace(told, minute) == minute {
        return Vec::new();
    }
    let read = stream::iter(wanted).map(async |room| (figures(controller, &room).await, room));
    let event = |(read, room): (Result<_, StoreError>, Arc<RoomSnapshot>)| {
        let room = room.room.as_str();
        // It was deleted, or is about to be brought back.
        let read = read.inspect_err(|error| tracing::debug!(room, %error, "no figures"));
        Some(controller.outbox.event(KIND.name(), room, now_ms, read.ok()?))
    };
    read.buffer_unordered(AT_ONCE).filter_map(async |read| event(read)).collect().await
}

async fn figures(
    controller: &Controller,
    room: &RoomSnapshot,
) -> Result<WaitingRoomMetrics, StoreError> {
    let store = &controller.store;
    // Seats may outlast their sessions; the original counts sessions.
    let kept = store.kept_seats(&room.room).await?;
    let ended = store.ended_sessions(&room.room).await?;
    Ok(WaitingRoomMetrics::new(room, kept, ended))
}
