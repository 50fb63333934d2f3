//! A large room that Redis has lost: what services tell of it, and how it is put together anew; and a million
//! sessions that ended, until they are forgotten.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use vestibule_domain::{
    RoomSettings, RoomSnapshot,
    reconciliation::{Evidence, Finding, Reconciliation, Testimony, UNSEEN_NUMBERS},
    schedule::RoomConfig,
};
use vestibule_store::{Account, Ending, JoinMode, Round, Seat};

use super::{
    Room, ScriptTimes,
    room::{At, EPOCH, ISSUER, KEY},
};

/// Services that tell what they have seen.
const SERVICES: u64 = 3;
const SESSION_SECONDS: u64 = 300;

/// Measures it with so many who wait and as many endings, and so many inside.
pub(super) async fn measure(
    at: At<'_>,
    (waiting, sessions): (u64, u64),
    times: &mut ScriptTimes,
) -> Result<()> {
    let settings = RoomSettings {
        total_active_users: Some(sessions),
        session_duration_seconds: SESSION_SECONDS,
        ..RoomSettings::default()
    };
    let mut room = Room::open(at, settings.clone()).await?;
    room.joins(JoinMode::Enter, sessions + waiting).await?;
    times.skip().await?;
    let last = room.snapshot().await?;
    let config = RoomConfig { settings, version: 1, ..RoomConfig::default() };
    let (seats, endings) = seen(&room, sessions, waiting);
    // Twice: what is there is of before a reset, and is dropped; then it is there already.
    for (name, stored) in [("all-is-lost", None), ("some-is-lost", Some(&last))] {
        let round = Round { room: &room.name, name, epoch: EPOCH };
        is_told(&room, round, &account(name, &last, &seats, &endings)).await?;
        let to = found(stored, &last)?;
        room.store.reconcile(round, &to, &config).await?;
        room.store.rebuild(round, last.reset_epoch, &seats, &endings, Some).await?;
        room.store.reopen(round, Some(&to), &["silent".to_owned()]).await?;
        room.store.dismiss(round, last.reset_epoch, last.progress(), &[], &[]).await?;
        times.read().await?;
    }
    // They are forgotten once their tokens have expired.
    room.seconds(2 * SESSION_SECONDS);
    room.ticks(u32::try_from((waiting + sessions) / 1_000)?).await?;
    times.read().await
}

async fn is_told(room: &Room, round: Round<'_>, account: &Account) -> Result<()> {
    room.store.call_witnesses(round.room, EPOCH, round.name).await?;
    for nth in 0..SERVICES {
        room.store.testify(round.room, &format!("service-{nth}"), account).await?;
    }
    let accounts = room.store.accounts(round.room).await?;
    ensure!(accounts.len() as u64 == SERVICES, "not all have told something");
    for told in accounts.into_values() {
        let told = room.store.whole(round.room, told).await?;
        ensure!(told.as_ref() == Some(account), "not all was told");
    }
    Ok(())
}

/// The seats of the first, and the endings of those after them.
fn seen(room: &Room, sessions: u64, endings: u64) -> (Vec<Seat>, Vec<Ending>) {
    let now = room.clock.now_ms() / 1000;
    let expires_at = now + SESSION_SECONDS;
    let seat = |number| Seat {
        number,
        record: format!("{now}|{expires_at}|0|v|{KEY}||{ISSUER}"),
        expires_at,
        seen_at: (1, 1),
    };
    let ended = sessions + 1..=sessions + endings;
    let endings = ended.map(|number| Ending::of_session(number, expires_at));
    ((1..=sessions).map(seat).collect(), endings.collect())
}

fn account(round: &str, last: &RoomSnapshot, seats: &[Seat], endings: &[Ending]) -> Account {
    Account {
        round: round.to_owned(),
        testimony: Some(testimony(last)),
        config: None,
        draws: BTreeMap::new(),
        seats_epoch: last.reset_epoch,
        seats: seats.to_vec(),
        endings: endings.to_vec(),
        places_epoch: 0,
        places: Vec::new(),
        ..Account::default()
    }
}

fn testimony(last: &RoomSnapshot) -> Testimony {
    Testimony {
        stamp: last.stamp(),
        last: last.clone(),
        queue_counter: last.queue_counter,
        serving_counter: last.serving_counter,
        served_at: last.stamp().age(),
        admitted: last.admitted,
        known_upto: 0,
    }
}

/// What the room is brought to while one service is silent.
fn found(stored: Option<&RoomSnapshot>, last: &RoomSnapshot) -> Result<Box<Reconciliation>> {
    let evidence = Evidence {
        stored,
        is_partial: false,
        testimonies: &[testimony(last)],
        is_one_silent: true,
        is_one_gone: false,
        gap: UNSEEN_NUMBERS,
        unseen: None,
        buried: 0,
    };
    match evidence.find() {
        Finding::IsBehind(to) => Ok(to),
        other => bail!("nothing was lost: {other:?}"),
    }
}
