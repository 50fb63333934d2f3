//! The endless line: bots that have not solved a room's challenge are told to wait like anybody, never enter, and leave
//! no trace in the line; whoever may be a person is told what to solve.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, Reply, Service, SiteVisitor, Visitor, eventually, solve};

use crate::{
    challenge::{challenge_of, join},
    page::{Browser, NEWS},
};

const SOON: Duration = Duration::from_secs(20);
const HEADER: &str = "vestibule-challenge";
const BOTS: usize = 30;

async fn room(deployment: &Deployment, settings: Value) -> Result<()> {
    let mut settings = settings;
    settings["challenge"] = json!({ "mode": "endless_line" });
    deployment.create_room("sale", &settings).await
}

/// So many visitors who have joined with a solution; of those who enter, the first.
async fn honest(deployment: &Deployment, count: usize) -> Result<Vec<Visitor>> {
    let body = json!({ "seconds": 600 });
    let made =
        deployment.operator().call(Method::POST, "/v1/rooms/sale/passes", Some(&body)).await?;
    let pass = made.expect(200)?.text_of("pass")?;
    let mut visitors = Vec::new();
    for _ in 0..count {
        let mut visitor = deployment.visitor("sale").with_header(HEADER, &pass);
        visitor.join().await?.expect(200)?;
        visitors.push(visitor);
    }
    Ok(visitors)
}

fn fields(reply: &Reply) -> Result<BTreeSet<String>> {
    Ok(reply.body.as_object().context("no object")?.keys().cloned().collect())
}

/// A bot that joins, without a solution or with rubbish.
async fn bot(deployment: &Deployment, index: usize) -> Result<(Visitor, Reply)> {
    let visitor = deployment.visitor("sale");
    let mut visitor =
        if index.is_multiple_of(2) { visitor } else { visitor.with_header(HEADER, "rubbish") };
    let joined = visitor.join().await?.expect(200)?;
    Ok((visitor, joined))
}

/// It does all that it can, and is told to wait.
async fn tries_everything(bot: &mut Visitor, like: &BTreeSet<String>) -> Result<()> {
    let old = bot.ticket().to_owned();
    let tried = [
        bot.status().await?,
        bot.claim().await?,
        bot.join().await?,
        bot.clone().with_ticket(old).claim().await?,
    ];
    for reply in tried {
        let reply = reply.expect(200)?;
        ensure!(reply.says("waiting") && fields(&reply)? == *like, "{}", reply.text);
        ensure!(reply.number("people_ahead")? > 0, "{}", reply.text);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_wait_for_ever_and_nobody_is_behind_them() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    room(&deployment, json!({ "total_active_users": 5 })).await?;
    let mut visitors = honest(&deployment, 8).await?;
    let operator = deployment.operator();
    let is_line = |waiting| move |room: &Reply| Ok(room.number("waiting")? == waiting);
    operator.until("sale", "three wait", SOON, is_line(3)).await?;
    // A bot's number is one beyond those that its instance has heard of.
    for index in 0..2 {
        let at = deployment.admissions().only(index);
        let aws = Aws::new(at, deployment.controllers().clone(), "", "sale");
        eventually(SOON, "every admission knows the line", || async {
            let told = aws.event_get("/waiting_num").await?.expect(200)?;
            ensure!(told.number("waiting_num")? == 3, "{}", told.text);
            Ok(())
        })
        .await?;
    }
    let last = visitors[7].status().await?.expect(200)?;
    ensure!(last.says("waiting"), "{}", last.text);
    let like = fields(&last)?;
    let mut bots = try_join_all((0..BOTS).map(|index| bot(&deployment, index))).await?;
    for (bot, joined) in &bots {
        ensure!(joined.says("waiting") && fields(joined)? == like, "{}", joined.text);
        assert_eq!(bot.ticket().len(), visitors[7].ticket().len());
        ensure!((9..=16).contains(&joined.number("queue_number")?), "{}", joined.text);
        let id = joined.text_of("request_id")?;
        assert_eq!(id.len(), last.text_of("request_id")?.len());
        ensure!(deployment.aws("sale").generate_token(&id).await?.status != 200, "a token");
    }
    for round in 0..4 {
        try_join_all(bots.iter_mut().map(|(bot, _)| tries_everything(bot, &like))).await?;
        let status = operator.status("sale").await?;
        assert_eq!(status.number("queue_counter")?, 8, "round {round}");
        ensure!(status.number("waiting")? <= 3, "{}", status.text);
    }
    // The line moves past them, to whoever came after.
    let mut late = honest(&deployment, 8).await?.pop().context("nobody")?;
    ensure!(late.status().await?.number("queue_number")? == 16, "the bots' numbers are theirs");
    for visitor in &mut visitors {
        visitor.leave().await?;
    }
    operator.patch_room("sale", &json!({ "total_active_users": 100 })).await?.expect(200)?;
    late.claims(SOON).await?;
    for (bot, first) in &mut bots {
        tries_everything(bot, &like).await?;
        let now = bot.status().await?.expect(200)?;
        assert_eq!(now.text_of("request_id")?, first.text_of("request_id")?);
        ensure!(now.number("people_ahead")? <= 10, "{}", now.text);
    }
    assert_eq!(operator.status("sale").await?.number("queue_counter")?, 16);
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.expect(200)?;
    let counter = "vestibule_challenges_endless_line_total{room=\"sale\"} ";
    ensure!(metrics.text.contains(counter), "{}", metrics.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bot_that_solves_it_gets_a_place_and_one_that_leaves_is_gone() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    room(&deployment, json!({ "total_active_users": 5 })).await?;
    let told = deployment.admissions();
    let told = Reply::of(told.http().get(told.at("/v1/rooms/sale/challenge")?)).await?;
    let solution = solve(&told.expect(200)?.body)?;
    let (one, _) = bot(&deployment, 0).await?;
    let joined = one.clone().with_header(HEADER, &solution).join().await?.expect(200)?;
    ensure!(joined.says("admitted") && joined.number("queue_number")? == 1, "{}", joined.text);
    challenge_of(join(&deployment, "sale", &solution).await?).context("it did its work once")?;
    let (mut other, first) = bot(&deployment, 1).await?;
    let left = other.leave().await?.expect(200)?;
    ensure!(left.says("closed"), "{}", left.text);
    assert_eq!(left.text_of("request_id")?, first.text_of("request_id")?);
    ensure!(other.status().await?.expect(200)?.says("closed"));
    ensure!(other.join().await?.expect(200)?.says("waiting"), "in the endless line anew");
    let status = deployment.operator().status("sale").await?;
    assert_eq!((status.number("queue_counter")?, status.number("active_users")?), (1, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_be_a_person_is_told() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let routes = json!([{ "host": "shop.example", "path": "/" }]);
    room(&deployment, json!({ "total_active_users": 5, "routes": routes })).await?;
    let mut ann = Browser::new(&deployment);
    let page = ann.get("/room/sale").await?.expect(200)?;
    ensure!(page.text.contains("id=\"scriptless\"") && ann.cookies.is_empty(), "{}", page.text);
    let news = ann.news("/room/sale").await?.expect(200)?;
    ensure!(news.body["state"] == "challenge" && ann.cookies.is_empty(), "{}", news.text);
    let form = [("sec-fetch-site", "same-origin")];
    let sent = ann.send(Method::POST, "/room/sale/enter", &form).await?;
    ensure!(sent.status == 303 && ann.cookies.is_empty(), "{}", sent.text);
    let site = |accept| {
        SiteVisitor::new(deployment.admissions().clone(), "shop.example")
            .with_header("accept", accept)
    };
    site("text/html").finds_a_room("/", SOON).await?;
    for accept in ["text/html", "image/avif", "application/json"] {
        let asked = site(accept).get("/shoes").await?;
        assert_eq!(asked.header("vestibule-decision"), "challenge", "{accept}");
    }
    let admissions = deployment.admissions();
    let assign = admissions.http().post(admissions.at("/assign_queue_num")?);
    let assign = assign.json(&json!({ "event_id": "sale" })).header(HEADER, "rubbish");
    challenge_of(Reply::of(assign).await?)?;
    // A page that brings rubbish.
    let accept = format!("{NEWS};turn=enter;challenge=rubbish");
    let mut bot = Browser::new(&deployment);
    let news = bot.send(Method::GET, "/room/sale", &[("accept", &accept)]).await?.expect(200)?;
    ensure!(news.body["state"] == "waiting" && !bot.cookies.is_empty(), "{}", news.text);
    let accept = format!("{NEWS};turn=enter");
    for _ in 0..3 {
        let news = bot.send(Method::GET, "/room/sale", &[("accept", &accept)]).await?;
        ensure!(news.body["state"] == "waiting", "{}", news.text);
    }
    bot.finds("/room/sale", "waiting").await?;
    let solution = solve(&challenge_of(site("application/json").get("/shoes").await?)?)?;
    let accept = format!(
        "{NEWS};turn=enter;challenge={}",
        solution.replace('+', "-").replace('/', "_").trim_end_matches('=')
    );
    let news = bot.send(Method::GET, "/room/sale", &[("accept", &accept)]).await?.expect(200)?;
    ensure!(news.body["state"] == "inside", "{}", news.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_over_with_a_reset_and_with_the_setting() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    room(&deployment, json!({ "total_active_users": 5 })).await?;
    let (mut one, _) = bot(&deployment, 0).await?;
    deployment.operator().call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    eventually(SOON, "its ticket is void", || async {
        one.clone().status().await?.expect(400).map(drop)
    })
    .await?;
    ensure!(one.join().await?.expect(200)?.says("waiting"));
    let off = json!({ "challenge": { "mode": "off" } });
    deployment.operator().patch_room("sale", &off).await?.expect(200)?;
    one.sees("expired", SOON).await?;
    ensure!(one.join().await?.expect(200)?.says("admitted"), "a newcomer of an open room");
    Ok(())
}
