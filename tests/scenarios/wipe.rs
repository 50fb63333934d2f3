//! Redis loses everything in the middle of a sale. Rooms, keys and counters come back from what
//! the running services hold; everyone keeps their place, and the ceiling holds.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::{Aws, Claims, Deployment, Service, Verifier, claims_of, eventually};

use crate::{
    crowd::{self, Entered, Guest, Manner, all_of, enter_all},
    watch::Watch,
};

const CEILING: usize = 10;
const SESSION_SECONDS: u64 = 4;
const CROWD: usize = 40;
const BACK: Duration = Duration::from_secs(40);

/// How Redis loses everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Flushed,
    Restarted,
}

/// What must be the same afterwards.
#[derive(Debug)]
struct Before {
    keys: Vec<String>,
    settings: serde_json::Value,
    queue_counter: u64,
    ids: Vec<(String, u64)>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flushed_in_mid_crowd_everyone_keeps_their_place() -> Result<()> {
    loses_everything(Loss::Flushed).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_restarted_empty_everyone_keeps_their_place() -> Result<()> {
    loses_everything(Loss::Restarted).await
}

async fn loses_everything(loss: Loss) -> Result<()> {
    let mut deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    let settings = json!({
        "total_active_users": CEILING, "session_duration_seconds": SESSION_SECONDS,
    });
    deployment.create_room("sale", &settings).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", CROWD).await?;
    let numbers: BTreeSet<u64> = guests.iter().map(|guest| guest.number).collect();
    let tasks = enter_all(guests.clone(), Manner::Hammering, touch_some);
    deployment
        .operator()
        .until("sale", "the first ones out again", BACK, |status| {
            Ok(status.number("serving_counter")? > 12)
        })
        .await?;
    let before = Before::note(&deployment).await?;
    match loss {
        Loss::Flushed => deployment.redis().flush().await?,
        Loss::Restarted => deployment.redis_mut().restart_empty().await?,
    }
    before.expect_back(&deployment).await?;
    expect_new_numbers(&deployment, &before, &numbers).await?;
    let entered = all_of(tasks).await?;
    let seen = watch.end().await?;
    ensure!(seen.serving_back.is_empty() && seen.numbers_back.is_empty(), "{seen:?}");
    let ids: BTreeSet<_> = entered.iter().map(|one| &one.claims.sub).collect();
    assert_eq!(ids.len(), CROWD, "someone entered twice");
    expect_ceiling_of_tokens(&entered)
}

/// Every other one checks in once from inside, as a page does; the rest just stay.
async fn touch_some(mut inside: Entered) -> Result<Entered> {
    if inside.number.is_multiple_of(2)
        && let Ok(reply) = inside.visitor.status().await
        && reply.says("admitted")
        && let Ok(token) = reply.text_of("access_token")
    {
        let claims = claims_of(&token)?;
        ensure!(claims.sub == inside.claims.sub, "another's token: {claims:?}");
        inside.claims.exp = inside.claims.exp.max(claims.exp);
    }
    Ok(inside)
}

/// At no second are more tokens valid than there are seats: counted from what visitors hold, since
/// Redis has forgotten those from before.
fn expect_ceiling_of_tokens(entered: &[Entered]) -> Result<()> {
    let valid_at = |second: u64| {
        let valid = |claims: &Claims| claims.iat <= second && second <= claims.exp;
        entered.iter().filter(|one| valid(&one.claims)).count()
    };
    let most = entered.iter().map(|one| valid_at(one.claims.iat)).max().unwrap_or(0);
    ensure!(most <= CEILING, "{most} tokens were valid at once");
    ensure!(most == CEILING, "the ceiling was never reached, only {most}");
    Ok(())
}

/// Newcomers get numbers that nobody has had.
async fn expect_new_numbers(
    deployment: &Deployment,
    before: &Before,
    taken: &BTreeSet<u64>,
) -> Result<()> {
    for _ in 0..5 {
        let guest = Guest::join(deployment.visitor("sale")).await?;
        ensure!(guest.number > before.queue_counter, "{} again", guest.number);
        ensure!(!taken.contains(&guest.number), "{} again", guest.number);
    }
    Ok(())
}

// === impl Before ===

impl Before {
    async fn note(deployment: &Deployment) -> Result<Self> {
        let aws = deployment.aws("sale");
        let mut ids = Vec::new();
        for _ in 0..5 {
            let id = aws.assign().await?;
            let number = aws.queue_number(&id).await?;
            ids.push((id, number));
        }
        let status = deployment.operator().status("sale").await?;
        Ok(Self {
            keys: key_ids(deployment).await?,
            settings: room(deployment).await?,
            queue_counter: status.number("queue_counter")?,
            ids,
        })
    }

    async fn expect_back(&self, deployment: &Deployment) -> Result<()> {
        let operator = deployment.operator();
        eventually(BACK, "the room", || async {
            let status = operator.status("sale").await?;
            ensure!(deployment.redis().keys().await? > 0, "nothing in Redis");
            ensure!(status.number("queue_counter")? >= self.queue_counter, "{}", status.text);
            ensure!(!status.text_of("leader")?.is_empty(), "nobody leads");
            // A joined number is proof that Redis holds the line again.
            deployment.aws("sale").assign().await
        })
        .await?;
        assert_eq!(key_ids(deployment).await?, self.keys);
        assert_eq!(room(deployment).await?, self.settings);
        expect_numbers(&deployment.aws("sale"), &self.ids).await
    }
}

async fn expect_numbers(aws: &Aws, ids: &[(String, u64)]) -> Result<()> {
    for (id, number) in ids {
        assert_eq!(aws.queue_number(id).await?, *number);
    }
    Ok(())
}

async fn key_ids(deployment: &Deployment) -> Result<Vec<String>> {
    Ok(Verifier::fetch(deployment.admissions()).await?.key_ids())
}

async fn room(deployment: &Deployment) -> Result<serde_json::Value> {
    let reply = deployment.operator().call(reqwest::Method::GET, "/v1/rooms/sale", None).await?;
    Ok(reply.expect(200)?.body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aws_style_places_survive_a_flush() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let mut ids = Vec::new();
    for number in 1..=10 {
        let id = aws.assign().await?;
        assert_eq!(aws.queue_number(&id).await?, number);
        ids.push((id, number));
    }
    assert_eq!(aws.serve(4).await?, 4);
    let served = &ids[2].0;
    deployment.redis().flush().await?;
    let token = eventually(BACK, "the room", || async {
        aws.generate_token(served).await?.expect(200)?.text_of("access_token")
    })
    .await?;
    let claims = deployment.verifier().await?.verify(&token, "sale")?;
    assert_eq!((&claims.sub, claims.queue_position), (served, 3));
    expect_numbers(&aws, &ids).await?;
    aws.generate_token(&ids[4].0).await?.expect(202)?;
    assert_eq!(aws.serving().await?, 4);
    assert_eq!(aws.serve(1).await?, 5);
    aws.generate_token(&ids[4].0).await?.expect(200)?;
    let next = aws.assign().await?;
    ensure!(aws.queue_number(&next).await? > 10, "a number was handed out twice");
    Ok(())
}

/// The last hour of the room's history, as operators read it.
async fn history(deployment: &Deployment) -> Result<serde_json::Value> {
    let operator = deployment.operator();
    let reply = operator.call(reqwest::Method::GET, "/v1/rooms/sale/history", None).await?;
    Ok(reply.expect(200)?.body["minutes"].clone())
}

/// Until every controller remembers so many who came and who entered.
async fn remembered(deployment: &Deployment, count: u64) -> Result<()> {
    const KEPT: &str = "vestibule_history_kept ";
    for index in 0..2 {
        eventually(BACK, "what controllers remember", || async {
            let metrics = deployment.admin(Service::Controller, index, "/metrics").await?;
            let kept = metrics.text.lines().find_map(|line| line.strip_prefix(KEPT));
            let kept: u64 = kept.unwrap_or_default().parse()?;
            ensure!(kept >= count, "controller {index} remembers {kept} of {count}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_entered_and_left_does_not_enter_again_if_only_controllers_remember() -> Result<()>
{
    let mut deployment = Deployment::builder().admissions(1).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": SESSION_SECONDS });
    deployment.create_room("sale", &settings).await?;
    let (mut first, mut second) = (deployment.visitor("sale"), deployment.visitor("sale"));
    first.join().await?.expect(200)?;
    second.join().await?.expect(200)?;
    let older = second.clone();
    first.leave().await?.expect(200)?;
    second.claims(BACK).await?;
    second.leave().await?.expect(200)?;
    remembered(&deployment, 4).await?;
    deployment.visitor("sale").join().await?.expect(200)?;
    // With the second time they have looked at a state in which both have entered and left.
    remembered(&deployment, 5).await?;

    deployment.kill(Service::Admission, 0)?;
    deployment.redis().flush().await?;
    deployment.restart(Service::Admission, 0).await?;
    eventually(BACK, "the room", || async { crowd::join(&deployment, "sale", 1).await }).await?;
    let reply = eventually(BACK, "the end", || async {
        let reply = older.clone().claim().await?.expect(200)?;
        ensure!(!reply.says("your_turn") && !reply.says("waiting"), "{}", reply.text);
        Ok(reply)
    })
    .await?;
    ensure!(reply.says("closed"), "it enters twice: {}", reply.text);
    Ok(())
}

/// Until the history says of so many newcomers how long they were told to wait.
async fn all_have_been_told(deployment: &Deployment, count: u64) -> Result<()> {
    eventually(BACK, "what newcomers were told", || async {
        let minutes = history(deployment).await?;
        let told = minutes.as_array().into_iter().flatten().map(|minute| &minute["told"]);
        let told = told.flat_map(|told| told.as_array().into_iter().flatten());
        let told: u64 = told.filter_map(serde_json::Value::as_u64).sum();
        ensure!(told == count, "{minutes}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_of_the_last_day_survives_a_flush() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 3 })).await?;
    let (mut first, mut second) = (deployment.visitor("sale"), deployment.visitor("sale"));
    first.join().await?.expect(200)?;
    crowd::join(&deployment, "sale", 2).await?;
    second.join().await?.expect(200)?;
    crowd::join(&deployment, "sale", 8).await?;
    // What newcomers were told comes a little later than they, and is remembered when somebody comes, enters or leaves.
    all_have_been_told(&deployment, 12).await?;
    first.leave().await?.expect(200)?;
    second.claims(BACK).await?;
    remembered(&deployment, 16).await?;
    let before = history(&deployment).await?;
    deployment.redis().flush().await?;
    eventually(BACK, "the history", || async {
        let after = history(&deployment).await?;
        ensure!(after == before, "{after} instead of {before}");
        Ok(())
    })
    .await?;
    crowd::join(&deployment, "sale", 1).await?;
    let after = history(&deployment).await?;
    let came = |minutes: &serde_json::Value| -> u64 {
        let minutes = minutes.as_array().into_iter().flatten();
        let regions = minutes.filter_map(|minute| minute["arrivals"].as_object());
        regions.flat_map(|regions| regions.values()).filter_map(serde_json::Value::as_u64).sum()
    };
    assert_eq!((came(&before), came(&after)), (12, 13), "nobody counts twice");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_room_that_is_not_listed_either_is_never_said_not_to_exist() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let (operator, path) = (deployment.operator(), "/v1/rooms/sale");
    let mut redis = deployment.redis().connection().await?;
    for _ in 0..5 {
        let mut lose = redis::pipe();
        lose.cmd("SREM").arg("vestibule:{deployment}:rooms").arg("sale").ignore();
        for part in ["line", "settings"] {
            lose.cmd("DEL").arg(format!("vestibule:room:{{sale}}:{part}")).ignore();
        }
        lose.query_async::<()>(&mut redis).await?;
        eventually(BACK, "the room", || async {
            let told = operator.call(reqwest::Method::GET, path, None).await?;
            assert!(matches!(told.status, 200 | 503), "{} {}", told.status, told.text);
            told.expect(200)
        })
        .await?;
    }
    Ok(())
}
