//! In fifo nobody enters before someone who arrived earlier and keeps asking at the door; and near the
//! front others come to the door when they were told to.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::sleep;
use vestibule_tests::Deployment;

use crate::crowd::{self, Entered, Guest, Manner, all_of, enter_all, stay_and_leave};

const CEILING: usize = 6;
const CROWD: usize = 120;
/// The last quarter hammers on the door.
const IMPATIENT: usize = CROWD / 4;
/// Everyone stays so long.
const STAY: Duration = Duration::from_secs(1);
/// Those at the door: as many as there are seats, and the standby group, four seconds' worth of
/// admissions. Stays of a second or more let in at most six a second; the room finds the pace out
/// from as few as five stays, so it may take it for half as much again.
const STANDBY: usize = CEILING + 4 * CEILING * 3 / 2;
/// Nobody who keeps asking is overtaken by somebody who enters so much sooner.
const SOONER: Duration = Duration::from_secs(1);
/// Who keeps asking asks again within this time: 1.2 s, of which its request may take some on its way.
const KEEPS_ASKING: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_first_enters_first_up_to_the_standby_group() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    let settings = json!({ "total_active_users": CEILING, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let mut guests = crowd::join(&deployment, "sale", CROWD).await?;
    let impatient = guests.split_off(CROWD - IMPATIENT);
    let stay = |inside: Entered| async {
        sleep(STAY).await;
        stay_and_leave(inside, STAY / 2).await
    };
    let mut tasks = enter_all(guests, Manner::Polite, stay);
    tasks.extend(enter_all(impatient, Manner::Hammering, stay));
    let entered = all_of(tasks).await?;
    for one in &entered {
        let unjust =
            entered.iter().find(|other| has_overtaken(one, other)).map(|other| other.number);
        ensure!(unjust.is_none(), "{unjust:?} kept asking and was overtaken by {}", one.number);
    }
    // Those who come when they were told to find others at the door who stood behind them, but not those
    // who hammered from the end of the line.
    let most = entered.iter().map(|one| overtaken(one, &entered)).max().unwrap_or(0);
    ensure!(most <= STANDBY, "someone overtook {most} who stood ahead, and not just {STANDBY}");
    Ok(())
}

/// Whether `one` got in before `other`, who stood ahead and kept asking all the time from when `one` asked
/// for its seat, and before.
fn has_overtaken(one: &Entered, other: &Entered) -> bool {
    let is_sooner = other.number < one.number && other.asked > one.told + SOONER;
    let stood = other.at_door.is_some_and(|since| since + KEEPS_ASKING < one.asked);
    is_sooner && stood && other.longest_pause <= KEEPS_ASKING
}

/// How many who stood ahead of `one` got in later, for certain: they had not yet asked for the
/// seat that they got when `one` already had its own.
fn overtaken(one: &Entered, all: &[Entered]) -> usize {
    all.iter().filter(|other| other.number < one.number && other.asked > one.told).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_keeps_its_order_through_a_detour() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "queue_all": true, "total_active_users": 2 })).await?;
    let guests = crowd::join(&deployment, "sale", 30).await?;
    for mut guest in guests.clone() {
        let reply = guest.ask(true).await?;
        ensure!(reply.is_some_and(|reply| reply.says("waiting")), "held, and yet not waiting");
    }
    let operator = deployment.operator();
    operator.patch_room("sale", &json!({ "queue_all": false })).await?.expect(200)?;
    let first = guests[0].clone().enter(Manner::Polite).await?;
    assert_eq!(first.number, 1);
    expect_order(&guests).await
}

/// Positions rise with the numbers that they were given for.
async fn expect_order(guests: &[Guest]) -> Result<()> {
    for (index, guest) in guests.iter().enumerate() {
        let reply = guest.clone().ask(false).await?;
        let position = reply.map(|reply| reply.number("position")).transpose()?;
        let expected = u64::try_from(index)? + 1;
        ensure!(position == Some(expected), "number {expected} stands at {position:?}");
    }
    Ok(())
}
