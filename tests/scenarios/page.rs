//! The waiting page as browsers get it: at its own address and in the place of the wanted page,
//! through a visitor's whole journey.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use reqwest::{
    Method,
    header::{ACCEPT, COOKIE, SET_COOKIE},
};
use serde_json::json;
use vestibule_tests::{Deployment, Fleet, Reply, Visitor, eventually};

use crate::authorizer::{create_sale, expect, until};

const SOON: Duration = Duration::from_secs(20);
pub(crate) const NEWS: &str = "application/vnd.vestibule.page+json";

/// A browser at the page's own address. A clone has a copy of the cookies.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    fleet: Fleet,
    pub(crate) cookies: BTreeMap<String, String>,
}

// === impl Browser ===

impl Browser {
    /// One that has never been here.
    pub(crate) fn new(deployment: &Deployment) -> Self {
        Self { fleet: deployment.admissions().clone(), cookies: BTreeMap::new() }
    }

    /// Opens an address.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Reply> {
        self.send(Method::GET, path, &[("accept", "text/html,*/*;q=0.8")]).await
    }

    /// What the page's script does there.
    pub(crate) async fn news(&mut self, path: &str) -> Result<Reply> {
        self.send(Method::GET, path, &[("accept", NEWS)]).await
    }

    /// Any request, with the cookies.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Reply> {
        let mut request = self.fleet.http().request(method, self.fleet.at(path)?);
        let pairs: Vec<_> = self.cookies.iter().map(|(k, v)| format!("{k}={v}")).collect();
        if !pairs.is_empty() {
            request = request.header(COOKIE, pairs.join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = Reply::of(request).await?;
        for line in reply.headers.get_all(SET_COOKIE) {
            let line = line.to_str()?;
            let pair = line.split(';').next().and_then(|pair| pair.split_once('='));
            let Some((name, value)) = pair else { continue };
            if line.contains("Max-Age=0;") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(reply)
    }

    /// Opens an address until the page there is of this state.
    pub(crate) async fn finds(&mut self, path: &str, state: &str) -> Result<Reply> {
        self.until(path, |page| is(page, state)).await
    }

    /// Opens an address until `check` succeeds, as one visitor: whoever began anew each time would
    /// leave others in line.
    async fn until(&mut self, path: &str, check: impl Fn(&Reply) -> Result<()>) -> Result<Reply> {
        let deadline = tokio::time::Instant::now() + SOON;
        loop {
            let page = self.get(path).await?;
            match check(&page) {
                Ok(()) => return Ok(page),
                Err(error) if tokio::time::Instant::now() > deadline => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Asks for updates until one is of this state.
    pub(crate) async fn sees(&mut self, path: &str, state: &str) -> Result<Reply> {
        let deadline = tokio::time::Instant::now() + SOON;
        loop {
            let reply = self.news(path).await?;
            if reply.body["state"] == state {
                return Ok(reply);
            }
            ensure!(tokio::time::Instant::now() < deadline, "not {state}: {}", reply.text);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Whether the page is of this state.
pub(crate) fn is(reply: &Reply, state: &str) -> Result<()> {
    let shown = reply.text.contains(&format!(" data-state=\"{state}\""));
    ensure!(shown, "not {state}: {} {}", reply.status, reply.text);
    Ok(())
}

async fn full_room(deployment: &Deployment, more: serde_json::Value) -> Result<Visitor> {
    let mut settings = json!({ "total_active_users": 1 });
    for (name, value) in more.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
    deployment.create_room("sale", &settings).await?;
    let mut first = deployment.visitor("sale");
    ensure!(first.join().await?.expect(200)?.says("admitted"));
    Ok(first)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newcomer_waits_on_the_page_and_gets_the_button_at_its_turn() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    let mut first = full_room(&deployment, json!({})).await?;
    let mut ann = Browser::new(&deployment);
    let path = "/room/sale?return=%2Fshoes%3Fsize%3D42";
    let page = ann.get(path).await?.expect(200)?;
    is(&page, "waiting")?;
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("vary", "Accept, Accept-Language, Cookie"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("refresh", ""),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
    let policy = page.header("content-security-policy");
    ensure!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    ensure!(!policy.contains("unsafe"), "{policy}");
    ensure!(page.text.contains("<noscript><meta http-equiv=\"refresh\""), "works without script");
    ensure!(ann.cookies.contains_key("vestibule_sale"), "{:?}", ann.cookies);

    let again = ann.get(path).await?.expect(200)?;
    is(&again, "waiting")?;
    ensure!(again.text.contains("id=\"position\">2<"), "the same place: {}", again.text);
    let news = ann.news(path).await?.expect(200)?;
    ensure!(news.header("content-type").starts_with(NEWS));
    assert_eq!(news.body["texts"]["position"], "2");
    ensure!(news.body["refresh_seconds"].as_f64() > Some(0.0), "{}", news.text);
    let head = ann.send(Method::HEAD, path, &[]).await?.expect(200)?;
    ensure!(head.text.is_empty() && !head.header("content-security-policy").is_empty());

    first.leave().await?;
    let turn = ann.sees(path, "turn").await?;
    assert_eq!(turn.body["wanted"], "/shoes?size=42");
    let hold = turn.body["hold_seconds"].as_u64();
    ensure!(hold.is_some_and(|seconds| (800..=900).contains(&seconds)), "{hold:?}");
    let counting = [("accept", NEWS), ("vestibule-shown", "turn")];
    let counts = ann.send(Method::GET, path, &counting).await?;
    ensure!(counts.body["hold_seconds"].is_null(), "it is told once: {}", counts.text);
    let page = ann.finds(path, "turn").await?;
    ensure!(page.text.contains("<a id=\"go\" href=\"/shoes?size=42\">"), "{}", page.text);
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("active_users")?, 0, "looking at the page claims nothing");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_wanted_page_the_form_enters() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let mut first = full_room(&deployment, json!({})).await?;
    // The first in line may ask for a seat before one is free; whoever is behind is too early.
    deployment.visitor("sale").join().await?.expect(200)?;
    let mut ann = Browser::new(&deployment);
    is(&ann.get("/room/sale").await?, "waiting")?;
    let own = [("sec-fetch-site", "same-origin")];
    let too_early = ann.send(Method::POST, "/room/sale/enter", &own).await?.expect(303)?;
    assert_eq!(too_early.header("location"), "../sale");
    first.leave().await?;
    ann.sees("/room/sale", "turn").await?;
    let page = ann.get("/room/sale").await?;
    ensure!(page.text.contains("method=\"post\" action=\"sale/enter\""), "{}", page.text);
    for foreign in
        [&[("sec-fetch-site", "cross-site")][..], &[("origin", "https://evil.example")], &[]]
    {
        ann.clone().send(Method::POST, "/room/sale/enter", foreign).await?.expect(400)?;
    }
    let entered = ann.send(Method::POST, "/room/sale/enter", &own).await?.expect(303)?;
    assert_eq!(entered.header("location"), "../sale");
    is(&ann.get("/room/sale").await?, "inside")?;
    let news = ann.news("/room/sale").await?;
    assert_eq!(news.body["refresh_seconds"], 0.0, "an open tab keeps no session alive");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_gateways_verify_tokens_the_form_hands_over_the_token() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let routes = json!([{ "host": "shop.example", "path": "/sale" }]);
    let more =
        json!({ "routes": routes, "access_token_cookie": true, "seats_end_with": "session" });
    let mut first = full_room(&deployment, more).await?;
    let mut ann = Browser::new(&deployment);
    let path = "/room/sale?return=https%3A%2F%2Fshop.example%2Fsale%2Fx";
    let page = ann
        .until(path, |page| {
            ensure!(page.text.contains(">shop.example<"), "no routes yet: {}", page.text);
            Ok(())
        })
        .await?;
    is(&page, "waiting")?;
    first.leave().await?;
    ann.sees(path, "turn").await?;
    let page = ann.get(path).await?;
    ensure!(
        page.header("content-security-policy").contains("form-action 'self' https://shop.example;"),
        "the form leads on to the site"
    );
    let enter = "/room/sale/enter?return=https%3A%2F%2Fshop.example%2Fsale%2Fx";
    let entered =
        ann.send(Method::POST, enter, &[("sec-fetch-site", "same-origin")]).await?.expect(303)?;
    assert_eq!(entered.header("location"), "https://shop.example/sale/x");
    let token = ann.cookies.get("vestibule_token_sale").map_or("", String::as_str);
    deployment.verifier().await?.verify(token, "sale")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_way_back_never_leads_out_of_the_site() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({
        "routes": [{ "host": "shop.example", "path": "/sale" }, { "host": "*.eu.example" }],
        "return_origins": ["https://a.eu.example:8443"],
        "queueing_method": "passthrough",
    });
    create_sale(&deployment, settings).await?;
    let link = async |wanted: &str| -> Result<String> {
        let mut ann = Browser::new(&deployment);
        let encoded: Vec<_> = wanted.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let encoded = encoded.concat();
        let page = ann.get(&format!("/room/sale?return={encoded}")).await?;
        is(&page, "inside")?;
        ensure!(!page.text.contains("evil"), "{wanted:?}: {}", page.text);
        let from = page.text.find("id=\"go\" href=\"").map_or(0, |at| at + 14);
        Ok(page.text[from..].split('"').next().unwrap_or_default().to_owned())
    };
    for sound in ["/x", "https://shop.example/other", "https://a.eu.example:8443/", "/a%20b"] {
        assert_eq!(link(sound).await?, sound);
    }
    for trick in [
        "//evil.example",
        "/\\evil.example",
        "https:evil.example",
        "https://shop.example@evil.example/",
        "https://shop.example.evil.example/",
        "https://evil.example/",
        "https://evil-shop.example/",
        "https://shop.example:8443/",
        "https://a.eu.example:8444/",
        "http://a.eu.example:8443/",
        "http://127.0.0.1:21099/",
        "https://eu.example.evil/",
        "https://evileu.example/",
        "javascript:alert('evil')",
        "/\t/evil.example",
        "\n//evil.example",
        "//\u{ff0f}evil.example",
        "\"><script>alert('evil')</script>",
        "/x\r\nLocation: https://evil.example",
    ] {
        assert_eq!(link(trick).await?, "http://shop.example/sale", "{trick:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_language_is_the_visitors() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let _first = full_room(&deployment, json!({ "default_language": "pl" })).await?;
    let mut ann = Browser::new(&deployment);
    let lang = |page: &Reply, code: &str| -> Result<()> {
        ensure!(page.text.contains(&format!("<html lang=\"{code}\"")), "{code}: {}", page.text);
        Ok(())
    };
    let german = [("accept", "text/html"), ("accept-language", "sv, de-CH;q=0.8, fr;q=0.7")];
    lang(&ann.send(Method::GET, "/room/sale", &german).await?, "de")?;
    eventually(SOON, "the room's language at the admission", || {
        let mut ann = ann.clone();
        async move { lang(&ann.get("/room/sale").await?, "pl") }
    })
    .await?;
    let page = ann.send(Method::GET, "/room/sale?lang=ar&return=%2Fx", &german).await?;
    ensure!(page.text.contains("<html lang=\"ar\" dir=\"rtl\""), "{}", page.text);
    ensure!(page.text.contains("<input type=\"hidden\" name=\"return\" value=\"/x\">"));
    assert_eq!(ann.cookies.get("vestibule_lang").map(String::as_str), Some("ar"));
    lang(&ann.send(Method::GET, "/room/sale", &german).await?, "ar")?;
    let page = ann.send(Method::GET, "/room/sale?lang=%3Cscript%3E", &german).await?;
    lang(&page, "ar")?;
    assert_eq!(ann.cookies.get("vestibule_lang").map(String::as_str), Some("ar"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_state_of_a_room_has_its_page() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let _first = full_room(&deployment, json!({ "queueing_status_code": 429 })).await?;
    let operator = deployment.operator();
    let mut ann = Browser::new(&deployment);
    let page = ann
        .until("/room/sale", |page| {
            ensure!(page.status == 429, "{} {}", page.status, page.text);
            Ok(())
        })
        .await?;
    is(&page, "waiting")?;
    ann.news("/room/sale").await?.expect(200)?;
    operator.patch_room("sale", &json!({ "queue_all": true })).await?.expect(200)?;
    ann.sees("/room/sale", "paused").await?;
    let reject = json!({ "queue_all": false, "queueing_method": "reject" });
    operator.patch_room("sale", &reject).await?.expect(200)?;
    let away = ann.sees("/room/sale", "turned_away").await?;
    ensure!(away.body["texts"]["status-text"].as_str().unwrap_or("").contains("keep your place"));
    let stranger = Browser::new(&deployment).get("/room/sale").await?.expect(429)?;
    is(&stranger, "turned_away")?;
    ensure!(stranger.text.contains("http-equiv=\"refresh\""), "it asks whether the room is open");
    let random = json!({ "queueing_method": "random" });
    operator.patch_room("sale", &random).await?.expect(200)?;
    let chance = ann.sees("/room/sale", "waiting").await?;
    assert_eq!(chance.body["texts"]["position"], "");
    operator.patch_room("sale", &json!({ "suspended": true })).await?.expect(200)?;
    eventually(SOON, "the room off", || {
        let mut bob = Browser::new(&deployment);
        async move { is(&bob.get("/room/sale").await?.expect(200)?, "inside") }
    })
    .await?;
    let nowhere = Browser::new(&deployment).get("/room/nowhere?lang=de").await?.expect(404)?;
    is(&nowhere, "no_room")?;
    ensure!(nowhere.text.contains("Diesen Warteraum gibt es nicht"), "{}", nowhere.text);
    let told = Browser::new(&deployment).news("/room/nowhere").await?.expect(404)?;
    assert_eq!(
        (&told.body["state"], &told.body["refresh_seconds"]),
        (&"no_room".into(), &0.0.into())
    );
    let json = [(ACCEPT.as_str(), "application/json")];
    let other = Browser::new(&deployment).send(Method::GET, "/room/nowhere", &json).await?;
    ensure!(other.expect(404)?.header("content-type") == "application/problem+json");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lost_the_place_is_told_before_getting_a_new_one() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    // Only the operator lets people in: it never is anyone's turn because the others are silent.
    let settings = json!({ "presence_grace_seconds": 1, "poll_budget_per_second": 1_000_000 });
    deployment.create_room("sale", &settings).await?;
    for _ in 0..11 {
        deployment.visitor("sale").join().await?.expect(200)?;
    }
    let mut ann = Browser::new(&deployment);
    is(&ann.get("/room/sale").await?, "waiting")?;
    let lost = eventually(Duration::from_mins(1), "the place given up", || {
        // As if the tab had been asleep: the ticket stays as it was.
        let mut asleep = ann.clone();
        async move {
            let told = asleep.news("/room/sale").await?;
            ensure!(told.body["state"] == "missed", "{}", told.text);
            Ok((asleep, told))
        }
    })
    .await?;
    let (mut ann, told) = lost;
    assert_eq!(told.body["refresh_seconds"], 0.0);
    assert_eq!(told.body["wanted"], "sale");
    let page = ann.get("/room/sale").await?;
    is(&page, "waiting")?;
    ensure!(page.text.contains("id=\"position\">13<"), "{}", page.text);
    ensure!(page.text.contains("so you have a new one"), "{}", page.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_place_of_the_wanted_page_it_leads_there_and_asks_there() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    let mut first = deployment.site_visitor("shop.example");
    expect(&first.get("/sale").await?, 200, "entered")?;
    let mut ann = deployment.site_visitor("shop.example");
    let page = ann.get("/sale/x?size=42&vestibule_lang=fr").await?;
    expect(&page, 503, "wait")?;
    is(&page, "waiting")?;
    ensure!(page.text.contains("<html lang=\"fr\""), "{}", page.text);
    assert_eq!(ann.cookies.get("vestibule_lang").map(String::as_str), Some("fr"));
    ensure!(page.text.contains(" action=\"https://shop.example/sale/x\""), "{}", page.text);
    ensure!(page.text.contains("<input type=\"hidden\" name=\"size\" value=\"42\">"));
    ensure!(page.text.contains("name=\"vestibule_lang\""));
    ensure!(page.text.contains("<template id=\"inside\">"));
    ensure!(!page.text.contains("data-live"), "the gateway leads nothing else here");

    let mut script = ann.clone().with_header("accept", NEWS);
    let told = script.get("/sale/x?size=42&vestibule_lang=fr").await?;
    expect(&told, 503, "wait")?;
    assert_eq!((&told.body["state"], told.header("content-type")), (&json!("waiting"), NEWS));

    first.site_commands("vestibule-command", "revoke").await?;
    deployment
        .operator()
        .patch_room("sale", &json!({ "total_active_users": 2 }))
        .await?
        .expect(200)?;
    let turn = eventually(SOON, "the turn", || {
        let mut script = script.clone();
        async move {
            let told = script.get("/sale/x?size=42&vestibule_lang=fr").await?;
            ensure!(told.body["state"] == "turn", "{}", told.text);
            Ok(told)
        }
    })
    .await?;
    expect(&turn, 503, "wait")?;
    assert_eq!(turn.body["wanted"], "https://shop.example/sale/x?size=42");
    ensure!(turn.body["hold_seconds"].as_u64() > Some(800), "{}", turn.text);
    until(&mut ann, "/sale/x?size=42", 200, "entered").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nginx_asks_for_the_page_itself_with_the_ticket_that_was_just_given() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    create_sale(&deployment, json!({ "total_active_users": 1 })).await?;
    expect(&deployment.site_visitor("shop.example").get("/sale").await?, 200, "entered")?;
    let mut ann = deployment.site_visitor("shop.example").refused_by("status");
    let refused = ann.get("/sale/x").await?.expect(401)?;
    let ticket = refused.header("vestibule-ticket");
    let mut gateway = Browser::new(&deployment);
    let original = [
        ("accept", "text/html"),
        ("x-forwarded-method", "GET"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-uri", "//evil.example/sale"),
        ("vestibule-ticket", ticket),
    ];
    let page = gateway.send(Method::GET, "/room/sale", &original).await?.expect(200)?;
    is(&page, "waiting")?;
    ensure!(page.text.contains("id=\"position\">2<"), "the same place: {}", page.text);
    ensure!(gateway.cookies.contains_key("__Host-vestibule_sale"), "{:?}", gateway.cookies);
    ensure!(page.text.contains("action=\"https://shop.example//evil.example/sale\""));
    ensure!(!page.text.contains("\"//evil.example"), "{}", page.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_trusted_gateway_puts_the_page_in_anothers_place() -> Result<()> {
    let builder = Deployment::builder().environment("VESTIBULE_TRUSTED_PROXIES", "192.0.2.1/32");
    let deployment = builder.start().await?;
    let _first = full_room(&deployment, json!({})).await?;
    let forged = [
        ("accept", "text/html"),
        ("x-forwarded-method", "GET"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-uri", "/"),
    ];
    let page = Browser::new(&deployment).send(Method::GET, "/room/sale", &forged).await?;
    is(&page, "waiting")?;
    ensure!(!page.text.contains("evil") && page.text.contains("action=\"sale\""), "{}", page.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_wants_json_gets_it_at_the_pages_address_too() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let _first = full_room(&deployment, json!({ "json_response_enabled": true })).await?;
    let json = [(ACCEPT.as_str(), "application/json")];
    let told =
        Browser::new(&deployment).send(Method::GET, "/room/sale", &json).await?.expect(200)?;
    assert_eq!(told.body["cfWaitingRoom"]["inWaitingRoom"], true, "{}", told.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_late_is_told_so_may_still_try_and_gets_a_new_place_in_the_end() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let mut first = full_room(&deployment, json!({ "position_expiry_seconds": 2 })).await?;
    let mut ann = Browser::new(&deployment);
    is(&ann.get("/room/sale").await?, "waiting")?;
    first.leave().await?;
    let turn = ann.sees("/room/sale", "turn").await?;
    ensure!(turn.body["hold_seconds"].as_u64() <= Some(2), "{}", turn.text);
    let late = eventually(SOON, "the end of the hold", || {
        let mut ann = ann.clone();
        async move {
            let late = ann.news("/room/sale").await?;
            let alert = late.body["texts"]["alert"].as_str().unwrap_or_default();
            ensure!(alert.contains("may still get in"), "{}", late.text);
            Ok(late)
        }
    })
    .await?;
    assert_eq!((&late.body["state"], &late.body["hold_seconds"]), (&json!("turn"), &json!(null)));
    ensure!(late.body["refresh_seconds"].as_f64() >= Some(10.0), "{}", late.text);
    // After twice the time it is lost for good: entering says so, and the next look begins anew.
    let since = deployment.redis().now_seconds().await?;
    eventually(SOON, "twice the time", || async {
        let now = deployment.redis().now_seconds().await?;
        ensure!(now > since + 4, "{now}");
        Ok(())
    })
    .await?;
    let own = [("sec-fetch-site", "same-origin")];
    let back = ann.send(Method::POST, "/room/sale/enter", &own).await?.expect(303)?;
    assert_eq!(back.header("location"), "../sale");
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("active_users")?, 0, "{}", status.text);
    is(&ann.get("/room/sale").await?, "inside")?;
    Ok(())
}
