//! One run: builds the stage, opens the rooms, sends the crowd, lets things go wrong, waits until all is
//! good again and everybody was served, stops everything in order, and has the histories judged.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};
use vestibule_tests::eventually;

use crate::{
    chance::Seed,
    crowd::{self, Book},
    faults::{Fault, FaultKind},
    report::{self, Outcome},
    rooms::Desk,
    scenario::Scenario,
    stage::{Instance, Stage, namespaces::say},
};

/// How long the crowd may take to be served once nothing is wrong any more. Where a service was silent, as many may have
/// entered in the last minute as the rate allows, so nobody else does for as long; and seats are taken for a session.
const SERVED: Duration = Duration::from_secs(90);
/// How long a fault may take to be good again. Each has its end, but those of Redis wait for each other.
const HEALED: Duration = Duration::from_secs(40);
/// How long tasks may take to end that were told to.
const ALONE: Duration = Duration::from_secs(20);
/// How often somebody looks after instances that ended by themselves.
const ROUND: Duration = Duration::from_millis(300);

/// Plays `scenario`, with everything that it writes in `folder`.
pub(crate) async fn play(scenario: &Scenario, folder: &Path) -> Result<Outcome> {
    let clocks = scenario.faults.iter().any(|fault| fault.kind == FaultKind::Clock);
    let mut chance = scenario.seed.chance("stage", 0);
    let stage = Stage::build(folder, &mut chance, scenario.topology, clocks).await?;
    let mut stage = Arc::new(stage);
    let played = play_on(&stage, scenario, folder).await;
    // Whoever was left of a run that came to no end goes first: the next one needs the same addresses.
    let alone = eventually(ALONE, "the end of all tasks", || {
        let alone = Arc::get_mut(&mut stage).is_some();
        async move {
            ensure!(alone, "the stage is still used");
            Ok(())
        }
    });
    let alone = alone.await;
    let outcome = played?;
    alone?;
    Ok(outcome)
}

async fn play_on(stage: &Arc<Stage>, scenario: &Scenario, folder: &Path) -> Result<Outcome> {
    let book = Arc::new(Mutex::new(Book::default()));
    let rooms: Vec<_> = scenario.rooms.iter().map(|(name, _)| name.clone()).collect();
    let desk = Desk::new(stage.operator().clone(), rooms.clone(), Arc::clone(&book));
    for (room, (_, settings)) in scenario.rooms.iter().enumerate() {
        desk.create(room, settings).await?;
    }
    let ended = Arc::new(Mutex::new(Vec::new()));
    let (mut around, mut works) = (JoinSet::new(), JoinSet::new());
    around.spawn(look_after(Arc::clone(stage), Arc::clone(&ended)));
    let mut walks = crowd::send(scenario.people.clone(), &rooms, stage.admissions(), &book);
    works.spawn(desk.work(scenario.operations.clone()));
    let bound = scenario.lasts + HEALED * u32::try_from(scenario.faults.len() + 1)?;
    let happened = timeout(bound, misfortunes(stage, scenario)).await;
    let happened = happened.context("the faults do not end")??;
    works.join_all().await;
    stage.is_ready().await?;
    let unserved = serve(&mut walks).await;
    around.shutdown().await;
    let stopped = stage.close().await;
    let mut outcome = Outcome::of(scenario, stage.ground().name(), happened);
    let mut book = std::mem::take(&mut *book.lock().unwrap_or_else(PoisonError::into_inner));
    let ended = std::mem::take(&mut *ended.lock().unwrap_or_else(PoisonError::into_inner));
    let histories = folder.join("histories");
    stage.turns().write(&histories)?;
    let histories = report::histories_in(&histories)?;
    for (name, under_way) in report::resets_heard_late(&histories) {
        let room = rooms.iter().position(|room| *room == name);
        book.losses.add_reset(room.context(name)?, under_way);
    }
    outcome.take_in(book, &stage.turns().splits(), unserved, &ended, &stopped);
    outcome.judge(histories)?;
    Ok(outcome)
}

/// Lets every fault happen at its time. Returns when each began, unix ms.
async fn misfortunes(stage: &Arc<Stage>, scenario: &Scenario) -> Result<Vec<(u64, Fault)>> {
    let beginning = Instant::now();
    let mut faults = JoinSet::new();
    for fault in scenario.faults.clone() {
        faults.spawn(misfortune(Arc::clone(stage), fault, scenario.seed, beginning));
    }
    let mut happened = Vec::new();
    while let Some(one) = faults.join_next().await {
        happened.push(one??);
    }
    sleep_until(beginning + scenario.lasts).await;
    happened.sort_by_key(|(began_ms, _)| *began_ms);
    Ok(happened)
}

async fn misfortune(
    stage: Arc<Stage>,
    fault: Fault,
    seed: Seed,
    beginning: Instant,
) -> Result<(u64, Fault)> {
    sleep_until(beginning + Duration::from_millis(fault.prepares_at_ms())).await;
    fault.prepare(&stage).await.with_context(|| format!("{fault}, prepared"))?;
    sleep_until(beginning + Duration::from_millis(fault.at_ms)).await;
    say(&format!("  {:>6} ms  {fault}", beginning.elapsed().as_millis()));
    let began_ms = report::now_ms();
    fault.happen(&stage, seed).await.with_context(|| fault.to_string())?;
    Ok((began_ms, fault))
}

/// Starts instances again that ended by themselves, as an orchestrator does, and writes down which.
async fn look_after(stage: Arc<Stage>, ended: Arc<Mutex<Vec<String>>>) {
    loop {
        sleep(ROUND).await;
        let stories = stage.instances().iter().filter_map(Instance::look_after);
        ended.lock().unwrap_or_else(PoisonError::into_inner).extend(stories);
    }
}

/// Waits until every visit is over; returns how many are not.
async fn serve(walks: &mut JoinSet<()>) -> u64 {
    let all = async { while walks.join_next().await.is_some() {} };
    // Who is still on the way stays in the set.
    let _ = timeout(SERVED, all).await;
    let unserved = walks.len() as u64;
    walks.shutdown().await;
    unserved
}
