//! How a turn is taken: by entering at once, or by a seat that is held until the visitor comes.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, Visitor};

use crate::page::{Browser, NEWS};

const SOON: Duration = Duration::from_secs(20);
const PATH: &str = "/room/sale?return=%2Fshoes";

/// A room with twenty seats, all taken, of which one may be held.
async fn full_room(deployment: &Deployment, more: Value) -> Result<Vec<Visitor>> {
    let mut settings = json!({ "total_active_users": 20, "turn_hold_seconds": 60 });
    for (name, value) in more.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
    deployment.create_room("sale", &settings).await?;
    let mut inside = Vec::new();
    for _ in 0..20 {
        let mut visitor = deployment.visitor("sale");
        ensure!(visitor.join().await?.expect(200)?.says("admitted"));
        inside.push(visitor);
    }
    Ok(inside)
}

/// What the page's script is told that takes its turn like this, once it is of this state.
async fn takes(browser: &mut Browser, turn: &str, state: &str) -> Result<Reply> {
    let accept = format!("{NEWS};turn={turn}");
    let headers = [("accept", accept.as_str())];
    let deadline = tokio::time::Instant::now() + SOON;
    loop {
        let reply = browser.send(Method::GET, PATH, &headers).await?.expect(200)?;
        if reply.body["state"] == state {
            return Ok(reply);
        }
        ensure!(tokio::time::Instant::now() < deadline, "not {state}: {}", reply.text);
    }
}

async fn waits(deployment: &Deployment) -> Result<Browser> {
    let mut browser = Browser::new(deployment);
    browser.finds(PATH, "waiting").await?;
    Ok(browser)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_front_enters_and_is_told_where_to_go() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "access_token_cookie": true, "seats_end_with": "session" });
    let mut inside = full_room(&deployment, settings).await?;
    let mut ann = waits(&deployment).await?;
    inside[0].leave().await?;
    let entered = takes(&mut ann, "enter", "inside").await?;
    assert_eq!(entered.body["wanted"], "/shoes");
    ensure!(entered.body["automatic"] == true, "{}", entered.text);
    ensure!(ann.cookies.contains_key("vestibule_token_sale"), "{:?}", ann.cookies.keys());
    let status = deployment.operator().status("sale").await?;
    assert_eq!((status.number("admitted")?, status.number("active_users")?), (21, 20));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_page_has_its_seat_held_until_somebody_looks() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let mut inside = full_room(&deployment, json!({})).await?;
    let mut ann = waits(&deployment).await?;
    let mut behind = deployment.visitor("sale");
    behind.join().await?.expect(200)?;
    inside[0].leave().await?;
    let turn = takes(&mut ann, "hold", "turn").await?;
    let told = turn.body["hold_seconds"].as_u64();
    ensure!(told.is_some_and(|seconds| (30..=60).contains(&seconds)), "{told:?}");
    let after = turn.body["texts"]["hold-after"].as_str().unwrap_or_default();
    ensure!(after.contains("next person"), "{}", turn.text);
    let status = deployment.operator().status("sale").await?;
    assert_eq!((status.number("admitted")?, status.number("active_users")?), (20, 20));
    ensure!(!behind.claim().await?.says("admitted"), "the seat is not for others");
    ann.finds(PATH, "turn").await?;
    takes(&mut ann, "enter", "inside").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_a_button_the_page_does_not_enter_by_itself() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let mut inside = full_room(&deployment, json!({ "enter": "button" })).await?;
    let mut ann = waits(&deployment).await?;
    inside[0].leave().await?;
    let turn = takes(&mut ann, "enter", "turn").await?;
    ensure!(turn.body["hold_seconds"].as_u64().is_some(), "{}", turn.text);
    ensure!(turn.body["automatic"] == false, "{}", turn.text);
    let form = [("sec-fetch-site", "same-origin")];
    let pressed = ann.send(Method::POST, "/room/sale/enter?return=%2Fshoes", &form).await?;
    assert_eq!((pressed.status, pressed.header("location")), (303, "/shoes"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_has_a_seat_held_by_its_claim() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let mut inside = full_room(&deployment, json!({})).await?;
    let mut ann = deployment.visitor("sale");
    ann.join().await?.expect(200)?;
    let mut bob = deployment.visitor("sale");
    bob.join().await?.expect(200)?;
    inside[0].leave().await?;
    ann.sees("your_turn", SOON).await?;
    let held = ann.holds(SOON).await?;
    ensure!(held.says("your_turn") && held.number("seat_held_seconds")? > 30, "{}", held.text);
    let refused = bob.holds(Duration::ZERO).await;
    ensure!(refused.is_err(), "one of twenty seats may be held, and it is");
    ensure!(ann.claims(SOON).await?.body["seat_held_seconds"].is_null());
    let asked = json!({ "turn_hold_seconds": 61 });
    let refused = deployment.operator().patch_room("sale", &asked).await?.expect(400)?;
    ensure!(refused.text.contains("from 10 to 60, and is 61"), "{}", refused.text);
    Ok(())
}
