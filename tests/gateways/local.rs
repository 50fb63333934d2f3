//! Gateways that verify tokens by themselves: Vestibule is not asked about requests, and the
//! waiting page is served under the site's own name.

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;
use vestibule_tests::{
    Deployment, Reply, Service, eventually,
    gateway::{Addresses, Browser, Gateway, Kind, SITE_HOST, Site, deployed},
};

use crate::{
    journey::{expect_site, header_of},
    place,
};

const SOON: Duration = Duration::from_secs(20);
const WANTED: &str = "/sale/item?size=40&colour=red%20wine";
const TICKET: &str = "vestibule_sale";
const TOKEN: &str = "vestibule_token_sale";

/// What the deployment's keys sign with.
const ALGORITHM: &str = "VESTIBULE_SIGNING_ALGORITHM";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn haproxy_verifies_tokens() -> Result<()> {
    tested(Kind::HaproxyLocal, "RS256").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn haproxy_verifies_tokens_by_a_key_on_a_curve() -> Result<()> {
    tested(Kind::HaproxyLocal, "ES256").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_verifies_tokens() -> Result<()> {
    tested(Kind::EnvoyLocal, "RS256").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn envoy_verifies_tokens_by_a_key_on_a_curve() -> Result<()> {
    tested(Kind::EnvoyLocal, "ES256").await
}

async fn tested(kind: Kind, algorithm: &str) -> Result<()> {
    if place::is_left_out() {
        return Ok(());
    }
    let mut deployment = Deployment::builder().environment(ALGORITHM, algorithm).start().await?;
    let mut room = place::room();
    room["access_token_cookie"] = json!(true);
    // Whoever leaves makes room at once here: how long tokens keep their seats has a scenario of its own.
    room["seats_end_with"] = json!("session");
    deployment.create_room("sale", &room).await?;
    deployment.site_visitor(SITE_HOST).finds_a_room("/sale", SOON).await?;
    let site = Site::start().await?;
    let keys = TempDir::new()?;
    let vestibule = deployment.address(Service::Admission, 0).to_owned();
    let mut addresses = Addresses::new(&vestibule, site.address());
    if kind == Kind::HaproxyLocal {
        write_keys(&vestibule, keys.path())?;
        keys.path().clone_into(&mut addresses.keys);
    }
    let gateway = Gateway::start(kind, &addresses).await?;
    let done = journey(&gateway, &mut deployment).await;
    done.with_context(|| format!("{kind:?}; its log ends:\n{}", gateway.log_end()))
}

/// What an operator does every minute.
fn write_keys(vestibule: &str, directory: &Path) -> Result<()> {
    let url = format!("http://{vestibule}/.well-known/jwks.json");
    let run = || {
        let mut command = Command::new("python3");
        command.arg(deployed("haproxy/jwks-to-pem.py")).arg(&url).arg(directory).status()
    };
    ensure!(run()?.code() == Some(10), "the first run changes the keys");
    ensure!(run()?.code() == Some(0), "the second run changes nothing");
    Ok(())
}

async fn journey(gateway: &Gateway, deployment: &mut Deployment) -> Result<()> {
    let (first, second) = (gateway.browser()?, gateway.browser()?);
    for target in ["/", "/saleroom"] {
        expect_site(&first.get(target).await?).context("what the room does not cover")?;
    }
    crate::passed_on::by(&first).await?;
    enters(&first).await.context("the first visitor enters")?;
    let page = is_sent_to_the_page(&second).await.context("the second visitor")?;
    ensure!(second.get(&page).await?.expect(200)?.text.contains("<html"), "no page");
    ensure!(second.cookie(TICKET).is_some(), "the page's cookies are not the site's");
    forgeries(gateway, &first).await?;
    disguises(gateway).await?;
    other_rooms(gateway, deployment).await.context("a token of another room")?;

    let left = Reply::of(first.request(Method::POST, "/v1/rooms/sale/leave")).await?;
    left.expect(200).context("the first visitor leaves")?;
    eventually(SOON, "the seat", || enters(&second)).await.context("the second visitor enters")?;

    expiry(gateway, deployment).await.context("a token that has run out")?;

    other_uses(gateway, deployment).await.context("a token of another use")?;

    // Those inside stay inside: this gateway needs nobody for it.
    deployment.kill(Service::Admission, 0)?;
    expect_site(&second.get(WANTED).await?).context("while Vestibule is down")?;
    is_sent_to_the_page(&gateway.browser()?).await.context("a newcomer meanwhile")?;
    Ok(())
}

/// To the page, by its button, and back to what was wanted.
async fn enters(visitor: &Browser) -> Result<()> {
    let page = is_sent_to_the_page(visitor).await?;
    visitor.get(&page).await?.expect(200)?;
    let enter = page.replacen("/room/sale", "/room/sale/enter", 1);
    let form = visitor.request(Method::POST, &enter).header("Sec-Fetch-Site", "same-origin");
    let entered = Reply::of(form).await?.expect(303)?;
    let target = entered.header("location");
    ensure!(target.ends_with(WANTED), "leads to {target}");
    ensure!(visitor.cookie(TOKEN).is_some(), "no token was kept: {:?}", entered.headers);
    let reply = visitor.get(WANTED).await?;
    expect_site(&reply)?;
    let token: Vec<_> = visitor.cookie(TOKEN).into_iter().collect();
    ensure!(header_of(&reply, "vestibule-token") == token, "the site got {}", reply.text);
    Ok(())
}

/// Where the visitor is sent who asks for what the room covers.
async fn is_sent_to_the_page(visitor: &Browser) -> Result<String> {
    let reply = visitor.get(WANTED).await?.expect(302)?;
    let page = reply.header("location").to_owned();
    ensure!(page.starts_with("/room/sale?return=http%3A%2F%2Fshop.example"), "sent to {page}");
    ensure!(page.ends_with("%2Fsale%2Fitem%3Fsize%3D40%26colour%3Dred%2520wine"), "{page}");
    Ok(page)
}

/// A token that is not what Vestibule has signed opens nothing.
async fn forgeries(gateway: &Gateway, insider: &Browser) -> Result<()> {
    let token = insider.cookie(TOKEN).context("no token")?;
    let (head, signature) = token.rsplit_once('.').context("three parts")?;
    let (header, _) = head.split_once('.').context("three parts")?;
    // {"aud":"sale","exp":99999999999}
    let claims = "eyJhdWQiOiJzYWxlIiwiZXhwIjo5OTk5OTk5OTk5OX0";
    // {"alg":"none"}
    let unsigned = "eyJhbGciOiJub25lIn0";
    let tokens = [
        String::new(),
        "nonsense".to_owned(),
        format!("{head}."),
        format!("{header}.{claims}.{signature}"),
        format!("{unsigned}.{claims}."),
        format!("{unsigned}.{claims}.{signature}"),
    ];
    for token in tokens {
        ensure!(asks_with(gateway, &token).await?.status == 302, "{token} opens the site");
        let visitor = gateway.browser()?;
        let request = visitor.request(Method::GET, "/sale").header("Vestibule-Token", &token);
        ensure!(Reply::of(request).await?.status == 302, "{token} in a header opens the site");
    }
    Ok(())
}

/// A good token of another room opens nothing either.
async fn other_rooms(gateway: &Gateway, deployment: &Deployment) -> Result<()> {
    deployment.create_room("other", &json!({ "total_active_users": 5 })).await?;
    let mut visitor = deployment.visitor("other");
    visitor.join().await?;
    let admitted = visitor.claims(SOON).await?;
    ensure!(asks_with(gateway, &admitted.text_of("access_token")?).await?.status == 302);
    Ok(())
}

/// Of the three tokens of an AWS-style client, which differ in their use alone, the access token opens the site.
async fn other_uses(gateway: &Gateway, deployment: &Deployment) -> Result<()> {
    let aws_style = json!({ "aws_style_api": true });
    deployment.operator().patch_room("sale", &aws_style).await?.expect(200)?;
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    let entered =
        eventually(SOON, "its turn", || async { aws.generate_token(&id).await?.expect(200) })
            .await?;
    expect_site(&asks_with(gateway, &entered.text_of("access_token")?).await?)?;
    for name in ["id_token", "refresh_token"] {
        let reply = asks_with(gateway, &entered.text_of(name)?).await?;
        ensure!(reply.status == 302, "the {name} opens the site");
    }
    Ok(())
}

/// A token opens the site until it has run out, and not a second longer.
async fn expiry(gateway: &Gateway, deployment: &Deployment) -> Result<()> {
    let brief = json!({ "total_active_users": 5, "session_duration_seconds": 10 });
    deployment.operator().patch_room("sale", &brief).await?.expect(200)?;
    let mut visitor = deployment.visitor("sale");
    visitor.join().await?;
    let token = visitor.claims(SOON).await?.text_of("access_token")?;
    expect_site(&asks_with(gateway, &token).await?).context("a fresh token")?;
    eventually(2 * SOON, "its end", || async {
        ensure!(asks_with(gateway, &token).await?.status == 302, "still open");
        Ok(())
    })
    .await
}

async fn asks_with(gateway: &Gateway, token: &str) -> Result<Reply> {
    let request = gateway.browser()?.request(Method::GET, "/sale");
    Reply::of(request.header("Cookie", format!("{TOKEN}={token}"))).await
}

/// Other ways of writing a path that the room covers, which are looked for in a gateway's own file.
pub(crate) const SPELLED: &[&str] = &[
    "/room/../sale",
    "/room/..%2fsale",
    "/SALE",
    "/sale.json",
    "/sale.",
    "/sale%20",
    "/sale%09",
    "/sale%00",
    "/sale%3Bx",
    "/sale%0a",
    "/Sale.JSON/item",
    "/index.php/sale",
    "/INDEX.html/sale/item",
    "/front.php/sale",
    "/(S(x))/sale",
    "/%u0073ale",
    "/%2573ale",
    "/x/..;/sale",
];

/// What is the same place for a site is the same here.
async fn disguises(gateway: &Gateway) -> Result<()> {
    let visitor = gateway.browser()?;
    for target in crate::hostile::DISGUISED.iter().chain(SPELLED) {
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n");
        let answer = visitor.raw(&request).await?;
        ensure!(!answer.contains("\"shop\""), "{target} got through: {answer}");
    }
    Ok(())
}
