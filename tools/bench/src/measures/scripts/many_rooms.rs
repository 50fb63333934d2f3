//! A thousand rooms, created, changed and deleted.

use anyhow::Result;
use vestibule_domain::{Announcement, RoomSettings};

use super::{Room, ScriptTimes, room::At};

const ROOMS: usize = 1_000;
/// Services that run.
const SERVICES: usize = 50;

/// Measures it.
pub(super) async fn measure((store, clock, _): At<'_>, times: &mut ScriptTimes) -> Result<()> {
    let mut rooms = Vec::with_capacity(ROOMS);
    for nth in 0..ROOMS {
        let name = format!("room-{nth}");
        let at = (store.clone(), clock.clone(), &*name);
        rooms.push(Room::open(at, RoomSettings::default()).await?);
        clock.advance_ms(1);
    }
    for room in &rooms {
        store.note_change(&room.name).await?;
    }
    for nth in 0..SERVICES {
        let instance = format!("service-{nth}");
        store.announce(&instance, Announcement::OURS).await?;
        store.take_changes(&instance, Some(0)).await?;
        store.lagging(u64::MAX).await?;
    }
    for room in &mut rooms {
        room.ticks(1).await?;
        store.delete_room(&room.name, None).await?;
    }
    times.read().await
}
