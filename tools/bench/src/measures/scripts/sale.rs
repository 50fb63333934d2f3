//! A sale: everything that happens in a room whose seats are all taken while a million wait.

use anyhow::Result;
use vestibule_domain::{
    Place, RoomSettings,
    presence::{Band, Spot},
    schedule::RoomConfig,
};
use vestibule_store::{CallerBindings, GivenUp, JoinMode, MOST_CHECK_INS, SessionKind, Touch};

use super::{
    Room, ScriptTimes,
    room::{At, CLAIMS_TOGETHER, EPOCH, ISSUER, KEY, TOGETHER},
};

/// So many stand at the door in vain.
const AT_DOOR: u64 = 100_000;
/// So often each is called.
const OFTEN: u64 = 20;

/// Measures it with so many who wait, and so many inside.
pub(super) async fn measure(
    at: At<'_>,
    (waiting, sessions): (u64, u64),
    times: &mut ScriptTimes,
) -> Result<()> {
    let settings = RoomSettings { total_active_users: Some(sessions), ..RoomSettings::default() };
    let mut room = Room::open(at, settings.clone()).await?;
    room.joins(JoinMode::Enter, sessions + waiting).await?;
    times.skip().await?;
    room.joins(JoinMode::Enter, OFTEN * TOGETHER).await?;
    visitors_ask(&room, sessions).await?;
    operators_change(&room, settings).await?;
    room.ticks(30).await?;
    times.read().await?;
    the_door_fills(&room, sessions, AT_DOOR.min(waiting / 2)).await?;
    times.read().await?;
    room.leave(1..=TOGETHER * OFTEN).await?;
    room.ticks(10).await?;
    let door: Vec<_> = (sessions + 1..=sessions + TOGETHER * OFTEN).collect();
    room.claims(SessionKind::Visitor, &door, CLAIMS_TOGETHER).await?;
    times.read().await?;
    // Who stands at the door has gone, and others come.
    room.leave(TOGETHER * OFTEN + 1..=2 * TOGETHER * OFTEN).await?;
    room.seconds(4);
    let others: Vec<_> = door.iter().map(|number| number + AT_DOOR.min(waiting / 2) / 2).collect();
    room.claims(SessionKind::Visitor, &others, CLAIMS_TOGETHER).await?;
    times.read().await?;
    // Everybody goes home.
    room.seconds(24 * 3600);
    room.ticks(300).await?;
    times.read().await?;
    room.joins(JoinMode::Enter, sessions).await?;
    times.skip().await?;
    room.store.reset(&room.name).await?;
    times.read().await?;
    room.joins(JoinMode::Enter, sessions + waiting).await?;
    times.skip().await?;
    room.store.delete_room(&room.name, None).await?;
    times.read().await
}

async fn visitors_ask(room: &Room, sessions: u64) -> Result<()> {
    let Room { store, name, reset_epoch, .. } = room;
    let place = |number| Place { number, entered_at: 0, region: 1 };
    for nth in 0..OFTEN {
        let first = nth * TOGETHER + 1;
        let touch = |number| Touch {
            reset_epoch: *reset_epoch,
            number,
            position: number,
            generation: 1,
            issued_at: 0,
            expires_at: 0,
            max_session_seconds: None,
            caller: CallerBindings::default(),
        };
        let touches: Vec<_> = (first..first + TOGETHER).map(touch).collect();
        store.touch(name, KEY, ISSUER, &touches).await?;
        let waiting = sessions + first;
        let many = MOST_CHECK_INS as u64;
        let spots = (waiting..waiting + many).map(|number| (Spot::Position(number), band()));
        store.check_in(name, *reset_epoch, spots).await?;
        let last = room.snapshot().await?.queue_counter - nth * TOGETHER;
        let given_up = |number| GivenUp { number, position: Some(number), network: None };
        let places: Vec<_> = (last - TOGETHER + 1..=last).map(given_up).collect();
        store.give_up(name, (*reset_epoch, 0), &places).await?;
        store.position_expiry(name, *reset_epoch, &place(first), first).await?;
        store.extend_claim_window(name, *reset_epoch, first).await?;
    }
    Ok(())
}

fn band() -> Band {
    Band::for_interval(1_000)
}

async fn operators_change(room: &Room, settings: RoomSettings) -> Result<()> {
    let Room { store, name, clock, .. } = room;
    for _ in 0..OFTEN {
        store.read_config(name).await?;
        let config = RoomConfig { settings: settings.clone(), ..RoomConfig::default() };
        store.put_config(name, &config).await?;
        room.seconds(60);
        let minute = clock.now_ms() / 60_000;
        store.roll_up(name, EPOCH, minute / (24 * 60), minute - 1).await?;
    }
    Ok(())
}

/// An operator serves far more than there are seats, takes it back, and serves them again, bit by bit.
async fn the_door_fills(room: &Room, sessions: u64, at_door: u64) -> Result<()> {
    let served = i64::try_from(at_door)?;
    for _ in 0..3_000 {
        room.store.increment(&room.name, served / 3_000).await?;
        room.clock.advance_ms(100);
    }
    room.store.increment(&room.name, -served).await?;
    room.store.increment(&room.name, served).await?;
    let door: Vec<_> = (sessions + 1..=sessions + at_door).collect();
    room.claims(SessionKind::Visitor, &door, CLAIMS_TOGETHER).await
}
