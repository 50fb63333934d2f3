//! A room of AWS-style clients: as many tokens as are given out in a day, which then expire.

use anyhow::Result;
use vestibule_domain::RoomSettings;
use vestibule_store::{JoinMode, SessionKind};

use super::{
    Room, ScriptTimes,
    room::{At, TOGETHER},
};

/// So many claims of a call fill the room; services send fewer.
const FILLED_TOGETHER: usize = 500;

/// Measures it with so many tokens.
pub(super) async fn measure(at: At<'_>, tokens: u64, times: &mut ScriptTimes) -> Result<()> {
    let mut room = Room::open(at, RoomSettings::default()).await?;
    room.joins(JoinMode::Queue, tokens).await?;
    room.store.increment(&room.name, i64::try_from(tokens)?).await?;
    let numbers: Vec<_> = (1..=tokens).collect();
    room.claims(SessionKind::AwsStyle, &numbers, FILLED_TOGETHER).await?;
    times.skip().await?;
    room.joins(JoinMode::Queue, 20 * TOGETHER).await?;
    room.seconds(2 * 3600);
    for _ in 0..3 {
        room.store.expired_tokens(&room.name).await?;
    }
    room.ticks(3).await?;
    times.read().await?;
    // Then they are forgotten.
    room.seconds(25 * 3600);
    room.ticks(u32::try_from(tokens / 1_000)?).await?;
    times.read().await
}
