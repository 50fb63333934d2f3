//! What a gateway hears from the authorizer, through a visitor's whole journey.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Aws, Deployment, Reply, SiteVisitor, claims_of, eventually};

const SOON: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);
pub(crate) const HOST: &str = "shop.example";

/// A room at `/sale` of the host, with these settings besides.
pub(crate) async fn create_sale(deployment: &Deployment, more: Value) -> Result<()> {
    create(deployment, "sale", "/sale", more).await
}

/// A room at a path of the host, with these settings besides.
pub(crate) async fn create(
    deployment: &Deployment,
    room: &str,
    path: &str,
    more: Value,
) -> Result<()> {
    let mut settings = json!({ "routes": [{ "host": HOST, "path": path }] });
    let (all, more) = (settings.as_object_mut(), more.as_object().cloned());
    all.context("an object")?.extend(more.context("an object")?);
    deployment.create_room(room, &settings).await?;
    for fleet in deployment.admissions().each() {
        // As a preflight, which takes no place.
        let probe = SiteVisitor::new(fleet, HOST)
            .with_header("origin", "https://x.example")
            .with_header("access-control-request-method", "GET");
        eventually(SOON, "the routes at every admission", || async {
            let reply = probe.clone().asks("OPTIONS", path).await?;
            expect(&reply, 200, "preflight")?;
            // Another room may cover the path as long as this one's routes are not known.
            ensure!(reply.header("vestibule-room") == room, "{:?}", reply.headers);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Fails unless the authorizer decided so.
pub(crate) fn expect(reply: &Reply, status: u16, decision: &str) -> Result<()> {
    let said = reply.header("vestibule-decision");
    ensure!(
        (reply.status, said) == (status, decision),
        "expected {status} {decision}, got {} {said}: {}",
        reply.status,
        reply.text
    );
    Ok(())
}

/// Asks until the authorizer decides so.
pub(crate) async fn until(
    visitor: &mut SiteVisitor,
    target: &str,
    status: u16,
    decision: &str,
) -> Result<Reply> {
    let deadline = Instant::now() + SOON;
    loop {
        let reply = visitor.get(target).await?;
        match expect(&reply, status, decision) {
            Ok(()) => return Ok(reply),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Starts the room `sale` afresh, and waits until every instance has heard of it: one that has not
/// takes the tickets of now for foreign ones.
async fn reset_sale(deployment: &Deployment) -> Result<()> {
    deployment.operator().call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    for fleet in deployment.admissions().each() {
        let aws = Aws::new(fleet, deployment.controllers().clone(), "", "sale");
        eventually(SOON, "the reset at every admission", || async {
            let serving = aws.serving().await?;
            ensure!(serving == 0, "it still serves {serving}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_enters_in_the_very_request_and_is_inside_from_then_on() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    let entered = ann.get("/sale/shoes?size=42").await?;
    expect(&entered, 200, "entered")?;
    ensure!(entered.header("vestibule-room") == "sale");
    let token = entered.header("vestibule-token");
    deployment.verifier().await?.verify(token, "sale")?;
    ensure!(claims_of(token)?.queue_position == 1);
    let cookie = entered.header("set-cookie");
    ensure!(cookie.starts_with("__Host-vestibule_sale="), "{cookie}");
    for attribute in ["Path=/", "HttpOnly", "Secure", "SameSite=Lax"] {
        ensure!(cookie.contains(&format!("; {attribute}")), "{cookie}");
    }
    ensure!(!cookie.contains("Domain"), "{cookie}");
    ensure!(cookie.len() < 260, "{} bytes", cookie.len());
    for target in ["/sale", "/sale/x", "/sale/x?y=z"] {
        let inside = ann.get(target).await?;
        expect(&inside, 200, "inside")?;
        ensure!(inside.header("set-cookie").is_empty(), "there is nothing new");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_enters_by_asking_for_the_same_page_again() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    let mut bob = deployment.site_visitor(HOST).with_header("accept", "application/json");
    let waits = bob.get("/sale").await?;
    expect(&waits, 503, "wait")?;
    // Whether it is at the front already depends on when the leader looks.
    ensure!(waits.says("waiting") || waits.says("your_turn"), "{}", waits.text);
    ensure!(waits.number("queue_number")? == 2, "{}", waits.text);
    ensure!(!waits.header("retry-after").is_empty() && waits.header("cache-control") == "no-store");
    let again = bob.get("/sale").await?;
    expect(&again, 503, "wait")?;
    ensure!(again.number("queue_number")? == 2, "the place is kept");
    let mut leaving = deployment.visitor("sale").with_ticket(&ann.cookies["__Host-vestibule_sale"]);
    leaving.leave().await?.expect(200)?;
    until(&mut bob, "/sale", 200, "entered").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_waiting_page_asks_without_entering() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1, "queue_all": true })).await?;
    let mut bob = deployment.site_visitor(HOST);
    expect(&bob.get("/sale").await?, 503, "wait")?;
    let operator = deployment.operator();
    operator.patch_room("sale", &json!({ "queue_all": false })).await?.expect(200)?;
    let mut page = bob.clone().with_header("accept", "application/vnd.vestibule.page+json");
    // It goes on asking when its turn has come.
    let (deadline, mut turns) = (Instant::now() + SOON, 0);
    while turns < 5 {
        let told = page.get("/sale").await?;
        expect(&told, 503, "wait")?;
        turns += u32::from(told.body["state"] == "turn");
        ensure!(Instant::now() < deadline, "its turn does not come: {}", told.text);
        sleep(PAUSE).await;
    }
    ensure!(operator.status("sale").await?.number("active_users")? == 0, "nobody has entered");
    page.cookies.clone_into(&mut bob.cookies);
    until(&mut bob, "/sale", 200, "entered").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_site_revokes_is_free_at_once_at_every_instance() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).start().await?;
    let settings = json!({ "total_active_users": 1, "origin_commands": ["revoke"] });
    create_sale(&deployment, settings).await?;
    for header in ["Vestibule-Command", "Cf-Waiting-Room-Command"] {
        let mut ann = deployment.site_visitor(HOST);
        until(&mut ann, "/sale", 200, "entered").await?;
        let copy = ann.clone();
        ann.site_commands(header, "revoke").await?.expect(204)?;
        ensure!(ann.cookies.is_empty(), "the ticket is taken: {:?}", ann.cookies);
        let mut bob = deployment.site_visitor(HOST);
        until(&mut bob, "/sale", 200, "entered").await?;
        for fleet in deployment.admissions().each() {
            // A cookie that was kept opens nothing any more.
            let mut replayed = copy.clone().at(fleet);
            expect(&until(&mut replayed, "/sale", 503, "wait").await?, 503, "wait")?;
        }
        bob.site_commands(header, "revoke").await?.expect(204)?;
        reset_sale(&deployment).await?;
    }
    Ok(())
}

/// Before the push of that has come back to the instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_session_was_ended_is_not_inside_from_the_answer_on() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1_000, "origin_commands": ["revoke"] });
    create_sale(&deployment, settings).await?;
    // One network gets twenty seats.
    for nth in 0..19 {
        let mut ann = deployment.site_visitor(HOST);
        until(&mut ann, "/sale", 200, "entered").await?;
        let mut replayed = ann.clone();
        ann.site_commands("Vestibule-Command", "revoke").await?.expect(204)?;
        let decision = replayed.get("/sale").await?.header("vestibule-decision").to_owned();
        ensure!(decision == "wait" || decision == "entered", "{nth}: {decision}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_may_revoke_only_where_the_room_says_so() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    ann.site_commands("Vestibule-Command", "revoke").await?.expect(400)?;
    expect(&ann.get("/sale").await?, 200, "inside")?;
    let on = json!({ "origin_commands": ["revoke"] });
    deployment.operator().patch_room("sale", &on).await?.expect(200)?;
    ann.site_commands("Vestibule-Command", "reboot").await?.expect(400)?;
    let mut stranger = deployment.site_visitor("other.example");
    stranger.site_commands("Vestibule-Command", "revoke").await?.expect(404)?;
    expect(&ann.get("/sale").await?, 200, "inside")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_has_the_form_that_the_gateway_asks_for() -> Result<()> {
    let public = "https://wait.example";
    let deployment =
        Deployment::builder().environment("VESTIBULE_PUBLIC_URL", public).start().await?;
    create_sale(&deployment, json!({ "total_active_users": 0 })).await?;
    let status = deployment.site_visitor(HOST).refused_by("status").get("/sale").await?;
    expect(&status, 401, "wait")?;
    ensure!(status.text.is_empty() && !status.header("vestibule-ticket").is_empty());
    let redirect = deployment.site_visitor(HOST).refused_by("redirect").get("/sale?a=b&c").await?;
    expect(&redirect, 302, "wait")?;
    let location =
        "https://wait.example/room/sale?return=https%3A%2F%2Fshop.example%2Fsale%3Fa%3Db%26c";
    ensure!(redirect.header("location") == location, "{}", redirect.header("location"));
    let unknown = deployment.site_visitor(HOST).refused_by("teapot").get("/sale").await?;
    ensure!(unknown.status == 400, "{}", unknown.text);
    let busy = json!({ "queueing_status_code": 429 });
    deployment.operator().patch_room("sale", &busy).await?.expect(200)?;
    let mut page = deployment.site_visitor(HOST);
    until(&mut page, "/sale", 429, "wait").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_share_a_host_and_the_most_specific_one_decides() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 0 })).await?;
    let bypass = json!([{ "name": "health", "when": { "path": { "is": "/sale/vip/health" } } }]);
    let settings = json!({ "total_active_users": 5, "bypass_rules": bypass });
    create(&deployment, "vip", "/sale/vip", settings).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 503, "wait")?;
    let vip = ann.get("/sale/vip/x").await?;
    expect(&vip, 200, "entered")?;
    ensure!(vip.header("vestibule-room") == "vip" && ann.cookies.len() == 2, "{:?}", ann.cookies);
    expect(&ann.get("/sale/vipers").await?, 503, "wait")?;
    expect(&ann.get("/").await?, 200, "uncovered")?;
    let health = deployment.site_visitor(HOST).get("/sale/vip/health").await?;
    expect(&health, 200, "bypassed")?;
    ensure!(health.header("vestibule-rule") == "health" && health.header("set-cookie").is_empty());
    deployment.operator().patch_room("sale", &json!({ "suspended": true })).await?.expect(200)?;
    let mut cy = deployment.site_visitor(HOST);
    let open = until(&mut cy, "/sale", 200, "open").await?;
    ensure!(open.header("set-cookie").is_empty(), "a room that is off counts nobody");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_rooms_get_the_same_route_however_they_ask() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let settings = json!({ "routes": [{ "host": "Shop.Example", "path": "/a" }] });
    let asking = (0..12).map(|index| {
        let (operator, settings) = (deployment.operator(), settings.clone());
        // One who is told that others are changing routes tries again.
        async move {
            loop {
                let reply = operator.put_room(&format!("room{index}"), &settings).await?;
                if reply.status != 409 {
                    return anyhow::Ok(reply);
                }
            }
        }
    });
    let replies = futures_util::future::try_join_all(asking).await?;
    let made = replies.iter().filter(|reply| reply.status == 201).count();
    ensure!(made == 1, "{:?}", replies.iter().map(|reply| reply.status).collect::<Vec<_>>());
    for refused in replies.iter().filter(|reply| reply.status != 201) {
        ensure!(refused.status == 400, "{}", refused.text);
        ensure!(refused.body["errors"][0]["field"] == "routes[0]", "{}", refused.text);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_those_inside_stay_inside_and_newcomers_are_told_to_come_back() -> Result<()>
{
    let mut deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 5 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    deployment.redis_mut().kill().await?;
    for _ in 0..20 {
        expect(&ann.get("/sale").await?, 200, "inside")?;
    }
    let newcomer = deployment.site_visitor(HOST).get("/sale").await?;
    expect(&newcomer, 503, "busy")?;
    newcomer.expect_retry_later()?;
    let status = deployment.site_visitor(HOST).refused_by("status").get("/sale").await?;
    expect(&status, 401, "busy")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flush_puts_nobody_out_and_the_routes_come_back() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut ann = deployment.site_visitor(HOST);
    expect(&ann.get("/sale").await?, 200, "entered")?;
    deployment.redis().flush().await?;
    eventually(SOON, "the room is back", || async {
        let room =
            deployment.operator().call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
        ensure!(room.body["routes"][0]["path"] == "/sale", "{}", room.text);
        Ok(())
    })
    .await?;
    until(&mut ann, "/sale", 200, "inside").await?;
    let mut bob = deployment.site_visitor(HOST);
    until(&mut bob, "/sale", 503, "wait").await?;
    Ok(())
}
