//! The whole journey: enter, wait, enter, be renewed, be sent out, wait again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{
    Method,
    header::{CACHE_CONTROL, HeaderValue, SET_COOKIE},
};
use serde_json::json;
use tokio::time::sleep;
use vestibule_tests::{
    Reply, eventually,
    gateway::{Browser, Documented, Kind},
};

use crate::place::Place;

const SOON: Duration = Duration::from_secs(20);
const ROOM: &str = "sale";
const NEWS: &str = "application/vnd.vestibule.page+json";
const WANTED: &str = "/sale/item?size=40&colour=red%20wine";

/// All steps, one after the other: each begins where the one before has ended.
pub(crate) async fn whole(place: &Place) -> Result<()> {
    let (first, second) = (place.gateway.browser()?, place.gateway.browser()?);
    enters_with_one_request(&first).await.context("the first visitor enters")?;
    waits(&second, place.kind).await.context("the second visitor waits")?;
    has_one_number(&second, 2).await.context("the second visitor's number")?;
    // Such a client counts as there, though it is never heard of again: whoever is sent out comes
    // back behind somebody, however long the second visitor is not heard of.
    place.deployment.aws("sale").assign().await?;
    polls(&second, place.kind).await.context("the second visitor's page asks for news")?;
    chooses_a_language(&second).await.context("the second visitor chooses a language")?;
    passes_uncounted(&second).await.context("what is not covered, and what a rule lets pass")?;
    is_renewed(place, &first).await.context("the first visitor's session is renewed")?;
    waits(&second, place.kind).await.context("the second visitor still waits")?;
    if matches!(place.kind, Kind::Caddy | Kind::Replayed(Documented::Traefik)) {
        // They have no means for this: the site tells Vestibule by itself.
        return Ok(());
    }
    while_asking(&second, is_sent_out(&first, place.kind))
        .await
        .context("the site sends the first visitor out")?;
    enters_by_reloading(&second).await.context("the second visitor enters")?;
    waits(&first, place.kind).await.context("the first visitor is back in line")?;
    place.site.orders_by("Cf-Waiting-Room-Command");
    while_asking(&first, is_sent_out(&second, place.kind))
        .await
        .context("the site sends the second visitor out")?;
    enters_by_reloading(&first).await.context("the first visitor enters again")
}

async fn enters_with_one_request(visitor: &Browser) -> Result<()> {
    let reply = visitor.get(WANTED).await?;
    expect_site(&reply)?;
    ensure!(reply.body["target"] == WANTED, "the site was asked for {}", reply.body["target"]);
    ensure!(visitor.ticket(ROOM).is_some(), "no ticket was kept: {:?}", reply.headers);
    ensure!(visitor.cookie("basket").is_some(), "the site's cookies were lost");
    ensure!(visitor.cookie("seen").is_some(), "one of the site's cookies was lost");
    let token = header_of(&reply, "vestibule-token");
    ensure!(token.len() == 1 && token[0].split('.').count() == 3, "the site got tokens {token:?}");
    let again = visitor.get(WANTED).await?;
    expect_site(&again)
}

async fn waits(visitor: &Browser, kind: Kind) -> Result<()> {
    let page = visitor.get(WANTED).await?;
    expect_waiting(&page, kind)?;
    ensure!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    ensure!(page.text.contains("<html lang=\"de\""), "no German page: {}", start_of(&page));
    ensure!(page.header("location").is_empty(), "sent away from the address that it wanted");
    let ticket = visitor.ticket(ROOM).context("no ticket was kept")?;
    let json = visitor.get_json(WANTED).await?;
    expect_waiting(&json, kind)?;
    // The first in line may stand at the door already, without a seat.
    let stands = json.says("waiting") || json.says("your_turn");
    ensure!(stands, "JSON: {}", start_of(&json));
    ensure!(visitor.ticket(ROOM).is_some_and(|now| !now.is_empty()), "lost its ticket {ticket}");
    Ok(())
}

/// The question and the page are about the same place in line.
async fn has_one_number(visitor: &Browser, expected: u64) -> Result<()> {
    let number = visitor.get_json(WANTED).await?.number("queue_number")?;
    ensure!(number == expected, "number {number}, and not {expected}");
    Ok(())
}

/// The page's own script gets news at the same address.
async fn polls(visitor: &Browser, kind: Kind) -> Result<()> {
    let request = visitor.accepting(NEWS, Method::GET, WANTED);
    let news = Reply::of(request).await?;
    expect_waiting(&news, kind)?;
    ensure!(news.header("content-type") == NEWS, "{:?}: {}", news.headers, start_of(&news));
    ensure!(news.body["state"].is_string(), "no news: {}", start_of(&news));
    Ok(())
}

/// The page sets two cookies at once then, and both must come through.
async fn chooses_a_language(visitor: &Browser) -> Result<()> {
    let page = visitor.get("/sale/item?vestibule_lang=fr").await?;
    ensure!(page.text.contains("<html lang=\"fr\""), "not in French: {}", start_of(&page));
    ensure!(visitor.cookie("vestibule_lang").is_some(), "not remembered: {:?}", page.headers);
    ensure!(visitor.ticket(ROOM).is_some(), "the ticket was lost");
    let again = visitor.get(WANTED).await?;
    ensure!(again.text.contains("<html lang=\"fr\""), "forgotten: {}", start_of(&again));
    let back = visitor.get("/sale/item?vestibule_lang=de").await?;
    ensure!(back.text.contains("<html lang=\"de\""), "not in German: {}", start_of(&back));
    Ok(())
}

async fn passes_uncounted(visitor: &Browser) -> Result<()> {
    for target in ["/", "/about", "/saleroom", "/sale/static/style.css?v=3"] {
        let reply = visitor.get(target).await?;
        expect_site(&reply).with_context(|| target.to_owned())?;
    }
    let request = visitor.request(Method::GET, WANTED).header("X-Partner", "yes");
    expect_site(&Reply::of(request).await?).context("a rule on a header")
}

/// A session is renewed after a tenth of its length.
async fn is_renewed(place: &Place, visitor: &Browser) -> Result<()> {
    let shorter = json!({ "session_duration_seconds": 60 });
    place.deployment.operator().patch_room("sale", &shorter).await?.expect(200)?;
    let before = visitor.ticket(ROOM).context("no ticket")?;
    eventually(SOON, "a renewed session", || async {
        let reply = visitor.get(WANTED).await?;
        expect_site(&reply)?;
        ensure!(visitor.ticket(ROOM).as_ref() != Some(&before), "the same ticket");
        Ok(())
    })
    .await
}

/// Whoever is next goes on asking meanwhile. A free seat is kept for nobody who has not been heard of for a second, which
/// a busy machine may take from one request to the next; then whoever was sent out finds it, and is sent out again.
async fn while_asking(next: &Browser, act: impl Future<Output = Result<()>>) -> Result<()> {
    let asks = async {
        loop {
            next.get_json(WANTED).await?;
            sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        biased;
        done = act => done,
        failed = asks => failed,
    }
}

/// So many times somebody is sent out who has found the seat again.
const SENT_OUT_AGAIN: usize = 2;

async fn is_sent_out(visitor: &Browser, kind: Kind) -> Result<()> {
    let mut before = Vec::new();
    for _ in 0..SENT_OUT_AGAIN {
        let Err(failure) = sends_out(visitor, kind).await else {
            return Ok(());
        };
        before.push(format!("before: {failure:#}"));
    }
    sends_out(visitor, kind).await.with_context(|| before.join("; "))
}

async fn sends_out(visitor: &Browser, kind: Kind) -> Result<()> {
    let reply = visitor.get("/sale/bye").await?;
    expect_site(&reply)?;
    expect_no_ticket_for_caches(&reply)?;
    ensure!(reply.header("vestibule-command").is_empty(), "the order has gone to the visitor");
    ensure!(reply.header("cf-waiting-room-command").is_empty(), "the order has gone out");
    if kind == Kind::Nginx {
        // nginx tells Vestibule after it has answered the visitor.
        return eventually(SOON, "the end of the session", || async {
            expect_waiting(&visitor.get(WANTED).await?, kind)
        })
        .await;
    }
    expect_waiting(&visitor.get(WANTED).await?, kind)
}

async fn enters_by_reloading(visitor: &Browser) -> Result<()> {
    eventually(SOON, "the seat", || async { expect_site(&visitor.get(WANTED).await?) }).await
}

/// Fails unless the site itself has answered.
pub(crate) fn expect_site(reply: &Reply) -> Result<()> {
    ensure!(reply.status == 200, "{}: {}", reply.status, start_of(reply));
    ensure!(reply.body["site"] == "shop", "not the site: {}", start_of(reply));
    Ok(())
}

/// Fails when caches may keep an answer of the site that gives or takes back a ticket.
pub(crate) fn expect_no_ticket_for_caches(reply: &Reply) -> Result<()> {
    let has_ticket = !cookies_of_ours(reply).is_empty();
    let said: Vec<_> = reply.headers.get_all(CACHE_CONTROL).iter().collect();
    ensure!(
        !has_ticket || said == ["private, no-store"],
        "a ticket is for no cache: {:?}",
        reply.headers
    );
    Ok(())
}

/// The `Set-Cookie` lines of an answer of the site that are not the site's own.
pub(crate) fn cookies_of_ours(reply: &Reply) -> Vec<&[u8]> {
    let is_the_sites = |text: &&[u8]| text.starts_with(b"basket=") || text.starts_with(b"seen=");
    let lines = reply.headers.get_all(SET_COOKIE).iter().map(HeaderValue::as_bytes);
    lines.filter(|text| !is_the_sites(text)).collect()
}

/// Fails unless Vestibule has answered, and holds the visitor.
pub(crate) fn expect_waiting(reply: &Reply, kind: Kind) -> Result<()> {
    ensure!(reply.body["site"] != "shop", "got through to the site: {}", reply.text);
    let expected: u16 = match kind {
        // These show the page with the status that the room says.
        Kind::Nginx | Kind::EnvoyGrpc => 200,
        // 5xx would be a failure for it.
        Kind::EnvoyHttp => 429,
        _ => 503,
    };
    ensure!(reply.status == expected, "{}: {}", reply.status, start_of(reply));
    ensure!(reply.header("cache-control").contains("no-store"), "cacheable: {:?}", reply.headers);
    Ok(())
}

/// As much of an answer as a failure should quote.
fn start_of(reply: &Reply) -> &str {
    reply.text.get(..300).unwrap_or(&reply.text)
}

/// What the site saw of a request's header.
pub(crate) fn header_of(reply: &Reply, name: &str) -> Vec<String> {
    let headers = reply.body["headers"].as_array().into_iter().flatten();
    let ours = headers.filter(|header| header[0] == name);
    ours.filter_map(|header| header[1].as_str().map(str::to_owned)).collect()
}
