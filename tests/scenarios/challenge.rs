//! A room's challenge: without a solution nobody gets a place, a solution is for one place in one room, and
//! who has a place is not asked again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, Service, SiteVisitor, eventually, solve};

use crate::page::{Browser, NEWS};

const SOON: Duration = Duration::from_secs(20);
const HEADER: &str = "vestibule-challenge";

/// A room with such a challenge.
pub(crate) async fn challenged(
    deployment: &Deployment,
    room: &str,
    challenge: Value,
) -> Result<()> {
    let settings = json!({ "total_active_users": 100, "challenge": challenge });
    deployment.create_room(room, &settings).await
}

/// A join that shows `proof`, if there is one.
pub(crate) async fn join(deployment: &Deployment, room: &str, proof: &str) -> Result<Reply> {
    let admissions = deployment.admissions();
    let request = admissions.http().post(admissions.at(&format!("/v1/rooms/{room}/join"))?);
    Reply::of(if proof.is_empty() { request } else { request.header(HEADER, proof) }).await
}

/// A refused join, by a problem that says what to solve.
pub(crate) fn challenge_of(refused: Reply) -> Result<Value> {
    let refused = refused.expect(403)?;
    ensure!(refused.body["type"] == "urn:vestibule:problem:challenge-required", "{}", refused.text);
    Ok(refused.body["challenge"].clone())
}

/// How many newcomers of the room came out so, at an instance.
pub(crate) async fn count(deployment: &Deployment, room: &str, outcome: &str) -> Result<u64> {
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.expect(200)?;
    let start = format!("vestibule_challenges_total{{room=\"{room}\",outcome=\"{outcome}\"}} ");
    let line = metrics.text.lines().find_map(|line| line.strip_prefix(start.as_str()));
    line.map_or(Ok(0), |count| count.parse().context("a count"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_solves_it_once_and_is_not_asked_again() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    challenged(&deployment, "sale", json!({ "mode": "challenge" })).await?;
    let told = challenge_of(join(&deployment, "sale", "").await?)?;
    ensure!(told["provider"] == "proof_of_work" && told["algorithm"] == "SHA-256", "{told}");
    let solution = solve(&told)?;
    let joined = join(&deployment, "sale", &solution).await?.expect(200)?;
    ensure!(joined.says("admitted"), "{}", joined.text);
    let again = join(&deployment, "sale", &solution).await?;
    ensure!(again.body["errors"][0]["reason"] == "it was used before", "{}", again.text);
    challenge_of(again)?;
    let mut holder = deployment.visitor("sale").with_ticket(joined.header("vestibule-ticket"));
    assert_eq!(holder.join().await?.expect(200)?.number("queue_number")?, 1);
    holder.status().await?.expect(200)?;
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, 1, "nobody else has a number");
    let counts = ["missing", "solved", "used"].map(|outcome| count(&deployment, "sale", outcome));
    assert_eq!(try_join_all(counts).await?, [1, 1, 1]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_solution_is_for_one_place_in_one_room_over_all_instances() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    challenged(&deployment, "sale", json!({ "mode": "challenge" })).await?;
    challenged(&deployment, "other", json!({ "mode": "challenge" })).await?;
    let admissions = deployment.admissions();
    let told = Reply::of(admissions.http().get(admissions.at("/v1/rooms/sale/challenge")?)).await?;
    let solution = solve(&told.expect(200)?.body)?;
    let foreign = challenge_of(join(&deployment, "other", &solution).await?);
    foreign.context("of another room")?;
    let many = (0..20).map(|_| join(&deployment, "sale", &solution));
    let joined = try_join_all(many).await?.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(joined, 1);
    deployment.operator().call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    challenge_of(join(&deployment, "sale", &solution).await?).context("after a reset")?;
    challenge_of(join(&deployment, "sale", "rubbish").await?)?;
    deployment.create_room("open", &json!({})).await?;
    Reply::of(admissions.http().get(admissions.at("/v1/rooms/open/challenge")?))
        .await?
        .expect(404)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aws_style_clients_send_it_too() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    challenged(&deployment, "sale", json!({ "mode": "challenge" })).await?;
    let admissions = deployment.admissions();
    let assign = |proof: String| async move {
        let request = admissions.http().post(admissions.at("/assign_queue_num")?);
        Reply::of(request.json(&json!({ "event_id": "sale" })).header(HEADER, proof)).await
    };
    let solution = solve(&challenge_of(assign(String::new()).await?)?)?;
    let assigned = assign(solution).await?.expect(200)?;
    ensure!(assigned.body["api_request_id"].is_string(), "{}", assigned.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_only_logs_lets_everybody_in_and_counts() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    challenged(&deployment, "sale", json!({ "mode": "log" })).await?;
    for proof in ["", "rubbish"] {
        join(&deployment, "sale", proof).await?.expect(200)?;
    }
    let counts = ["missing", "wrong"].map(|outcome| count(&deployment, "sale", outcome));
    assert_eq!(try_join_all(counts).await?, [1, 1]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_solves_it_before_its_visitor_has_a_place() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let settings = json!({ "challenge": { "mode": "challenge" } });
    deployment.create_room("sale", &settings).await?;
    let mut ann = Browser::new(&deployment);
    let page = ann.get("/room/sale").await?.expect(200)?;
    ensure!(page.text.contains("data-state=\"challenge\""), "{}", page.text);
    ensure!(page.header("content-security-policy").contains("worker-src blob:"));
    ensure!(page.text.contains("id=\"scriptless\"") && ann.cookies.is_empty());
    let news = ann.news("/room/sale").await?.expect(200)?;
    ensure!(news.body["state"] == "challenge", "{}", news.text);
    // As the page's script sends it: by characters that may stand in every header.
    let solution = solve(&news.body["puzzle"])?.replace('+', "-").replace('/', "_");
    let accept = format!("{NEWS};turn=hold;challenge={}", solution.trim_end_matches('='));
    let news = ann.send(Method::GET, "/room/sale", &[("accept", &accept)]).await?.expect(200)?;
    ensure!(news.body["state"] == "waiting" && news.body["puzzle"].is_null(), "{}", news.text);
    ann.finds("/room/sale", "waiting").await?;
    let mut bob = Browser::new(&deployment);
    let form = [("sec-fetch-site", "same-origin")];
    let sent = bob.send(Method::POST, "/room/sale/enter", &form).await?;
    assert_eq!((sent.status, sent.header("location")), (303, "../sale"));
    let refused = bob.send(Method::GET, "/room/sale", &[("accept", &accept)]).await?;
    ensure!(refused.body["state"] == "challenge", "used before: {}", refused.text);
    ensure!(refused.body["texts"]["notice"] != "", "{}", refused.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateways_visitor_solves_it_in_the_place_of_the_wanted_page() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let routes = json!([{ "host": "shop.example", "path": "/" }]);
    let challenge = json!({ "mode": "challenge" });
    let settings = json!({ "total_active_users": 5, "routes": routes, "challenge": challenge });
    deployment.create_room("sale", &settings).await?;
    let ann = deployment.site_visitor("shop.example");
    ann.finds_a_room("/", SOON).await?;
    let page = ann.with_header("accept", "text/html").get("/shoes").await?.expect(503)?;
    assert_eq!(page.header("vestibule-decision"), "challenge");
    ensure!(page.text.contains("data-state=\"challenge\""), "{}", page.text);
    let visitor = || SiteVisitor::new(deployment.admissions().clone(), "shop.example");
    let app = visitor().with_header("accept", "application/json").get("/shoes").await?;
    let solution = solve(&challenge_of(app)?)?;
    for (refusal, status) in [("status", 401), ("redirect", 302)] {
        visitor().refused_by(refusal).get("/shoes").await?.expect(status)?;
    }
    let passes = visitor().with_header(HEADER, solution).get("/shoes").await?.expect(200)?;
    assert_eq!(passes.header("vestibule-decision"), "entered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passes_are_for_kiosks_and_tests() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    challenged(&deployment, "sale", json!({ "mode": "challenge" })).await?;
    let make = async |body: Value| {
        deployment.operator().call(Method::POST, "/v1/rooms/sale/passes", Some(&body)).await
    };
    let pass = |reply: Reply| reply.body["pass"].as_str().map(str::to_owned).context("no pass");
    let many = pass(make(json!({ "seconds": 60 })).await?.expect(200)?)?;
    for _ in 0..3 {
        join(&deployment, "sale", &many).await?.expect(200)?;
    }
    let once = pass(make(json!({ "seconds": 60, "single_use": true })).await?.expect(200)?)?;
    join(&deployment, "sale", &once).await?.expect(200)?;
    challenge_of(join(&deployment, "sale", &once).await?)?;
    challenge_of(join(&deployment, "sale", &once.replace(".once.", ".many.")).await?)?;
    assert_eq!(count(&deployment, "sale", "pass").await?, 4);
    let wrong = make(json!({ "seconds": 604_801 })).await?.expect(400)?;
    ensure!(wrong.body["errors"][0]["field"] == "seconds", "{}", wrong.text);
    make(json!({})).await?.expect(400)?;
    let (operator, valid) = (deployment.operator(), json!({ "seconds": 60 }));
    operator.call(Method::POST, "/v1/rooms/none/passes", Some(&valid)).await?.expect(404)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_setting_reaches_every_instance() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 100 })).await?;
    join(&deployment, "sale", "").await?.expect(200)?;
    let on = json!({ "challenge": { "mode": "challenge" } });
    let room = deployment.operator().patch_room("sale", &on).await?.expect(200)?;
    assert_eq!(room.body["challenge"]["provider"], "proof_of_work");
    eventually(SOON, "both ask for it", || async {
        for one in deployment.admissions().each() {
            let request = one.http().post(one.at("/v1/rooms/sale/join")?);
            challenge_of(Reply::of(request).await?)?;
        }
        Ok(())
    })
    .await?;
    for (challenge, field) in [
        (json!({ "mode": "sometimes" }), "challenge.mode"),
        (json!({ "provider": "turnstile" }), "challenge.site_key"),
        (json!({ "site_key": "x" }), "challenge.site_key"),
    ] {
        let change = json!({ "challenge": challenge });
        let refused = deployment.operator().patch_room("sale", &change).await?.expect(400)?;
        ensure!(refused.body["errors"][0]["field"] == field, "{}", refused.text);
    }
    Ok(())
}

/// Everyone enters, but nobody gets a place by it that it could not have had otherwise.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_room_gives_no_places_away() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let suspended = json!({
        "total_active_users": 2, "suspended": true, "challenge": { "mode": "challenge" },
    });
    deployment.create_room("sale", &suspended).await?;
    for _ in 0..3 {
        let joined = join(&deployment, "sale", "").await?.expect(200)?;
        ensure!(joined.says("admitted"), "{}", joined.text);
        ensure!(joined.header("vestibule-ticket").is_empty(), "there is no place to keep");
    }
    assert_eq!(deployment.operator().status("sale").await?.number("queue_counter")?, 0);
    let limited = json!({
        "total_active_users": 2, "suspended": true, "joins_per_network_per_minute": 2,
    });
    deployment.create_room("other", &limited).await?;
    let mut places = 0;
    for _ in 0..5 {
        let joined = join(&deployment, "other", "").await?.expect(200)?;
        ensure!(joined.says("admitted"), "{}", joined.text);
        places += usize::from(!joined.header("vestibule-ticket").is_empty());
    }
    assert_eq!(places, 2);
    Ok(())
}

/// It is for one place, and who is refused has none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_solution_is_not_used_up_by_a_network_that_is_over_its_limit() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings =
        json!({ "challenge": { "mode": "challenge" }, "joins_per_network_per_minute": 1 });
    deployment.create_room("sale", &settings).await?;
    let solved = async || solve(&challenge_of(join(&deployment, "sale", "").await?)?);
    let [first, second] = [solved().await?, solved().await?];
    join(&deployment, "sale", &first).await?.expect(200)?;
    join(&deployment, "sale", &second).await?.expect(429)?;
    let more = json!({ "joins_per_network_per_minute": null });
    deployment.operator().patch_room("sale", &more).await?.expect(200)?;
    eventually(SOON, "the limit to be gone, and the solution to count", || async {
        join(&deployment, "sale", &second).await?.expect(200)?;
        Ok(())
    })
    .await?;
    challenge_of(join(&deployment, "sale", &second).await?)?;
    Ok(())
}
