//! Moves of the serving counters of AWS-style rooms that no operator has made, as the original tells them. Whoever has made
//! one (a tick, an expired position, a newcomer), it is found here.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::{StreamExt, stream};
use vestibule_domain::{RoomId, RoomSnapshot, room_news::ServingWatch, webhook::EventKind};
use vestibule_store::OutgoingEvent;

use crate::{state::Controller, webhooks::news::AutomaticIncrement};

const KIND: EventKind = EventKind::AutomaticServingCounterIncr;
/// So many rooms are looked at at the same time.
const AT_ONCE: usize = 8;

/// Sees those that somebody wants to be told of, and what has moved. Of those whose counter stands where it stood Redis is
/// not asked.
pub(super) async fn see(
    controller: &Controller,
    watches: &mut BTreeMap<RoomId, ServingWatch>,
    rooms: &[Arc<RoomSnapshot>],
    now_ms: u64,
) -> Vec<OutgoingEvent> {
    let mut before = std::mem::take(watches);
    let wanted = rooms.iter().filter(|room| {
        room.settings.aws_style_api && controller.outbox.wants(KIND, room.room.as_str())
    });
    let mut moved = Vec::new();
    for room in wanted {
        let known = before.remove(&room.room);
        if !known.is_some_and(|known| stands(&known, room)) {
            moved.push(room.room.clone());
        }
        watches.extend(known.map(|known| (room.room.clone(), known)));
    }
    let read = stream::iter(moved).map(async |room| {
        let read = controller.store.serving(&room).await;
        // It was deleted, or is about to be brought back; the next look goes on from the last one.
        let read =
            read.inspect_err(|error| tracing::debug!(%room, %error, "a counter was not read"));
        (room, read.ok())
    });
    let read: Vec<_> = read.buffer_unordered(AT_ONCE).collect().await;
    let mut events = Vec::new();
    for (room, now) in read {
        let Some(now) = now else { continue };
        if let Some(moved) = watches.entry(room.clone()).or_insert(now).see(now) {
            let data = AutomaticIncrement::new(moved.before, moved.after);
            events.push(controller.outbox.event(KIND.name(), room.as_str(), now_ms, data));
        }
    }
    events
}

fn stands(watch: &ServingWatch, room: &RoomSnapshot) -> bool {
    watch.reset_epoch == room.reset_epoch && watch.serving_counter == room.serving_counter
}
