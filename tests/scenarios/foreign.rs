//! What pages of other origins can do with a visitor whose browser they have: nothing that its cookie would say for
//! it, unless the room's operator has named the origin.

use anyhow::{Context, Result, ensure};
use reqwest::{
    Method,
    header::{COOKIE, SET_COOKIE},
};
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Reply, SiteVisitor, eventually};

use crate::{authorizer, rooms::expect_problem};

/// What a browser says of a request that a page of another origin makes.
const FOREIGN: [&[(&str, &str)]; 5] = [
    &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
    &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
    &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
    // Browsers say only this without encryption.
    &[("origin", "http://evil.example")],
    &[("origin", "null")],
];
/// And by a form in the place of the whole page.
const FORM: &[(&str, &str)] = &[
    ("sec-fetch-site", "cross-site"),
    ("sec-fetch-mode", "navigate"),
    ("origin", "https://evil.example"),
];
const SHOP: &str = "https://shop.example";

async fn send(
    deployment: &Deployment,
    (method, path): (Method, &str),
    cookie: Option<&str>,
    headers: &[(&str, &str)],
) -> Result<Reply> {
    let fleet = deployment.admissions();
    let mut request = fleet.http().request(method, fleet.at(path)?);
    if let Some(ticket) = cookie {
        request = request.header(COOKIE, format!("vestibule_sale={ticket}"));
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Reply::of(request).await
}

/// A room with these settings, and the ticket of a visitor inside.
async fn inside(settings: &Value) -> Result<(Deployment, String)> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", settings).await?;
    let mut ann = deployment.visitor("sale");
    ensure!(ann.join().await?.expect(200)?.says("admitted"));
    let ticket = ann.ticket().to_owned();
    Ok((deployment, ticket))
}

async fn active(deployment: &Deployment) -> Result<u64> {
    deployment.operator().status("sale").await?.number("active_users")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_does_not_speak_for_pages_of_other_origins() -> Result<()> {
    let (deployment, ticket) = inside(&json!({ "total_active_users": 9 })).await?;
    let calls = [
        (Method::POST, "/v1/rooms/sale/join"),
        (Method::POST, "/v1/rooms/sale/claim"),
        (Method::GET, "/v1/rooms/sale/status"),
        (Method::POST, "/v1/rooms/sale/leave"),
    ];
    for foreign in FOREIGN {
        for call in calls.clone() {
            let reply = send(&deployment, call.clone(), Some(&ticket), foreign).await?;
            expect_problem(&reply, 403, "cors_origins").with_context(|| format!("{call:?}"))?;
            ensure!(reply.body["type"] == "urn:vestibule:problem:cross-origin", "{}", reply.text);
            ensure!(!reply.headers.contains_key(SET_COOKIE), "{call:?}: {:?}", reply.headers);
        }
    }
    assert_eq!(active(&deployment).await?, 1);
    // An app's page has the ticket itself, and sends it on purpose.
    let app = [("origin", "https://app.example"), ("vestibule-ticket", &*ticket)];
    let reply = send(&deployment, calls[3].clone(), None, &app).await?.expect(200)?;
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(active(&deployment).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_other_origins_join_without_a_cookie_and_set_none() -> Result<()> {
    let (deployment, _) = inside(&json!({ "total_active_users": 9 })).await?;
    for foreign in FOREIGN {
        let join = (Method::POST, "/v1/rooms/sale/join");
        let reply = send(&deployment, join, None, foreign).await?.expect(200)?;
        ensure!(!reply.header("vestibule-ticket").is_empty(), "{:?}", reply.headers);
        // Whoever has a cookie and was led here by a form, which does not bring it along, keeps it.
        ensure!(!reply.headers.contains_key(SET_COOKIE), "{foreign:?}: {:?}", reply.headers);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_another_site_takes_nobodys_place_at_a_gateway() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    authorizer::create(&deployment, "sale", "/sale", json!({ "total_active_users": 9 })).await?;
    let visitor = SiteVisitor::new(deployment.admissions().clone(), authorizer::HOST);
    let mut led = visitor.clone();
    for (name, value) in [FORM, &[("accept", "text/html")]].concat() {
        led = led.with_header(name, value);
    }
    // Its cookie has stayed behind, if it has one.
    for refuse in ["page", "status"] {
        let reply = led.clone().refused_by(refuse).asks("POST", "/sale").await?;
        ensure!(reply.header("vestibule-decision") == "busy", "{refuse}: {:?}", reply.headers);
        ensure!(!reply.headers.contains_key(SET_COOKIE), "{refuse}: {:?}", reply.headers);
    }
    // nginx asks for the page then.
    let gateway = [
        ("x-forwarded-method", "GET"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", authorizer::HOST),
        ("x-forwarded-uri", "/sale"),
    ];
    let headers = [&gateway[..], FORM, &[("accept", "text/html")]].concat();
    let page = send(&deployment, (Method::GET, "/room/sale"), None, &headers).await?.expect(503)?;
    ensure!(page.text.contains("data-state=\"busy\""), "{}", page.text);
    ensure!(!page.headers.contains_key(SET_COOKIE), "{:?}", page.headers);
    ensure!(active(&deployment).await? == 0, "nobody has got a place");
    // The page loads the address again, and so do links from anywhere.
    let link = visitor
        .with_header("sec-fetch-site", "cross-site")
        .with_header("sec-fetch-mode", "navigate");
    authorizer::expect(&link.clone().asks("GET", "/sale").await?, 200, "entered")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_opens_from_anywhere_but_cannot_be_fetched_from_elsewhere() -> Result<()> {
    let (deployment, ticket) = inside(&json!({ "total_active_users": 9 })).await?;
    let link =
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("accept", "text/html")];
    let page = (Method::GET, "/room/sale");
    let opened = send(&deployment, page.clone(), Some(&ticket), &link).await?.expect(200)?;
    ensure!(opened.text.contains("data-state=\"inside\""), "{}", opened.text);
    let news = "application/vnd.vestibule.page+json;turn=enter";
    for site in ["cross-site", "same-site"] {
        let fetched = [("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"), ("accept", news)];
        let reply = send(&deployment, page.clone(), Some(&ticket), &fetched).await?;
        ensure!(reply.status == 403, "{site}: {}", reply.text);
    }
    let own = [("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors"), ("accept", news)];
    send(&deployment, page, Some(&ticket), &own).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_that_the_operator_names_may_use_the_cookie() -> Result<()> {
    let settings = json!({ "total_active_users": 9, "cors_origins": [SHOP] });
    let (deployment, ticket) = inside(&settings).await?;
    let allowed = |reply: &Reply| {
        let credentials = reply.header("access-control-allow-credentials").to_owned();
        (reply.header("access-control-allow-origin").to_owned(), credentials)
    };
    let leave = (Method::POST, "/v1/rooms/sale/leave");
    let shop = [("sec-fetch-site", "cross-site"), ("origin", SHOP)];
    let asked = [("origin", SHOP), ("access-control-request-method", "POST")];
    eventually(std::time::Duration::from_secs(10), "the list at the admission", || async {
        let preflight =
            send(&deployment, (Method::OPTIONS, leave.1), None, &asked).await?.expect(200)?;
        ensure!(allowed(&preflight) == (SHOP.into(), "true".into()), "{:?}", preflight.headers);
        Ok(())
    })
    .await?;
    let other = [("sec-fetch-site", "same-site"), ("origin", "https://x.shop.example")];
    let refused = send(&deployment, leave.clone(), Some(&ticket), &other).await?;
    expect_problem(&refused, 403, "cors_origins")?;
    assert_eq!(allowed(&refused), ("*".into(), String::new()));
    let left = send(&deployment, leave, Some(&ticket), &shop).await?.expect(200)?;
    assert_eq!(allowed(&left), (SHOP.into(), "true".into()));
    assert_eq!(left.header("vary"), "origin");
    assert_eq!(active(&deployment).await?, 0);
    Ok(())
}
