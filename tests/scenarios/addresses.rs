//! Addresses as clients may well ask for them: not UTF-8, of no room, and with `HEAD`, which changes
//! nothing.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{
    Method,
    header::{ACCEPT, SET_COOKIE},
};
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Fleet, Reply, eventually};

use crate::{
    authorizer::expect,
    page::{Browser, NEWS, is},
    rooms::expect_problem,
};

const PEOPLE: &str = "text/html,*/*;q=0.8";
const OWN_FORM: [(&str, &str); 2] = [("sec-fetch-site", "same-origin"), ("accept", PEOPLE)];

/// A full room that answers in Cloudflare's form too.
async fn full_room() -> Result<Deployment> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "json_response_enabled": true });
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

async fn head(deployment: &Deployment, path: &str, accept: &str, ticket: &str) -> Result<Reply> {
    let fleet = deployment.admissions();
    let request = fleet.http().head(fleet.at(path)?).header(ACCEPT, accept);
    let reply = Reply::of(request.header("vestibule-ticket", ticket)).await?;
    let told = format!("HEAD {path} for {accept}: {} {:?}", reply.status, reply.headers);
    let is_silent = !reply.headers.contains_key(SET_COOKIE)
        && !reply.headers.contains_key("vestibule-ticket")
        && reply.text.is_empty();
    ensure!(is_silent, "{told}");
    Ok(reply)
}

/// Method and path of all operations that a service documents, where a path has parameters.
async fn operations(fleet: &Fleet) -> Result<Vec<(Method, String)>> {
    let document = Reply::of(fleet.http().get(fleet.at("/openapi.json")?)).await?.expect(200)?;
    let paths = document.body["paths"].as_object().context("paths")?;
    let with_parameters = paths.iter().filter(|(path, _)| path.contains('{'));
    let operations = with_parameters.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flat_map(serde_json::Map::keys);
        methods.map(|method| (method.to_uppercase(), path.clone()))
    });
    let mut all = Vec::new();
    for (method, path) in operations {
        if method == "GET" {
            all.push((Method::HEAD, path.clone()));
        }
        all.push((method.parse()?, path));
    }
    Ok(all)
}

/// `path` with each parameter in turn set to `wrong`, and the others to a name.
fn with_wrong(path: &str, wrong: &str) -> Vec<String> {
    let parts: Vec<_> = path.split('/').collect();
    let is_parameter = |part: &str| part.starts_with('{');
    let set = |at: usize| {
        let part = |(index, part): (usize, &&str)| match part {
            part if !is_parameter(part) => (*part).to_owned(),
            _ if index == at => wrong.to_owned(),
            _ => "sale".to_owned(),
        };
        parts.iter().enumerate().map(part).collect::<Vec<_>>().join("/")
    };
    (0..parts.len()).filter(|at| is_parameter(parts[*at])).map(set).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_not_utf8_is_the_callers_mistake_on_every_route() -> Result<()> {
    let deployment = full_room().await?;
    let mut tried = 0;
    for fleet in [deployment.admissions(), deployment.controllers()] {
        for (method, path) in operations(fleet).await? {
            for path in with_wrong(&path, "%ff").iter().chain(&with_wrong(&path, "a%2Fb%C3")) {
                let request = fleet.http().request(method.clone(), fleet.at(path)?);
                let reply = Reply::of(request.bearer_auth(deployment.secrets()[1])).await?;
                ensure!(reply.status == 400, "{method} {path}: {} {}", reply.status, reply.text);
                if method != Method::HEAD {
                    expect_problem(&reply, 400, "UTF-8")
                        .with_context(|| format!("{method} {path}"))?;
                }
                tried += 1;
            }
        }
    }
    ensure!(tried > 60, "only {tried} addresses were tried");
    ensure!(!deployment.logs().contains("ERROR"), "{}", deployment.logs());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn head_takes_no_place_and_no_seat() -> Result<()> {
    let deployment = full_room().await?;
    for accept in [PEOPLE, NEWS, "application/json", "*/*"] {
        let reply = head(&deployment, "/room/sale", accept, "").await?.expect(200)?;
        let media_type = reply.header("content-type").split(';').next().unwrap_or_default();
        let expected =
            if accept.starts_with("text/") || accept == "*/*" { "text/html" } else { accept };
        assert_eq!(media_type, expected);
        assert_eq!(reply.header("cache-control"), "no-store");
        head(&deployment, "/room/nothing", accept, "").await?.expect(404)?;
    }
    head(&deployment, "/v1/rooms/sale/status", "application/json", "").await?.expect(200)?;
    head(&deployment, "/v1/rooms/sale/status", "*/*", "").await?.expect(400)?;
    head(&deployment, "/room/sale/live", "text/event-stream", "").await?;
    let status = deployment.operator().status("sale").await?;
    assert_eq!((status.number("queue_counter")?, status.number("active_users")?), (0, 0));
    let mut first = deployment.visitor("sale");
    let joined = first.join().await?.expect(200)?;
    ensure!(joined.number("queue_number")? == 1 && joined.says("admitted"), "{}", joined.text);

    // The next in line, once the seat is free: only what it does itself lets it in.
    let mut next = deployment.visitor("sale");
    next.join().await?.expect(200)?;
    first.leave().await?.expect(200)?;
    next.sees("your_turn", Duration::from_secs(20)).await?;
    for (path, accept) in [
        ("/room/sale", "application/json"),
        ("/v1/rooms/sale/status", "application/json"),
        ("/v1/rooms/sale/status", "*/*"),
    ] {
        head(&deployment, path, accept, next.ticket()).await?.expect(200)?;
    }
    assert_eq!(deployment.operator().status("sale").await?.number("active_users")?, 0);
    ensure!(next.claim().await?.says("admitted"));
    Ok(())
}

/// The keys by which Redis knows who is there.
async fn presence(deployment: &Deployment, room: &str) -> Result<Vec<String>> {
    let mut connection = deployment.redis().connection().await?;
    let pattern = format!("vestibule:room:{{{room}}}:there:*");
    Ok(redis::cmd("KEYS").arg(pattern).query_async(&mut connection).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn head_does_not_say_that_an_aws_style_client_is_there() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    for room in ["sale", "other"] {
        deployment.create_room(room, &json!({})).await?;
    }
    let id = deployment.aws("sale").assign().await?;
    for call in ["queue_num", "queue_pos_expiry"] {
        let path = format!("/{call}?event_id=sale&request_id={id}");
        head(&deployment, &path, "*/*", "").await?;
    }
    let other = deployment.aws("other");
    other.request_get("/queue_num", &other.assign().await?).await?.expect(200)?;
    eventually(Duration::from_secs(20), "who asked by GET is there", || async {
        ensure!(!presence(&deployment, "other").await?.is_empty());
        Ok(())
    })
    .await?;
    let there = presence(&deployment, "sale").await?;
    ensure!(there.is_empty(), "{there:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_may_ask_with_the_method_of_the_request() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    crate::authorizer::create(&deployment, "sale", "/sale", json!({})).await?;
    let fleet = deployment.admissions();
    let request = fleet.http().head(fleet.at("/authorize")?);
    let request = request
        .header("x-forwarded-method", "HEAD")
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "shop.example")
        .header("x-forwarded-uri", "/sale");
    let reply = Reply::of(request).await?;
    ensure!(reply.headers.contains_key(SET_COOKIE), "{} {:?}", reply.status, reply.headers);
    expect(&reply, reply.status, reply.header("vestibule-decision"))?;
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, 1, "a request for the site like any other");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_are_told_in_words_that_there_is_no_room() -> Result<()> {
    let deployment = full_room().await?;
    let mut ann = Browser::new(&deployment);
    for room in ["nothing", "a%20b", "%ff"] {
        let page = ann.get(&format!("/room/{room}")).await?.expect(404)?;
        is(&page, "no_room")?;
        let form = ann.send(Method::POST, &format!("/room/{room}/enter"), &OWN_FORM).await?;
        is(&form.expect(404)?, "no_room")?;
        let status = if room == "nothing" { 404 } else { 400 };
        let app = ann.send(Method::GET, &format!("/room/{room}"), &[]).await?;
        expect_problem(&app, status, "")?;
        let app = ann.send(Method::POST, &format!("/room/{room}/enter"), &OWN_FORM[..1]).await?;
        expect_problem(&app, status, "")?;
    }
    ann.get("/room/sale").await?.expect(200)?;
    deployment
        .operator()
        .call(Method::DELETE, "/v1/rooms/sale?people=9", None)
        .await?
        .expect(204)?;
    let form = ann.send(Method::POST, "/room/sale/enter", &OWN_FORM).await?;
    is(&form.expect(404)?, "no_room")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn continue_never_leads_back_to_the_page_itself() -> Result<()> {
    let deployment = Deployment::builder()
        .environment("VESTIBULE_PUBLIC_URL", "https://wait.example/queue")
        .start()
        .await?;
    let settings: Value = json!({ "queueing_method": "passthrough" });
    deployment.create_room("sale", &settings).await?;
    for (wanted, is_offered) in [
        ("/room/sale", false),
        ("/room/sale?return=%2Froom%2Fsale", false),
        ("/room/s%2561le", false),
        ("/room//sale%23x", false),
        ("/queue/room/sale", false),
        ("https://wait.example/queue/room/sale", false),
        ("https://wait.example/room/other", true),
        ("/room/other", true),
        ("/sale", true),
    ] {
        let page = Browser::new(&deployment).get(&format!("/room/sale?return={wanted}")).await?;
        is(&page, "inside")?;
        ensure!(page.text.contains("id=\"go\" href") == is_offered, "{wanted}: {}", page.text);
    }
    Ok(())
}
