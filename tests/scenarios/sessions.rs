//! How long someone stays inside: sessions that slide along with their visitor, sessions of a fixed
//! length, and sessions that the operator ends.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Carries, Deployment, Visitor, claims_of};

use crate::crowd::{Entered, Guest, Manner};

/// Long enough to be seen in time on a machine that is busy with other tests.
const SESSION: u64 = 6;
const SOON: Duration = Duration::from_secs(30);
const BUSY: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fixed_session_ends_on_time_however_busy_its_visitor_is() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({
        "total_active_users": 1, "session_duration_seconds": SESSION,
        "disable_session_renewal": true,
    });
    deployment.create_room("sale", &settings).await?;
    let mut busy = deployment.visitor("sale");
    let joined = busy.join().await?.expect(200)?;
    let (token, next) = (joined.text_of("access_token")?, joined.number("expires_in")?);
    let claims = claims_of(&token)?;
    assert_eq!((claims.exp - claims.iat, next), (SESSION, SESSION));
    let mut behind = Guest::join(deployment.visitor("sale")).await?;

    let mut calls = 0;
    let over = loop {
        let now = deployment.redis().now_seconds().await?;
        let reply = match calls % 3 {
            0 => busy.status().await?,
            1 => busy.claim().await?,
            _ => busy.clone().status().await?,
        };
        let reply = reply.expect(200)?;
        if !reply.says("admitted") {
            break reply;
        }
        calls += 1;
        ensure!(reply.text_of("access_token")? == token, "a new token: {}", reply.text);
        ensure!(now <= claims.exp, "inside after {now}, with a token until {}", claims.exp);
        sleep(BUSY).await;
    };
    ensure!(over.says("expired") && calls > 3, "after {calls} calls: {}", over.text);
    let ended = deployment.redis().now_seconds().await?;
    ensure!(ended >= claims.exp, "ended at {ended}, before {}", claims.exp);

    behind.visitor.claims(SOON).await?;
    let again = busy.join().await?.expect(200)?;
    ensure!(!again.says("admitted") && again.number("queue_number")? == 3, "{}", again.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sliding_session_lives_as_long_as_its_visitor_is_seen() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": SESSION });
    deployment.create_room("sale", &settings).await?;
    let mut seen = deployment.visitor("sale");
    let first = claims_of(&seen.join().await?.expect(200)?.text_of("access_token")?)?;
    let mut behind = Guest::join(deployment.visitor("sale")).await?;

    let (mut last, mut silent) = (first.clone(), Instant::now());
    while last.exp <= first.exp + SESSION {
        silent = Instant::now();
        let reply = seen.status().await?.expect(200)?;
        ensure!(reply.says("admitted"), "seen all the time, and yet: {}", reply.text);
        last = claims_of(&reply.text_of("access_token")?)?;
        let now = deployment.redis().now_seconds().await?;
        ensure!(last.exp > first.iat && last.exp <= now + SESSION, "{last:?} at {now}");
        ensure!(now <= first.exp + 2 * SESSION, "the token is not renewed: {last:?}");
        ensure!(!behind.visitor.status().await?.says("admitted"), "two in one seat");
        sleep(BUSY).await;
    }
    assert_eq!(last.sub, first.sub);

    behind.visitor.claims(SOON).await?;
    let stayed = silent.elapsed();
    // Two clocks, of which one may be adjusted meanwhile.
    ensure!(stayed + BUSY >= Duration::from_secs(SESSION), "the seat was lost after {stayed:?}");
    let gone = seen.status().await?.expect(200)?;
    ensure!(gone.says("expired"), "{}", gone.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_the_operator_or_the_site_frees_is_taken_within_a_second() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let mut inside = Guest::join(deployment.visitor("sale")).await?.enter(Manner::Polite).await?;
    for freed_by in FREED_BY {
        let mut took = Vec::new();
        while took.last().is_none_or(|last| *last >= Duration::from_secs(1)) {
            // What a busy machine takes is not what the room takes: the next one shows the difference.
            ensure!(took.len() < 5, "{freed_by:?}: the seat was taken after {took:?}");
            let (next, after) = takes_over(&deployment, &mut inside, freed_by).await?;
            inside = next;
            took.push(after);
        }
    }
    let last = inside.number;
    free(&deployment, &inside, FreedBy::Operator).await?;
    ensure!(inside.visitor.status().await?.says("closed"), "revoked");
    let again = inside.visitor.join().await?.expect(200)?;
    assert_eq!(again.number("queue_number")?, last + 1, "a new place, behind all others");
    Ok(())
}

/// Who ends a session, and how.
#[derive(Debug, Clone, Copy)]
enum FreedBy {
    Operator,
    SiteCompleted,
    SiteAbandoned,
}

const FREED_BY: [FreedBy; 3] = [FreedBy::Operator, FreedBy::SiteCompleted, FreedBy::SiteAbandoned];

async fn free(deployment: &Deployment, inside: &Entered, freed_by: FreedBy) -> Result<()> {
    let (id, aws) = (&inside.claims.sub, deployment.aws("sale"));
    match freed_by {
        FreedBy::Operator => {
            let path = format!("/v1/rooms/sale/sessions/{id}");
            deployment.operator().call(Method::DELETE, &path, None).await?.expect(204)?
        }
        FreedBy::SiteCompleted => aws.update_session(id, 1).await?.expect(200)?,
        FreedBy::SiteAbandoned => aws.update_session(id, -1).await?.expect(200)?,
    };
    Ok(())
}

/// A newcomer stands at the door when the seat comes free, and takes it; gives how long that took.
async fn takes_over(
    deployment: &Deployment,
    inside: &mut Entered,
    freed_by: FreedBy,
) -> Result<(Entered, Duration)> {
    let mut next = Guest::join(deployment.visitor("sale")).await?;
    next.visitor.sees("your_turn", SOON).await?;
    let next = tokio::spawn(next.enter(Manner::Hammering));
    sleep(BUSY * 5).await;
    ensure!(!next.is_finished(), "the room is full");
    let freed = Instant::now();
    free(deployment, inside, freed_by).await?;
    let next = next.await??;
    ensure!(next.told > freed, "two in one seat");
    let told = inside.visitor.status().await?.expect(200)?;
    ensure!(told.says("closed") && told.body["next_check_in_seconds"] == 0.0, "{}", told.text);
    let took = next.told - freed;
    Ok((next, took))
}

/// Whoever has not heard that it is inside, or asks from another tab, leaves all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leaves_by_the_ticket_of_before_the_claim_gives_its_seat_back() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 1, "seats_end_with": "session" });
    deployment.create_room("sale", &settings).await?;
    let mut first = deployment.visitor("sale");
    first.join().await?.expect(200)?;
    let mut second = Visitor::new(deployment.admissions().clone(), "sale", Carries::Header);
    second.join().await?.expect(200)?;
    let mut before = second.clone();
    first.leave().await?.expect(200)?;
    ensure!(second.claims(SOON).await?.says("admitted"));
    for _ in 0..2 {
        ensure!(before.clone().leave().await?.expect(200)?.says("closed"));
    }
    ensure!(before.leave().await?.expect(200)?.says("closed"));
    ensure!(second.status().await?.expect(200)?.says("closed"));
    let mut third = deployment.visitor("sale");
    third.join().await?.expect(200)?;
    third.claims(SOON).await?;
    Ok(())
}
