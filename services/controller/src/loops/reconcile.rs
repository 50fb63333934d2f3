//! Bringing one room to its latest state, when Redis may have gone back to an older one, or has lost it: the leader asks
//! every service what it has seen, and the domain decides what follows (`domain/reconciliation`).

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use tokio::time::{Instant, sleep};
use vestibule_domain::{
    Progress, RoomId, RoomSnapshot, Stamp,
    reconciliation::{Evidence, Finding, Reconciliation, Testimony, gap, newest_config},
    schedule::RoomConfig,
};
use vestibule_store::{
    Account, Called, Ending, InletAlarm, PlacesPage, PutOutcome, Round, Seat, Store, StoreError,
    is_controller,
};

use super::{history::put_back_newest, patience::Patience, silence::Heard};
use crate::state::Controller;

/// How often the leader looks whether all have.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Brings `room` to its latest state.
///
/// # Errors
/// See [`StoreError`].
pub(super) async fn reconcile(
    controller: &Controller,
    epoch: u64,
    room: &RoomId,
    patience: &Patience,
) -> Result<(), StoreError> {
    let done = try_to(controller, epoch, room, patience).await;
    // A key that only this needs may be none of ours: without it the next attempt is better.
    if done.as_ref().is_err_and(StoreError::is_of_another_type) {
        controller.store.remove_foreign(room).await?;
    }
    done
}

async fn try_to(
    controller: &Controller,
    epoch: u64,
    room: &RoomId,
    patience: &Patience,
) -> Result<(), StoreError> {
    let store = &controller.store;
    if is_well(controller, room).await? {
        return Ok(());
    }
    // Before anything is heard of what may be an older state.
    let own = controller.feed.room(room.as_str()).map(|known| known.heard());
    controller.feed.learn_who_runs().await?;
    // The last look at all of them may have been at another server.
    let tombstone = store.tombstone(room).await?;
    let name = format!("{}-{epoch}", controller.next_round());
    let round = Round { room, name: &name, epoch };
    let called = store.call_witnesses(room, epoch, &name).await?;
    let (accounts, silent) = hear(controller, round, (own, &called), patience).await?;
    // Redis may have lost the tombstone, too.
    let buried = accounts.values().map(|account| account.buried).fold(tombstone, u64::max);
    if buried > 0 {
        controller.feed.bury(room.clone(), buried).await;
    }
    let testimonies: Vec<Testimony> =
        accounts.values().filter_map(|account| account.testimony.clone()).collect();
    let Called { stored, is_partial, unseen, .. } = &called;
    let evidence = Evidence {
        stored: stored.as_ref(),
        is_partial: *is_partial,
        testimonies: &testimonies,
        is_one_silent: !silent.is_empty(),
        is_one_gone: is_one_gone(controller, longest_session(&called, &accounts), &accounts),
        gap: gap(sides_before(&controller.instance, &silent), chance(&name)),
        unseen: *unseen,
        buried: controller.feed.buried_upto(room).await,
    };
    match evidence.find() {
        Finding::Unknown => {
            store.end_round(room).await?;
            if silent.is_empty() {
                make_anew_or_unlist(store, room, called, buried).await?;
            }
            controller.feed.has_answered(room);
            Ok(())
        }
        Finding::IsLatest => {
            if store.reopen(round, None, &[]).await? {
                tracing::info!(%room, "redis has lost nothing of a room");
            }
            Ok(())
        }
        Finding::IsBehind(mut to) => {
            let is_partial = called.is_partial && !to.begins_anew;
            let config = config_for(&to, evidence.buried, &accounts, called);
            to.lasts_for(config.longest_session_seconds(to.latest.now_ms));
            bring(controller, round, (&to, &config, is_partial), &accounts, &silent).await
        }
    }
}

/// Nobody knows anything of such a room. If Redis has its settings, its state was lost while nobody was there: it begins
/// anew. Otherwise it was never there: its creation has failed, or is under way. Whoever knows it by now lists it again.
async fn make_anew_or_unlist(
    store: &Store,
    room: &RoomId,
    called: Called,
    buried: u64,
) -> Result<(), StoreError> {
    // They may be what was left of a room that was deleted, or of one that was made since.
    let is_deleted = buried > 0 && called.created_epoch.is_none_or(|created| created <= buried);
    let Some(config) = called.config.filter(|_| !is_deleted) else {
        return store.unlist_room(room).await;
    };
    if store.put_config(room, &config).await? == PutOutcome::Created {
        tracing::error!(%room, "redis has lost all of a room but its settings, and nobody remembers it: it begins anew");
    }
    Ok(())
}

/// Whether there is nothing to do: the room is held, and nobody has found anything wrong with it.
async fn is_well(controller: &Controller, room: &RoomId) -> Result<bool, StoreError> {
    match controller.store.read_snapshot(room).await {
        Ok(found) => Ok(found.is_some()),
        Err(StoreError::Rewound) => Ok(false),
        Err(error) => {
            let may_be_foreign = matches!(error, StoreError::Unexpected(_));
            if may_be_foreign && controller.store.remove_foreign(room).await? {
                return Ok(false);
            }
            Err(error)
        }
    }
}

/// What the services say, by their names; and who is silent though it may have seen something that no other has: who was
/// there after the leader had heard last of the latest state. Of a state on the other side of a split the leader has
/// heard nothing, so then it is everybody. Those who were silent the last time may speak now. What somebody said in a
/// round that was not ended counts, though it may be silent in this one.
async fn hear(
    controller: &Controller,
    round: Round<'_>,
    (own, called): (Option<(Stamp, Instant)>, &Called),
    patience: &Patience,
) -> Result<(BTreeMap<String, Account>, Vec<String>), StoreError> {
    let asked = Instant::now();
    let mut heard_of = BTreeSet::new();
    let store = &controller.store;
    let (stored, stopped) = (called.stored.as_ref(), store.stopped_within(called).await?);
    controller.feed.testify(round.room).await?;
    loop {
        let accounts = store.accounts(round.room).await?;
        let answers =
            |(_, account): &(&String, &Account)| account.round == round.name || account.is_last;
        let told: BTreeMap<_, _> =
            accounts.iter().filter(answers).map(|(name, it)| (name.clone(), it)).collect();
        for name in told.keys().filter(|name| heard_of.insert((*name).clone())) {
            patience.note(name);
        }
        let heard = Heard { own: own.as_ref(), stored, stopped: &stopped, accounts: &told };
        let silent = heard.silent(|moment| controller.feed.witnesses_after(moment));
        if patience.is_over(asked, silent.iter().chain(heard.awaited_before())) {
            return whole(store, round.room, accounts, silent).await;
        }
        sleep(LOOK_EVERY).await;
    }
}

/// For how long, in seconds, a session may last, as far as anybody knows: by what was seen in force, and by events whose
/// sessions may still run.
fn longest_session(called: &Called, accounts: &BTreeMap<String, Account>) -> u64 {
    let told = accounts.values().filter_map(|account| Some(&account.testimony.as_ref()?.last));
    let states: Vec<&RoomSnapshot> = called.stored.iter().chain(told).collect();
    let now_ms = states.iter().map(|state| state.now_ms).max().unwrap_or(0);
    let in_force = states.iter().map(|state| state.settings.session_duration_seconds);
    let told = accounts.values().filter_map(|account| account.config.as_ref());
    let configs = called.config.iter().chain(told);
    let of_events = configs.map(|config| config.longest_session_seconds(now_ms));
    in_force.chain(of_events).max().unwrap_or(0)
}

/// Whether anybody but those who have told something may have renewed a session, of which each lasts for up to `session`
/// seconds, that has not ended since: controllers renew none.
fn is_one_gone(
    controller: &Controller,
    session: u64,
    accounts: &BTreeMap<String, Account>,
) -> bool {
    let there = controller.feed.witnesses_within(Duration::from_secs(session));
    there.is_none_or(|there| {
        there.iter().any(|name| !is_controller(name) && !accounts.contains_key(name))
    })
}

/// How many of the `silent` are controllers that come before this one by name: each may lead on another side of a split,
/// and there this one is silent.
fn sides_before(own: &str, silent: &[String]) -> u64 {
    let before = |name: &&String| is_controller(name) && name.as_str() < own;
    silent.iter().filter(before).count() as u64
}

/// A number that no other round has, which is named after this instance and its count of rounds.
fn chance(round: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    round.hash(&mut hasher);
    hasher.finish()
}

/// The accounts with all that they tell. Of whom a part is lost counts as silent.
async fn whole(
    store: &Store,
    room: &RoomId,
    told: BTreeMap<String, Account>,
    mut silent: Vec<String>,
) -> Result<(BTreeMap<String, Account>, Vec<String>), StoreError> {
    let mut accounts = BTreeMap::new();
    for (name, account) in told {
        match store.whole(room, account).await? {
            Some(account) => drop(accounts.insert(name, account)),
            None => silent.push(name),
        }
    }
    Ok((accounts, silent))
}

async fn bring(
    controller: &Controller,
    round: Round<'_>,
    (to, config, is_partial): (&Reconciliation, &RoomConfig, bool),
    accounts: &BTreeMap<String, Account>,
    silent: &[String],
) -> Result<(), StoreError> {
    let store = &controller.store;
    if !store.reconcile(round, to, config).await? {
        return Ok(());
    }
    for account in accounts.values() {
        store.restore_draws(round.room, &account.draws).await?;
        store.restore_calls(round.room, &account.calls).await?;
        if let Some(alarm) = account.alarm {
            store.restore_alarm(round.room, alarm).await?;
        }
    }
    restore_places(store, round.room, to.latest.reset_epoch, accounts.values()).await?;
    let (mut seats, endings) = seen(accounts.values(), to.latest.reset_epoch);
    if is_partial {
        add_missing(&mut seats, store.seats_on_record(round.room).await?);
    }
    let position = |number| to.latest.position(number);
    if !store.rebuild(round, to.latest.reset_epoch, &seats, &endings, position).await? {
        return Ok(());
    }
    put_back_newest(controller, round.room, &to.latest).await?;
    if store.reopen(round, Some(to), silent).await? {
        controller.metrics.restorations.inc();
        if let Ok(now_ms) = store.now_ms().await {
            controller.note_restored(now_ms);
        }
        let (room, queue_counter, accounts) = (round.room, to.queue_counter, accounts.len());
        let seats = seats.len();
        tracing::warn!(%room, queue_counter, seats, accounts, ?silent, "redis had gone back: a room was brought to its latest state");
    }
    Ok(())
}

/// Puts back which places are over, as far as anybody has seen since the reset; and which are AWS-style visitors', as
/// who knows most of that has seen last.
async fn restore_places(
    store: &Store,
    room: &RoomId,
    reset_epoch: u64,
    accounts: impl Iterator<Item = &Account>,
) -> Result<(), StoreError> {
    let of_epoch = |account: &&Account| account.places_epoch == reset_epoch;
    let accounts: Vec<&Account> = accounts.filter(of_epoch).collect();
    let knows =
        |account: &Account| account.testimony.as_ref().map(|one| (one.known_upto, one.stamp.age()));
    let most = accounts.iter().map(|account| knows(account)).max().flatten();
    for account in accounts {
        let is_told = |page: &&PlacesPage| !page.is_of_unattended() || knows(account) == most;
        let pages: Vec<_> = account.places.iter().filter(is_told).cloned().collect();
        store.restore_places(room, reset_epoch, &pages).await?;
    }
    Ok(())
}

/// The newest config that anybody or Redis has; if nobody has read it: the settings of the last snapshot, without
/// events.
fn config_for(
    to: &Reconciliation,
    buried: u64,
    accounts: &BTreeMap<String, Account>,
    called: Called,
) -> RoomConfig {
    let told = accounts.values().filter_map(|account| {
        Some((account.testimony.as_ref()?.stamp.reset_epoch, account.config.clone()?))
    });
    // Of a room whose line is lost, the settings say only with which epoch it began.
    let stored_in = called.stored.map(|stored| stored.reset_epoch).or(called.created_epoch);
    let stored = stored_in.zip(called.config);
    newest_config(told.chain(stored), buried).unwrap_or_else(|| RoomConfig {
        version: to.latest.config_version,
        settings: to.latest.settings.clone(),
        ..RoomConfig::default()
    })
}

/// The seats and endings that were seen, each once.
fn seen<'a>(
    accounts: impl Iterator<Item = &'a Account>,
    reset_epoch: u64,
) -> (Vec<Seat>, Vec<Ending>) {
    let (mut seats, mut endings) = (BTreeMap::<u64, Seat>::new(), BTreeMap::<u64, Ending>::new());
    for account in accounts.filter(|account| account.seats_epoch == reset_epoch) {
        for seat in &account.seats {
            let known = seats.entry(seat.number).or_insert_with(|| seat.clone());
            if known.seen_at < seat.seen_at {
                *known = seat.clone();
            }
        }
        for ending in &account.endings {
            let known = endings.entry(ending.number).or_insert(*ending);
            *known = known.or(*ending);
        }
    }
    (seats.into_values().collect(), endings.into_values().collect())
}

/// Adds those of which no service has told.
fn add_missing(seats: &mut Vec<Seat>, on_record: Vec<Seat>) {
    let told: BTreeSet<u64> = seats.iter().map(|seat| seat.number).collect();
    seats.extend(on_record.into_iter().filter(|seat| !told.contains(&seat.number)));
}

/// Takes in what services tell that were silent when the room was brought to its latest state, `last`, and are awaited.
///
/// # Errors
/// See [`StoreError`]; [`StoreError::Rewound`] if the room has to be brought there anew.
pub(super) async fn take_in_the_late(
    controller: &Controller,
    epoch: u64,
    last: &RoomSnapshot,
) -> Result<(), StoreError> {
    let store = &controller.store;
    let accounts = store.accounts(&last.room).await?;
    let late = accounts.into_iter().filter(|(name, _)| last.awaits.contains(name)).collect();
    let (late, _) = whole(store, &last.room, late, Vec::new()).await?;
    if late.is_empty() {
        return Ok(());
    }
    for account in late.values() {
        store.restore_calls(&last.room, &account.calls).await?;
        if let Some(InletAlarm { alarm, at_ms }) = account.alarm {
            store.note_alarm(&last.room, alarm, Some(at_ms)).await?;
        }
    }
    restore_places(store, &last.room, last.reset_epoch, late.values()).await?;
    let (seats, endings) = seen(late.values(), last.reset_epoch);
    let round = Round { room: &last.room, name: "", epoch };
    let reset_epoch = last.reset_epoch;
    let position = |number| last.position(number);
    if !store.rebuild(round, reset_epoch, &seats, &endings, position).await? {
        return Ok(());
    }
    let of_epoch = |account: &&Account| {
        account.testimony.as_ref().is_some_and(|one| one.stamp.reset_epoch == reset_epoch)
    };
    let told: Vec<&Account> = late.values().filter(of_epoch).collect();
    let testimonies = || told.iter().filter_map(|account| account.testimony.as_ref());
    let seen = Progress {
        queue_counter: testimonies().map(|one| one.queue_counter).max().unwrap_or(0),
        admitted: testimonies().map(|one| one.admitted).max().unwrap_or(0),
    };
    let left_out: Vec<_> = told.iter().flat_map(|account| account.left_out.clone()).collect();
    let awaits: Vec<String> =
        last.awaits.iter().filter(|name| !late.contains_key(*name)).cloned().collect();
    store.dismiss(round, reset_epoch, seen, &left_out, &awaits).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vestibule_domain::{Announcement, RoomSettings, schedule::RoomConfig};
    use vestibule_store::{Clock, ManualClock};

    use super::*;
    use crate::parted::{Parted, START_MS};

    #[tokio::test(start_paused = true)]
    async fn settings_that_nobody_has_read_outlive_the_line_of_their_room() {
        let clock = ManualClock::at(START_MS);
        let (parted, controller) = Parted::with_controller(&clock);
        let (store, room) = (&controller.store, RoomId::new("a-1").unwrap());
        store.create_room(&room, &RoomConfig::default()).await.unwrap();
        controller.feed.refresh().await.unwrap();
        let settings = RoomSettings { total_active_users: Some(7), ..RoomSettings::default() };
        let changed = RoomConfig { settings, ..RoomConfig::default() };
        assert_eq!(store.put_config(&room, &changed).await.unwrap(), PutOutcome::Changed);
        parted.lose("vestibule:room:{a-1}:line");
        reconcile(&controller, 1, &room, &Patience::default()).await.unwrap();
        let kept = store.read_config(&room).await.unwrap();
        assert_eq!(kept, Some(RoomConfig { version: 2, ..changed }));
    }

    /// All of them died with Redis, which came back without the last that they had written.
    #[tokio::test(start_paused = true)]
    async fn who_died_with_redis_is_awaited_however_late_others_come() {
        for seconds in [10, 50, 70, 3_600] {
            let clock = ManualClock::at(START_MS);
            let (parted, controller) = Parted::with_controller(&clock);
            let (store, room) = (&controller.store, RoomId::new("a-1").unwrap());
            let dead = Store::over(Arc::clone(&parted) as _, Clock::Manual(clock.clone()));
            dead.create_room(&room, &RoomConfig::default()).await.unwrap();
            dead.announce("admission-dead", Announcement::OURS).await.unwrap();
            parted.is_run(&"1".repeat(40));
            clock.advance_ms(seconds * 1_000);
            reconcile(&controller, 1, &room, &Patience::default()).await.unwrap();
            let found = store.read_snapshot(&room).await.unwrap().unwrap();
            assert_eq!(found.awaits, ["admission-dead"], "after {seconds} s");
        }
    }
}
