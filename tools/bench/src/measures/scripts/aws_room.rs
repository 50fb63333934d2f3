//! A room of AWS-style clients: as many tokens as are given out in a day, which then expire.

use anyhow::Result;
use vestibule_domain::{RoomSettings, SeatEnds, inlet::MAX_REPORTED};
use vestibule_store::{Departure, EndedAs, JoinMode, Replacing, SessionKind};

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
    visitors_leave(&room, tokens).await?;
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

/// The site tells the inlet of so many at once as it may.
async fn visitors_leave(room: &Room, max_size: u64) -> Result<()> {
    let (ended_as, seat) = (EndedAs::Completed, SeatEnds::WithAwsStyleToken);
    let numbers: Vec<_> = (1..=5 * MAX_REPORTED as u64).collect();
    for (nth, gone) in numbers.chunks(MAX_REPORTED).enumerate() {
        let departures: Vec<_> =
            gone.iter().map(|number| Departure { number: *number, ended_as, seat }).collect();
        let (reset_epoch, departures) = (room.reset_epoch, &*departures);
        let replacing = Replacing { reset_epoch, departures, exited: 0, max_size };
        room.store.replace_gone(&room.name, &format!("report-{nth}"), replacing).await?;
    }
    Ok(())
}
