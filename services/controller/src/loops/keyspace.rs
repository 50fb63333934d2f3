//! Keeping the keyspace whole: the leader migrates it, and brings every room to its latest state when Redis has gone
//! back or has lost it. How one room is brought there is in [`super::reconcile`].
//!
//! The order matters. The schema stamp is lost with the keyspace and is written last, so that a service which starts
//! meanwhile waits. Where a restore was cut short, it stays away until the Redis was emptied.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt, stream};
use tokio::time::{sleep, timeout};
use vestibule_domain::RoomId;
use vestibule_issuance::KeyError;
use vestibule_store::StoreError;

use super::{
    ROOMS_AT_ONCE,
    deletions::Deletions,
    half_restored::HalfRestored,
    patience::Patience,
    reconcile::{reconcile, take_in_the_late},
};
use crate::{
    away::{Away, is_away},
    key_time::key_time,
    leadership::{Role, RoleWatch},
    state::Controller,
};

/// About so many rooms services are asked at a time, which is of how many they tell at a time.
const AT_ONCE: usize = 32;
/// How often the leader checks whether the keyspace is whole.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// A room that is listed, and that nobody knows, is asked about again after so many looks: somebody may have been silent.
const LOOKS: u32 = 20;
/// How long services get to list their rooms again; they do so every 500 ms.
const LISTING: Duration = Duration::from_millis(600);
const RETRY: Duration = Duration::from_millis(500);

/// Keeps the keyspace whole for as long as this instance leads. Ends by itself, which stops the
/// process, only if this release can never lead, such as on the keyspace of a newer release.
pub(super) async fn run(controller: Arc<Controller>) {
    let (mut role, mut half) = (controller.leadership.watch(), HalfRestored::default());
    loop {
        let now = role.see();
        let done = match now {
            Role::Following | Role::Serving(_) => {
                role.changed().await;
                Ok(())
            }
            Role::Settling(epoch) => settle(&controller, epoch, &mut half).await,
            Role::Leading(_) => {
                tokio::select! {
                    biased;
                    () = until_it_does_not_lead(&mut role) => Ok(()),
                    checked = watch(&controller) => checked,
                }
            }
        };
        match done {
            Ok(()) => {}
            Err(error) if error.is_hopeless() => {
                tracing::error!(%error, "this controller cannot lead on this keyspace");
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the keyspace could not be checked or restored");
                sleep(RETRY).await;
            }
        }
    }
}

/// Another list of members changes the term, and nothing else.
async fn until_it_does_not_lead(role: &mut RoleWatch) {
    while role.see().leading().is_some() {
        role.changed().await;
    }
}

/// Makes the keyspace whole; then this instance leads. Of a restore that was cut short nothing can be made.
async fn settle(
    controller: &Controller,
    epoch: u64,
    half: &mut HalfRestored,
) -> Result<(), KeyError> {
    let mut rooms = BTreeSet::new();
    controller.store.remove_foreign_lists().await?;
    if controller.store.check_schema().await? == 0 {
        if half.is_found(controller).await? {
            sleep(RETRY).await;
            return Ok(());
        }
        // Whoever remembers rooms lists them again. A leader without memory must not take a keyspace that was
        // lost for a new one.
        sleep(LISTING).await;
        rooms.extend(controller.store.rooms().await?);
    }
    let (mut unknown, mut deletions) = (BTreeMap::new(), Deletions::default());
    rooms.extend(in_question(controller, &mut unknown, &mut deletions).await?);
    reconcile_all(controller, epoch, rooms).await;
    controller.keys.ensure(key_time(controller).await?).await?;
    if controller.leadership.role().holding() != Some(epoch) {
        return Ok(());
    }
    controller.store.migrate().await?;
    controller.leadership.settled(epoch);
    Ok(())
}

/// Watches for as long as it leads.
async fn watch(controller: &Controller) -> Result<(), KeyError> {
    let (mut unknown, mut deletions) = (BTreeMap::new(), Deletions::default());
    loop {
        // Until somebody finds something wrong, or it is time to look.
        let _ = timeout(CHECK_EVERY, controller.feed.questioned()).await;
        controller.store.remove_foreign_lists().await?;
        if controller.store.check_schema().await? == 0 {
            tracing::warn!("redis has lost the keyspace");
            controller.leadership.unsettled();
            return Ok(());
        }
        let Some(epoch) = controller.leadership.role().leading() else { return Ok(()) };
        // Before rooms are brought to their latest state: who is awaited after that, this instance has not heard yet.
        hear_the_late(controller, epoch).await;
        let rooms = in_question(controller, &mut unknown, &mut deletions).await?;
        reconcile_all(controller, epoch, rooms).await;
    }
}

/// The rooms whose state may not be their latest: those that somebody says so of, those that a tick did not find, and
/// those that are remembered or listed, and not held. `unknown`: how often in a row a room was listed of which this
/// instance knows nothing: it may be about to be created.
async fn in_question(
    controller: &Controller,
    unknown: &mut BTreeMap<RoomId, u32>,
    deletions: &mut Deletions,
) -> Result<BTreeSet<RoomId>, StoreError> {
    let (store, feed) = (&controller.store, &controller.feed);
    let mut rooms = controller.leadership.take_suspects();
    rooms.extend(feed.take_questioned());
    let listed: BTreeSet<RoomId> = store.rooms().await?.into_iter().collect();
    deletions.finish(controller, &listed).await;
    for known in feed.rooms() {
        let room = &known.snapshot().room;
        if !listed.contains(room) {
            rooms.insert(room.clone());
        }
    }
    unknown.retain(|room, _| listed.contains(room) && feed.room(room.as_str()).is_none());
    for room in listed.iter().filter(|room| feed.room(room.as_str()).is_none()) {
        let times = unknown.entry(room.clone()).or_default();
        *times += 1;
        if *times % LOOKS == 2 {
            rooms.insert(room.clone());
        }
    }
    without_deleted(controller, rooms, &listed).await
}

/// Those of `rooms` that were not deleted. That another controller has just deleted one, this instance need not have
/// heard yet; asking everybody what they have seen of it would only hold up who makes a new room of that name. If Redis
/// has lost a later room of it, whoever remembers that lists it again.
async fn without_deleted(
    controller: &Controller,
    mut rooms: BTreeSet<RoomId>,
    listed: &BTreeSet<RoomId>,
) -> Result<BTreeSet<RoomId>, StoreError> {
    let unlisted: Vec<RoomId> = rooms.difference(listed).cloned().collect();
    for room in unlisted {
        let known = controller.feed.room(room.as_str());
        let epoch = known.map_or(0, |known| known.snapshot().reset_epoch);
        let tombstone = controller.store.tombstone(&room).await?;
        if tombstone > 0 && tombstone >= epoch {
            rooms.remove(&room);
            controller.feed.bury(room, tombstone).await;
        }
    }
    Ok(rooms)
}

async fn reconcile_all(controller: &Controller, epoch: u64, rooms: BTreeSet<RoomId>) {
    let (patience, away) = (&Patience::default(), &Away::default());
    let all = stream::iter(rooms).for_each_concurrent(AT_ONCE, |room| async move {
        // Boxed, because it is large.
        let brought = Box::pin(reconcile(controller, epoch, &room, patience));
        if let Err(error) = away.ask(&controller.store, &room, brought).await {
            put_off(controller, epoch, room, &error);
        }
    });
    all.await;
}

/// Takes in what services tell that were silent before. Of a room that has gone back meanwhile not all can be taken in
/// before it is brought to its latest state: that comes next, and no room waits for another.
async fn hear_the_late(controller: &Controller, epoch: u64) {
    let away = &Away::default();
    let all = controller.feed.rooms().into_iter().map(|known| known.snapshot());
    let awaiting = stream::iter(all.filter(|last| !last.awaits.is_empty()));
    let heard = awaiting.for_each_concurrent(ROOMS_AT_ONCE, |last| async move {
        let taken_in = take_in_the_late(controller, epoch, &last);
        if let Err(error) = away.ask(&controller.store, &last.room, taken_in).await {
            put_off(controller, epoch, last.room.clone(), &error);
        }
    });
    heard.await;
}

/// Notes that a room has to be looked at again.
fn put_off(controller: &Controller, epoch: u64, room: RoomId, error: &StoreError) {
    if let StoreError::Fenced { epoch: by } = error {
        controller.leadership.overtaken(epoch, *by);
    } else if !is_away(error) {
        // Of a shard that is away that is said already, and not of each of its rooms.
        tracing::warn!(%room, %error, "a room could not be brought to its latest state");
    }
    controller.leadership.report_suspect(room);
}
