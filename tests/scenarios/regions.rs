//! A crowd in three regions that suddenly shows up in one of them: the limits are the room's, not a
//! region's, and nobody waits while a seat is free.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Deployment, Reply, Service, eventually};

use crate::{crowd::Guest, watch::Watch};

const REGIONS: [&str; 3] = ["asia", "eu", "us"];
const SOON: Duration = Duration::from_secs(20);
const LIMIT: u64 = 40;

async fn deployment() -> Result<Deployment> {
    Deployment::builder().regions(&REGIONS).controllers(2).start().await
}

/// So many newcomers in each region, all at the same time; gives those who were let in and those
/// who were not.
async fn arrive(
    deployment: &Deployment,
    room: &str,
    crowd: [usize; 3],
) -> Result<(Vec<Guest>, Vec<Guest>)> {
    let visitors = crowd.iter().enumerate().flat_map(|(region, count)| {
        let there = deployment.admissions().only(region);
        (0..*count).map(move |_| there.clone())
    });
    let visitors = visitors.map(|there| async move {
        let mut guest = Guest::join(deployment.visitor(room).at(there)).await?;
        let reply = guest.visitor.status().await?.expect(200)?;
        anyhow::Ok((reply.says("admitted"), guest))
    });
    let all = try_join_all(visitors).await?;
    let (inside, waiting): (Vec<_>, Vec<_>) = all.into_iter().partition(|(inside, _)| *inside);
    let guests = |all: Vec<(bool, Guest)>| all.into_iter().map(|(_, guest)| guest).collect();
    Ok((guests(inside), guests(waiting)))
}

/// Those who came first are inside, and nobody else.
fn expect_first(inside: &[Guest], upto: u64) -> Result<()> {
    let mut numbers: Vec<_> = inside.iter().map(|guest| guest.number).collect();
    numbers.sort_unstable();
    ensure!(numbers.iter().copied().eq(1..=upto), "inside are {numbers:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_while_a_seat_is_free_wherever_they_show_up() -> Result<()> {
    let deployment = deployment().await?;
    deployment.create_room("sale", &json!({ "total_active_users": LIMIT })).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let operator = deployment.operator();
    let (mut inside, waiting) = arrive(&deployment, "sale", [2, 16, 2]).await?;
    ensure!(waiting.is_empty(), "{} wait in front of free seats", waiting.len());
    // Nine of ten suddenly come elsewhere.
    let (more, waiting) = arrive(&deployment, "sale", [36, 2, 2]).await?;
    inside.extend(more);
    expect_first(&inside, LIMIT)?;
    assert_eq!(waiting.len(), 20);

    // Seats that come free in one region are taken by the first in line, wherever they are.
    let mut waiting = waiting;
    waiting.sort_by_key(|guest| guest.number);
    for guest in inside.drain(..20) {
        guest.visitor.clone().leave().await?.expect(200)?;
    }
    let enter = waiting.iter_mut().map(|guest| guest.visitor.claims(SOON));
    try_join_all(enter).await?;
    inside.extend(waiting);
    let settled = |status: &Reply| {
        Ok((status.number("active_users")?, status.number("waiting")?) == (LIMIT, 0))
    };
    operator.until("sale", "that all are inside", SOON, settled).await?;

    // One leaves, one comes, now here, now there.
    for turn in 0..9 {
        let mut leaving = inside.swap_remove(0);
        leaving.visitor.leave().await?.expect(200)?;
        let mut crowd = [0; 3];
        crowd[turn % 3] = 1;
        let (entered, waiting) = arrive(&deployment, "sale", crowd).await?;
        ensure!(waiting.is_empty(), "a seat was free, and someone in {} waits", REGIONS[turn % 3]);
        inside.extend(entered);
    }
    let seen = watch.end().await?;
    seen.expect_ceiling(LIMIT)?;
    assert_eq!(seen.most_active, LIMIT);
    expect_history(&deployment, "sale", [2 + 36 + 3, 16 + 2 + 3, 2 + 2 + 3]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rate_is_the_rooms_and_not_a_regions() -> Result<()> {
    let deployment = deployment().await?;
    let settings = json!({ "total_active_users": 1_000, "new_users_per_minute": LIMIT });
    deployment.create_room("sale", &settings).await?;
    let (inside, waiting) = arrive(&deployment, "sale", [63, 4, 3]).await?;
    expect_first(&inside, LIMIT)?;
    assert_eq!(waiting.len(), 30);
    let claims = waiting.into_iter().map(|mut guest| async move { guest.visitor.claim().await });
    for claimed in try_join_all(claims).await? {
        ensure!(!claimed.says("admitted"), "over the rate: {}", claimed.text);
    }
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("admitted_last_minute")?, LIMIT);
    assert_eq!(status.number("active_users")?, LIMIT);
    expect_history(&deployment, "sale", [63, 4, 3]).await
}

/// Up to three minutes, of which nearly all is waiting until shares are made of a minute's history.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "shares are made of what happened two minutes ago"]
async fn slots_that_one_region_was_granted_are_lent_to_another_in_need() -> Result<()> {
    let deployment = deployment().await?;
    deployment.create_room("sale", &json!({ "total_active_users": LIMIT })).await?;
    let minute = async || anyhow::Ok(deployment.redis().now_seconds().await? / 60);
    eventually(Duration::from_mins(1), "a minute with time left in it", || async {
        ensure!(deployment.redis().now_seconds().await? % 60 < 40, "not yet");
        Ok(())
    })
    .await?;
    let begun = minute().await?;
    let (inside, _) = arrive(&deployment, "sale", [2, 32, 4]).await?;
    expect_first(&inside, 38)?;
    assert_eq!(taken(&deployment, 1).await?, [0, 32, 0], "nobody knows yet who comes where");
    ensure!(minute().await? == begun, "all that took longer than twenty seconds");
    for guest in inside {
        guest.visitor.clone().leave().await?.expect(200)?;
    }
    eventually(Duration::from_secs(150), "the minute after the next", || async {
        ensure!(minute().await? == begun + 2, "not yet");
        Ok(())
    })
    .await?;
    // The leader's next tick divides by the history.
    eventually(SOON, "its shares", || async {
        let mut connection = deployment.redis().connection().await?;
        let key = "vestibule:room:{sale}:grants";
        let own: Option<u64> =
            redis::cmd("HGET").arg(key).arg("r:eu").query_async(&mut connection).await?;
        ensure!(own == Some(LIMIT * 32 / 38), "{own:?} for eu");
        Ok(())
    })
    .await?;
    let (inside, waiting) = arrive(&deployment, "sale", [45, 3, 2]).await?;
    assert_eq!((inside.len(), waiting.len()), (40, 10), "all seats, though most were eu's");
    let [own, anywhere, lent] = taken(&deployment, 0).await?;
    ensure!(own <= 2 && lent > 25, "asia took {own} of its own, {anywhere}, and {lent} lent");
    assert_eq!(deployment.operator().status("sale").await?.number("active_users")?, LIMIT);
    expect_history(&deployment, "sale", [47, 35, 6]).await
}

/// How many slots newcomers of a region took at once: the region's own, those open to all, and
/// those lent by others.
async fn taken(deployment: &Deployment, region: usize) -> Result<[u64; 3]> {
    let metrics = deployment.admin(Service::Admission, region, "/metrics").await?.expect(200)?;
    let count = |kind: &str| -> Result<u64> {
        let name = format!("slots_taken_{kind}_total ");
        let line = metrics.text.lines().find_map(|line| line.split_once(&name));
        let (_, count) = line.with_context(|| format!("no {name}in {}", metrics.text))?;
        Ok(count.trim().parse()?)
    };
    Ok([count("own")?, count("anywhere")?, count("lent")?])
}

/// The history tells so many newcomers in each region, over all its minutes.
async fn expect_history(deployment: &Deployment, room: &str, expected: [u64; 3]) -> Result<()> {
    let expected: BTreeMap<_, _> = REGIONS.map(str::to_owned).into_iter().zip(expected).collect();
    let path = format!("/v1/rooms/{room}/history");
    eventually(SOON, "the history", || async {
        let reply = deployment.operator().call(Method::GET, &path, None).await?.expect(200)?;
        let mut told = BTreeMap::new();
        for minute in reply.body["minutes"].as_array().context("minutes")? {
            for (region, count) in minute["arrivals"].as_object().context("arrivals")? {
                *told.entry(region.clone()).or_default() += count.as_u64().context("a count")?;
            }
        }
        ensure!(told == expected, "{told:?}, not {expected:?}: {}", reply.text);
        Ok(())
    })
    .await
}
