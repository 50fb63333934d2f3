//! What operators do at a controller of either release holds for instances of both, whichever release leads.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{Fleet, Operator, eventually};

use crate::{
    SOON,
    stage::{EACH, Release, Stage},
};

/// A new visitor of `room` at `admission` gets a number up to `most`.
async fn joins(stage: &Stage, admission: &Fleet, room: &str, most: u64) -> Result<()> {
    let mut visitor = stage.deployment.visitor(room).at(admission.clone());
    let number = visitor.join().await?.expect(200)?.number("queue_number")?;
    ensure!(number <= most, "{room}: it got {number}");
    Ok(())
}

async fn at_all(stage: &Stage, room: &str, most: u64) -> Result<()> {
    for admission in stage.admissions() {
        eventually(SOON, "a room", || joins(stage, &admission, room, most)).await?;
    }
    Ok(())
}

async fn is_gone(stage: &Stage, room: &str) -> Result<()> {
    let path = format!("/v1/rooms/{room}");
    for index in 0..EACH {
        let operator = stage.operator(index);
        eventually(SOON, "no room at any controller", || async {
            operator.call(Method::GET, &path, None).await?.expect(404)
        })
        .await?;
    }
    for admission in stage.admissions() {
        eventually(SOON, "no room at any admission", || async {
            stage.deployment.visitor(room).at(admission.clone()).join().await?.expect(404)
        })
        .await?;
    }
    Ok(())
}

/// Creates, changes, resets and deletes a room, each at another controller than the step before. `one`, of `release`,
/// begins.
async fn works(
    stage: &Stage,
    (release, one): (Release, &Operator),
    other: &Operator,
    room: &str,
) -> Result<()> {
    let path = format!("/v1/rooms/{room}");
    one.put_room(room, &json!({ "total_active_users": 1 })).await?.expect(201)?;
    at_all(stage, room, 100).await?;
    other.patch_room(room, &json!({ "total_active_users": 7 })).await?.expect(200)?;
    for operator in [one, other] {
        eventually(SOON, "the change", || async {
            let seen = operator.call(Method::GET, &path, None).await?.expect(200)?;
            ensure!(seen.body["total_active_users"] == 7, "{}", seen.text);
            Ok(())
        })
        .await?;
    }
    at_all(stage, room, 100).await?;
    one.call(Method::POST, &format!("{path}/reset"), None).await?.expect(200)?;
    at_all(stage, room, 2).await?;
    other.call(Method::DELETE, &format!("{path}?people=999"), None).await?.expect(204)?;
    is_gone(stage, room).await?;
    // A room of the same name is another one. A controller of an earlier release has to hear of the deletion first.
    let make = || async { one.put_room(room, &json!({})).await?.expect(201) };
    match release {
        Release::Previous => eventually(SOON, "another room", make).await?,
        Release::This => make().await?,
    };
    at_all(stage, room, 2).await?;
    one.call(Method::DELETE, &format!("{path}?people=999"), None).await?.expect(204)?;
    is_gone(stage, room).await
}

async fn do_everything(leads: Release) -> Result<()> {
    let Some(stage) = Stage::half_way(leads).await? else { return Ok(()) };
    let operators = [0, 1].map(|index| stage.operator(index));
    let [previous, this] = &operators;
    let rooms = ["one", "two", "three", "four"];
    for (index, room) in rooms.into_iter().enumerate() {
        let (one, other) = match index % 2 {
            0 => ((Release::Previous, previous), this),
            _ => ((Release::This, this), previous),
        };
        works(&stage, one, other, room).await?;
    }
    // None of them has come back meanwhile.
    for room in rooms {
        is_gone(&stage, room).await?;
    }
    stage.close().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_operators_do_holds_while_the_previous_release_leads() -> Result<()> {
    do_everything(Release::Previous).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_operators_do_holds_while_this_release_leads() -> Result<()> {
    do_everything(Release::This).await
}
