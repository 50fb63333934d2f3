//! One ticket in many hands: where sessions are bound, it lets one client in, and the others are newcomers.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use serde_json::json;
use vestibule_tests::{Carries, Deployment, Service, Visitor};

use crate::authorizer::{create_sale, expect};

const HOST: &str = "shop.example";
const SOON: Duration = Duration::from_secs(20);
const SHARERS: usize = 200;
const STRANGERS: &str = r#"vestibule_strangers_tickets_total{reason="network_and_agent"} "#;
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// An address in a network of its own.
fn address(nth: usize) -> String {
    format!("198.18.{nth}.7")
}

fn at(visitor: &Visitor, address: impl Into<String>) -> Visitor {
    visitor.clone().with_header("x-forwarded-for", address)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_with_one_ticket_one_is_inside() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 1, "bind_sessions": "network_and_agent" });
    create_sale(&deployment, settings).await?;
    let site = deployment.site_visitor(HOST);
    let mut holder = site.at_address(address(0)).with_header("user-agent", FIREFOX);
    expect(&holder.get("/sale").await?, 200, "entered")?;
    let shared = holder.clone();

    let sharers = (1..=SHARERS).map(|nth| shared.clone().at_address(address(nth)));
    let asked = sharers.map(|mut sharer| async move { sharer.get("/sale").await });
    for reply in try_join_all(asked).await? {
        expect(&reply, 503, "wait")?;
    }
    let mut next_door = shared.clone().at_address("198.18.0.99");
    expect(&next_door.get("/sale").await?, 200, "inside")?;
    let mut other_browser = deployment.site_visitor(HOST).at_address(address(0));
    other_browser.cookies = shared.cookies.clone();
    expect(&other_browser.get("/sale").await?, 503, "wait")?;
    expect(&holder.get("/sale").await?, 200, "inside")?;

    let mut counted = 0;
    for index in 0..2 {
        let metrics = deployment.admin(Service::Admission, index, "/metrics").await?.expect(200)?;
        let line = metrics.text.lines().find_map(|line| line.strip_prefix(STRANGERS));
        counted += line.map_or(Ok(0), str::parse::<usize>)?;
    }
    ensure!(counted == SHARERS + 1, "counted {counted}");
    Ok(())
}

/// The ticket of before the claim is bound to nothing; the session is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_claim_with_one_ticket_one_enters() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 0, "bind_sessions": "network" });
    deployment.create_room("sale", &settings).await?;
    let mut waiting = deployment.visitor("sale");
    waiting.join().await?.expect(200)?;
    deployment
        .operator()
        .patch_room("sale", &json!({ "total_active_users": 5 }))
        .await?
        .expect(200)?;
    waiting.sees("your_turn", SOON).await?;

    let claims = (0..50).map(|nth| {
        let mut sharer = at(&waiting, address(nth));
        async move { sharer.claim().await }
    });
    let replies = try_join_all(claims).await?;
    let inside = replies.iter().filter(|reply| reply.says("admitted")).count();
    let refused = replies.iter().filter(|reply| reply.status == 400).count();
    ensure!((inside, refused) == (1, 49), "{inside} are inside, {refused} refused");
    ensure!(replies.iter().any(|reply| reply.text.contains("bound to another client")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_ends_no_session() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 1, "bind_sessions": "network" });
    deployment.create_room("sale", &settings).await?;
    let mut holder = at(&deployment.visitor("sale"), address(1));
    let number = holder.join().await?.expect(200)?.number("queue_number")?;
    let stranger = Visitor::new(deployment.admissions().clone(), "sale", Carries::Header)
        .with_ticket(holder.ticket())
        .with_header("x-forwarded-for", address(2));
    for reply in [stranger.clone().leave().await?, stranger.clone().status().await?] {
        reply.expect(400)?;
    }
    let newcomer = stranger.clone().join().await?.expect(200)?;
    ensure!(newcomer.says("waiting") && newcomer.number("queue_number")? == number + 1);
    ensure!(holder.status().await?.expect(200)?.says("admitted"), "the holder is inside still");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_before_the_setting_is_bound_at_its_next_renewal() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let mut holder = at(&deployment.visitor("sale"), address(1));
    holder.join().await?.expect(200)?;
    let before = Visitor::new(deployment.admissions().clone(), "sale", Carries::Header)
        .with_ticket(holder.ticket());
    deployment
        .operator()
        .patch_room("sale", &json!({ "bind_sessions": "network" }))
        .await?
        .expect(200)?;
    ensure!(holder.status().await?.expect(200)?.says("admitted"));
    for nth in [2, 3] {
        let stranger = at(&before, address(nth));
        stranger.clone().leave().await?.expect(400)?;
        stranger.clone().status().await?.expect(400)?;
    }
    ensure!(holder.status().await?.expect(200)?.says("admitted"));
    Ok(())
}

/// The ticket of somebody inside says to what the session was bound when it was made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_ends_no_session_either_after_the_setting_was_changed() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "total_active_users": 1, "bind_sessions": "network_and_agent" });
    deployment.create_room("sale", &settings).await?;
    let mut holder = at(&deployment.visitor("sale"), address(1));
    holder.join().await?.expect(200)?;
    let before = Visitor::new(deployment.admissions().clone(), "sale", Carries::Header)
        .with_ticket(holder.ticket());
    let change = json!({ "bind_sessions": "network" });
    deployment.operator().patch_room("sale", &change).await?.expect(200)?;
    ensure!(holder.status().await?.expect(200)?.says("admitted"));
    at(&before, address(2)).leave().await?.expect(400)?;
    ensure!(holder.status().await?.expect(200)?.says("admitted"));
    Ok(())
}

/// Everyone is let in then, but nobody as somebody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_takes_over_no_session_while_the_room_is_suspended() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "bind_sessions": "network" });
    deployment.create_room("sale", &settings).await?;
    let mut holder = at(&deployment.visitor("sale"), address(1));
    holder.join().await?.expect(200)?;
    let mut stranger = Visitor::new(deployment.admissions().clone(), "sale", Carries::Header)
        .with_ticket(holder.ticket())
        .with_header("x-forwarded-for", address(2));
    let suspend = async |suspended: bool| {
        let change = json!({ "suspended": suspended });
        deployment.operator().patch_room("sale", &change).await?.expect(200)
    };
    suspend(true).await?;
    stranger.status().await?.expect(400)?;
    suspend(false).await?;
    stranger.status().await?.expect(400)?;
    ensure!(holder.status().await?.expect(200)?.says("admitted"));
    Ok(())
}
