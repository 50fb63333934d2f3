//! The figures of AWS-style rooms, which the original tells once a minute.

use std::sync::Arc;

use vestibule_domain::{RoomSnapshot, webhook::EventKind};
use vestibule_store::StoreError;

use crate::{state::Controller, webhooks::news::WaitingRoomMetrics};

/// In which minute they were told last.
#[derive(Debug, Default)]
pub(super) struct MinuteFigures {
    minute: u64,
}

// === impl MinuteFigures ===

impl MinuteFigures {
    /// Tells them of each room whose figures somebody wants, once a minute. A new leader tells those of its first minute
    /// once more.
    pub(super) async fn tell(
        &mut self,
        controller: &Controller,
        rooms: &[Arc<RoomSnapshot>],
        now_ms: u64,
    ) -> Result<(), StoreError> {
        let minute = now_ms / 60_000;
        if std::mem::replace(&mut self.minute, minute) == minute {
            return Ok(());
        }
        let kind = EventKind::WaitingRoomMetrics;
        let is_wanted = |room: &&Arc<RoomSnapshot>| {
            room.settings.aws_style_api && controller.outbox.wants(kind, room.room.as_str())
        };
        for room in rooms.iter().filter(is_wanted) {
            match figures(controller, room).await {
                Ok(told) => controller.outbox.post(kind, room.room.as_str(), now_ms, told),
                // It was deleted, or is about to be brought back.
                Err(StoreError::RoomMissing | StoreError::Rewound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
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
