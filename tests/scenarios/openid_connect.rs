//! A room as an OpenID Connect provider: to log in is to wait. Sites get codes through their visitors, and tokens for
//! them, once; nobody gets past the line by it, and nothing leads to where it may not.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::try_join_all;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, jwk::JwkSet};
use reqwest::{
    Method, RequestBuilder, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vestibule_tests::{Deployment, Reply, Verifier, eventually};

use crate::page::Browser;

const SOON: Duration = Duration::from_secs(20);
const PUBLIC: &str = "http://wait.example/queue";
const BACK: &str = "https://shop.example/cb?from=wait";
const STATE: &str = "a&b= c+é/\"";
const NONCE: &str = "n-\"0S6&";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A site that logs its visitors in at a room.
struct Shop<'a> {
    deployment: &'a Deployment,
    room: &'static str,
    secret: String,
}

fn clients() -> Value {
    json!([
        { "id": "shop", "name": "The shop", "redirect_uris": [BACK, "https://shop.example/other"] },
        { "id": "app", "public": true, "redirect_uris": ["com.shop.app:/cb"] },
    ])
}

async fn deployment() -> Result<Deployment> {
    Deployment::builder().admissions(2).environment("VESTIBULE_PUBLIC_URL", PUBLIC).start().await
}

/// The address with these parameters.
fn with(path: &str, parameters: &[(&str, &str)]) -> Result<String> {
    let url = Url::parse_with_params(&format!("http://x{path}"), parameters)?;
    Ok(url.as_str().trim_start_matches("http://x").to_owned())
}

/// The request with a form.
fn filled_in(request: RequestBuilder, form: &[(&str, &str)]) -> Result<RequestBuilder> {
    let encoded = Url::parse_with_params("http://x", form)?;
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    Ok(request.body(encoded.query().unwrap_or_default().to_owned()))
}

/// Where an answer leads, seen from `from`; with which parameters.
fn led(reply: &Reply, from: &str) -> Result<Url> {
    ensure!(reply.status == 302, "{}: {}", reply.status, reply.text);
    ensure!(reply.header("cache-control") == "no-store", "{:?}", reply.headers);
    ensure!(reply.header("referrer-policy") == "no-referrer", "{:?}", reply.headers);
    Ok(Url::parse("http://x")?.join(from)?.join(reply.header("location"))?)
}

fn parameter(url: &Url, name: &str) -> String {
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into())
        .unwrap_or_default()
}

// === impl Shop ===

impl<'a> Shop<'a> {
    /// Makes the room with its clients, and a secret.
    async fn open(
        deployment: &'a Deployment,
        room: &'static str,
        settings: &Value,
    ) -> Result<Self> {
        let mut settings = settings.clone();
        settings["oidc_clients"] = clients();
        deployment.create_room(room, &settings).await?;
        let mut shop = Self { deployment, room, secret: String::new() };
        shop.secret = shop.new_secret().await?.text_of("client_secret")?;
        Ok(shop)
    }

    async fn new_secret(&self) -> Result<Reply> {
        let path = format!("/v1/rooms/{}/oidc_clients/shop/secret", self.room);
        self.deployment.operator().call(Method::POST, &path, None).await?.expect(201)
    }

    fn path(&self, call: &str) -> String {
        format!("/oidc/{}/{call}", self.room)
    }

    /// Where it sends its visitors, with more parameters.
    fn authorize(&self, more: &[(&str, &str)]) -> Result<String> {
        let own = [
            ("client_id", "shop"),
            ("redirect_uri", BACK),
            ("response_type", "code"),
            ("scope", "openid profile"),
            ("state", STATE),
            ("nonce", NONCE),
        ];
        with(&self.path("authorize"), &[&own, more].concat())
    }

    /// Sends a visitor there who may enter at once; the code that it comes back with.
    async fn code(&self, browser: &mut Browser, more: &[(&str, &str)]) -> Result<String> {
        let asked = self.authorize(more)?;
        let back = led(&browser.get(&asked).await?, &asked)?;
        ensure!(back.as_str().starts_with(&format!("{BACK}&code=")), "{back}");
        Ok(parameter(&back, "code"))
    }

    async fn exchange(&self, form: &[(&str, &str)]) -> Result<Reply> {
        let admissions = self.deployment.admissions();
        let path = self.path("token");
        Reply::of(filled_in(admissions.http().post(admissions.at(&path)?), form)?).await
    }

    /// Exchanges a code by the secret in the form.
    async fn redeem(&self, code: &str) -> Result<Reply> {
        self.exchange(&[&form(code)[..], &[("client_secret", &self.secret)]].concat()).await
    }

    async fn get(&self, call: &str) -> Result<Reply> {
        let admissions = self.deployment.admissions();
        Reply::of(admissions.http().get(admissions.at(&self.path(call))?)).await
    }

    async fn user_info(&self, token: &str) -> Result<Reply> {
        let admissions = self.deployment.admissions();
        let request = admissions.http().get(admissions.at(&self.path("userInfo"))?);
        Reply::of(request.bearer_auth(token)).await
    }

    /// What the id token says, as the site reads it: by the provider's keys.
    async fn id_claims(&self, token: &str) -> Result<(Value, Algorithm)> {
        let keys: JwkSet = serde_json::from_str(&self.get(".well-known/jwks.json").await?.text)?;
        let header = decode_header(token)?;
        let key = keys.find(&header.kid.context("no kid")?).context("an unknown key")?;
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&["shop"]);
        validation.set_issuer(&[format!("{PUBLIC}/oidc/{}", self.room)]);
        let claims = decode(token, &DecodingKey::from_jwk(key)?, &validation)?.claims;
        Ok((claims, header.alg))
    }
}

/// What the shop sends with a code.
fn form(code: &str) -> [(&'static str, &str); 4] {
    let grant = ("grant_type", "authorization_code");
    [("client_id", "shop"), grant, ("code", code), ("redirect_uri", BACK)]
}

fn is_refused(reply: &Reply, status: u16, error: &str) -> Result<()> {
    ensure!(reply.status == status && reply.body["error"] == error, "{}", reply.text);
    ensure!(reply.header("cache-control") == "no-store", "{:?}", reply.headers);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_log_in_is_to_wait() -> Result<()> {
    let deployment = deployment().await?;
    // Otherwise the seat would be taken until the site's token ends.
    let settings = json!({ "total_active_users": 1, "seats_end_with": "session" });
    let shop = Shop::open(&deployment, "sale", &settings).await?;
    let mut before = deployment.visitor("sale");
    before.join().await?.expect(200)?;

    // Somebody is inside: the visitor gets a place, and waits on the room's page.
    let mut browser = Browser::new(&deployment);
    let asked =
        shop.authorize(&[("code_challenge", CHALLENGE), ("code_challenge_method", "S256")])?;
    let page = led(&browser.get(&asked).await?, &asked)?;
    ensure!(page.path() == "/room/sale", "{page}");
    let resume = parameter(&page, "return");
    ensure!(
        resume.starts_with("/queue/oidc/sale/resume?login="),
        "below the public path: {resume}"
    );
    ensure!(!resume.contains("shop"), "what the site asked for is sealed");
    let shown =
        browser.finds(&format!("/room/sale?{}", page.query().unwrap_or("")), "waiting").await?;
    ensure!(shown.text.contains(&resume), "the page leads back: {}", shown.text);

    // Nobody comes past the line by opening that address.
    let resume = resume.trim_start_matches("/queue").to_owned();
    let early = led(&browser.get(&resume).await?, &resume)?;
    ensure!(early.path() == "/room/sale", "{early}");

    before.leave().await?.expect(200)?;
    let back = eventually(SOON, "the turn", || {
        let (mut browser, resume) = (browser.clone(), resume.clone());
        async move {
            let back = led(&browser.get(&resume).await?, &resume)?;
            ensure!(back.host_str() == Some("shop.example"), "{back}");
            Ok((back, browser))
        }
    });
    let (back, mut browser) = back.await?;
    ensure!(back.as_str().starts_with(&format!("{BACK}&code=")), "{back}");
    assert_eq!(parameter(&back, "state"), STATE);
    assert_eq!(parameter(&back, "iss"), format!("{PUBLIC}/oidc/sale"));

    let code = parameter(&back, "code");
    let without = shop.redeem(&code).await?;
    is_refused(&without, 400, "invalid_grant").context("without the verifier")?;
    let form = [&form(&code)[..], &[("client_secret", &shop.secret), ("code_verifier", VERIFIER)]];
    let tokens = shop.exchange(&form.concat()).await?.expect(200)?;
    assert_eq!(tokens.header("cache-control"), "no-store");
    assert_eq!(tokens.body["token_type"], "Bearer");
    let access = tokens.text_of("access_token")?;
    let (claims, algorithm) = shop.id_claims(&tokens.text_of("id_token")?).await?;
    let opened = Verifier::fetch(deployment.admissions()).await?.verify(&access, "sale")?;
    let hash = URL_SAFE_NO_PAD.encode(&Sha256::digest(&access)[..16]);
    assert_eq!(algorithm, Algorithm::RS256);
    assert_eq!((&claims["nonce"], &claims["at_hash"]), (&json!(NONCE), &json!(hash)));
    assert_eq!((&claims["sub"], &claims["exp"]), (&json!(opened.sub), &json!(opened.exp)));
    ensure!(claims["auth_time"].as_u64() <= claims["iat"].as_u64(), "{claims}");
    assert_eq!(claims["token_use"], "id");
    let info = shop.user_info(&access).await?.expect(200)?;
    assert_eq!((&info.body["sub"], &info.body["queue_position"]), (&claims["sub"], &json!(2)));

    // Again: inside, it comes back at once, with the same sub.
    let code = shop.code(&mut browser, &[]).await?;
    let again = shop.redeem(&code).await?.expect(200)?;
    let (again, _) = shop.id_claims(&again.text_of("id_token")?).await?;
    assert_eq!(again["sub"], claims["sub"]);
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.body["active_users"], 1, "{}", status.text);
    let logs = deployment.logs();
    for secret in [&shop.secret, &code, &access] {
        ensure!(!logs.contains(secret.as_str()), "a secret is in the logs");
    }
    Ok(())
}

/// A form is led on to the site's origin only where the page's policy names it, and a login's is not known to the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_gateways_verify_tokens_a_login_is_led_to_by_a_link_and_hands_over_the_token()
-> Result<()> {
    let deployment = deployment().await?;
    let routes = json!([{ "host": "shop.example", "path": "/sale" }]);
    let settings = json!({
        "total_active_users": 1, "seats_end_with": "session", "access_token_cookie": true, "routes": routes,
    });
    let shop = Shop::open(&deployment, "sale", &settings).await?;
    let mut before = deployment.visitor("sale");
    before.join().await?.expect(200)?;
    let mut browser = Browser::new(&deployment);
    let asked = shop.authorize(&[])?;
    let page = led(&browser.get(&asked).await?, &asked)?;
    let resume = parameter(&page, "return").trim_start_matches("/queue").to_owned();
    let page = format!("/room/sale?{}", page.query().unwrap_or(""));
    before.leave().await?.expect(200)?;
    browser.sees(&page, "turn").await?;
    let shown = browser.get(&page).await?.text;
    ensure!(!shown.contains("sale/enter") && shown.contains("id=\"go\" href="), "{shown}");
    let back = led(&browser.get(&resume).await?, &resume)?;
    ensure!(back.host_str() == Some("shop.example"), "{back}");
    let token = browser.cookies.get("vestibule_token_sale").map_or("", String::as_str);
    deployment.verifier().await?.verify(token, "sale")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_exchanged_once_whoever_else_tries_and_ends_nobodys_session() -> Result<()> {
    let deployment = deployment().await?;
    let shop = Shop::open(&deployment, "sale", &json!({})).await?;
    deployment.operator().patch_room("sale", &json!({ "total_active_users": 5 })).await?;
    let mut browser = Browser::new(&deployment);
    let code = shop.code(&mut browser, &[]).await?;
    let replies = try_join_all((0..30).map(|_| shop.redeem(&code))).await?;
    let given: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    ensure!(given.len() == 1, "{} got tokens", given.len());
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        is_refused(reply, 400, "invalid_grant")?;
    }
    let access = given[0].text_of("access_token")?;
    shop.user_info(&access).await?.expect(200)?;

    // Once the session is ended, neither a code nor the token are worth anything.
    let code = shop.code(&mut browser, &[]).await?;
    let operator = deployment.operator();
    operator.call(Method::DELETE, "/v1/rooms/sale/sessions/1", None).await?.expect(204)?;
    eventually(SOON, "the end to be known", || async {
        is_refused(&shop.redeem(&code).await?, 400, "invalid_grant")?;
        shop.user_info(&access).await?.expect(401)
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_worth_nothing_to_anybody_else() -> Result<()> {
    let deployment = deployment().await?;
    let shop = Shop::open(&deployment, "sale", &json!({ "total_active_users": 9 })).await?;
    let other = Shop::open(&deployment, "other", &json!({ "total_active_users": 9 })).await?;
    let mut browser = Browser::new(&deployment);
    let code = shop.code(&mut browser, &[]).await?;
    let secret = ("client_secret", shop.secret.as_str());

    is_refused(&other.redeem(&code).await?, 400, "invalid_grant")?;
    is_refused(&shop.exchange(&form(&code)).await?, 401, "invalid_client")?;
    let wrong = [&form(&code)[..], &[("client_secret", &other.secret)]].concat();
    is_refused(&shop.exchange(&wrong).await?, 401, "invalid_client")?;
    let elsewhere: Vec<_> = form(&code)[..3].to_vec();
    let elsewhere = [&elsewhere[..], &[("redirect_uri", "https://shop.example/other"), secret]];
    is_refused(&shop.exchange(&elsewhere.concat()).await?, 400, "invalid_grant")?;
    let app = [("client_id", "app"), ("grant_type", "authorization_code"), ("code", &code)];
    let app = [&app[..], &[("redirect_uri", BACK), ("code_verifier", VERIFIER)]].concat();
    is_refused(&shop.exchange(&app).await?, 400, "invalid_grant")?;
    let grant = [("client_id", "shop"), secret, ("grant_type", "refresh_token")];
    is_refused(&shop.exchange(&grant).await?, 400, "unsupported_grant_type")?;
    let admissions = deployment.admissions();
    let json = admissions.http().post(admissions.at("/oidc/sale/token")?).json(&json!({}));
    is_refused(&Reply::of(json).await?, 400, "invalid_request")?;
    let another = if code[20..].starts_with('A') { 'B' } else { 'A' };
    let altered = format!("{}{another}{}", &code[..20], &code[21..]);
    is_refused(&shop.redeem(&altered).await?, 400, "invalid_grant")?;
    // None of them has used it up.
    let basic = admissions.http().post(admissions.at("/oidc/sale/token")?);
    let basic = basic.basic_auth("shop", Some(&shop.secret));
    let tokens = Reply::of(filled_in(basic, &form(&code))?).await?.expect(200)?;
    let access = tokens.text_of("access_token")?;

    let code = shop.code(&mut browser, &[]).await?;
    let operator = deployment.operator();
    operator.call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    for one in deployment.admissions().each() {
        eventually(SOON, "the reset to be known", || async {
            let request = one.http().get(one.at("/oidc/sale/userInfo")?).bearer_auth(&access);
            Reply::of(request).await?.expect(401)
        })
        .await?;
    }
    is_refused(&shop.redeem(&code).await?, 400, "invalid_grant").context("of before a reset")?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_replaced_without_a_pause_and_kept_as_hashes() -> Result<()> {
    let deployment = deployment().await?;
    let mut shop = Shop::open(&deployment, "sale", &json!({ "total_active_users": 9 })).await?;
    let old = shop.secret.clone();
    let made = shop.new_secret().await?;
    let new = made.text_of("client_secret")?;
    let mut browser = Browser::new(&deployment);
    for secret in [&old, &new] {
        shop.secret.clone_from(secret);
        let code = shop.code(&mut browser, &[]).await?;
        shop.redeem(&code).await?.expect(200)?;
    }
    let operator = deployment.operator();
    let room = operator.call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
    ensure!(!room.text.contains(&old) && !room.text.contains(&new), "a secret is in the room");
    let mut clients = room.body["oidc_clients"].clone();
    assert_eq!(clients[0]["secret_hashes"].as_array().map(Vec::len), Some(2));
    // Who says nothing of secrets leaves them as they are, however the room is set.
    operator.patch_room("sale", &json!({ "oidc_clients": self::clients() })).await?.expect(200)?;
    let settings = json!({ "total_active_users": 9, "oidc_clients": self::clients() });
    let put = operator.put_room("sale", &settings).await?.expect(200)?;
    assert_eq!(put.body["oidc_clients"], clients);
    let document = json!({ "rooms": { "sale": settings } });
    let applied = operator.call(Method::PUT, "/v1/config", Some(&document)).await?.expect(200)?;
    assert_eq!(applied.body["steps"], json!([]));
    let exported = operator.call(Method::GET, "/v1/config", None).await?.expect(200)?;
    let applied = operator.call(Method::PUT, "/v1/config", Some(&exported.body)).await?;
    assert_eq!(applied.expect(200)?.body["steps"], json!([]));
    clients[0]["secret_hashes"] = json!([made.text_of("secret_hash")?]);
    operator.patch_room("sale", &json!({ "oidc_clients": clients })).await?.expect(200)?;
    let code = shop.code(&mut browser, &[]).await?;
    shop.secret = old;
    is_refused(&shop.redeem(&code).await?, 401, "invalid_client")?;
    shop.secret = new;
    shop.redeem(&code).await?.expect(200)?;

    for _ in 0..3 {
        shop.new_secret().await?;
    }
    let path = "/v1/rooms/sale/oidc_clients/shop/secret";
    let fifth = operator.call(Method::POST, path, None).await?.expect(400)?;
    ensure!(fifth.text.contains("oidc_clients[0].secret_hashes"), "{}", fifth.text);
    let path = "/v1/rooms/sale/oidc_clients/app/secret";
    operator.call(Method::POST, path, None).await?.expect(400).context("a public client")?;
    let path = "/v1/rooms/sale/oidc_clients/none/secret";
    operator.call(Method::POST, path, None).await?.expect(404)?;
    let audit = operator.call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    ensure!(audit.text.contains("create_client_secret"), "{}", audit.text);
    ensure!(!audit.text.contains(&shop.secret), "a secret is in the audit log");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_led_to_where_no_client_is() -> Result<()> {
    let deployment = deployment().await?;
    let shop = Shop::open(&deployment, "sale", &json!({ "total_active_users": 9 })).await?;
    deployment.create_room("plain", &json!({})).await?;
    let mut browser = Browser::new(&deployment);
    let query = |client, back| {
        let rest = [("response_type", "code"), ("scope", "openid")];
        with(
            "/oidc/sale/authorize",
            &[&[("client_id", client), ("redirect_uri", back)], &rest[..]].concat(),
        )
    };
    for (client, back) in [
        ("shop", "https://evil.example/"),
        ("shop", "https://shop.example/cb"),
        ("shop", "https://shop.example/cb?from=wait&x"),
        ("shop", "com.shop.app:/cb"),
        ("<b>evil</b>", BACK),
        ("", BACK),
    ] {
        let reply = browser.get(&query(client, back)?).await?.expect(400)?;
        ensure!(reply.header("location").is_empty(), "{:?}", reply.headers);
        ensure!(reply.text.contains("This link does not work"), "{}", reply.text);
        ensure!(!reply.text.contains("evil"), "{}", reply.text);
        let app = browser.send(Method::GET, &query(client, back)?, &[]).await?.expect(400)?;
        assert_eq!(app.body["type"], "urn:vestibule:problem:invalid-request");
    }
    browser.get("/oidc/sale/resume?login=AQAA").await?.expect(400)?;
    browser.get("/oidc/sale/resume").await?.expect(400)?;
    browser.get("/oidc/none/authorize").await?.expect(404)?;
    for call in ["authorize", "token", ".well-known/openid-configuration", "userInfo"] {
        let method = if call == "token" { Method::POST } else { Method::GET };
        let off = browser.send(method, &format!("/oidc/plain/{call}"), &[]).await?.expect(404)?;
        assert_eq!(off.body["type"], "urn:vestibule:problem:openid-off", "{call}");
        ensure!(off.text.contains("oidc_clients"), "{}", off.text);
    }
    // Once it is certain where the visitor may go, the site is told.
    let asked = shop.authorize(&[("response_type", "token")])?;
    let back = led(&browser.get(&asked).await?, &asked)?;
    assert_eq!(parameter(&back, "error"), "invalid_request");
    assert_eq!(parameter(&back, "state"), STATE);
    let asked = query("app", "com.shop.app:/cb")?;
    let back = led(&browser.get(&asked).await?, &asked)?;
    ensure!(back.as_str().starts_with("com.shop.app:/cb?error=invalid_request&"), "{back}");
    ensure!(browser.cookies.is_empty(), "none of this is a place in line");

    // Nor is asking without acting.
    browser.send(Method::HEAD, &shop.authorize(&[])?, &[]).await?.expect(200)?;
    ensure!(browser.cookies.is_empty(), "{:?}", browser.cookies);
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.body["queue_counter"], 0, "{}", status.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_may_ask_without_a_page_and_an_open_room_lets_in_at_once() -> Result<()> {
    let deployment = deployment().await?;
    let shop = Shop::open(&deployment, "sale", &json!({ "total_active_users": 1 })).await?;
    let mut browser = Browser::new(&deployment);
    let asked = shop.authorize(&[("prompt", "none")])?;
    let back = led(&browser.get(&asked).await?, &asked)?;
    assert_eq!(parameter(&back, "error"), "login_required");
    assert_eq!(parameter(&back, "state"), STATE);
    ensure!(browser.cookies.is_empty(), "it takes no place");
    shop.code(&mut browser, &[]).await?;
    shop.code(&mut browser, &[("prompt", "none")]).await?;
    let mut second = Browser::new(&deployment);
    let asked = shop.authorize(&[])?;
    ensure!(led(&second.get(&asked).await?, &asked)?.path() == "/room/sale", "it is full");
    // What a site wants back may be long: the page still leads back.
    let long = asked.replace("state=", &format!("state={}", "s".repeat(2_400)));
    let page = led(&second.get(&long).await?, &asked)?;
    let shown = second.get(&format!("/room/sale?{}", page.query().unwrap_or(""))).await?;
    ensure!(shown.text.contains(&parameter(&page, "return")), "{page}");
    let longer = asked.replace("state=", &format!("state={}", "s".repeat(2_600)));
    let back = led(&second.get(&longer).await?, &asked)?;
    assert_eq!(parameter(&back, "error"), "invalid_request");
    let asked = shop.authorize(&[("prompt", "none")])?;
    let back = led(&second.get(&asked).await?, &asked)?;
    assert_eq!(parameter(&back, "error"), "login_required", "a place in line is no seat");

    deployment.operator().patch_room("sale", &json!({ "suspended": true })).await?.expect(200)?;
    for mut browser in [second, Browser::new(&deployment)] {
        let code = shop.code(&mut browser, &[]).await?;
        shop.redeem(&code).await?.expect(200)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_provider_says_what_is_true_to_sites_and_to_no_foreign_page() -> Result<()> {
    let deployment = deployment().await?;
    let shop = Shop::open(&deployment, "sale", &json!({ "total_active_users": 9 })).await?;
    let told = shop.get(".well-known/openid-configuration").await?.expect(200)?.body;
    assert_eq!(told["issuer"], format!("{PUBLIC}/oidc/sale"));
    assert_eq!(told["id_token_signing_alg_values_supported"], json!(["RS256"]));
    assert_eq!(told["request_uri_parameter_supported"], false);
    let admissions = deployment.admissions();
    for (method, call) in [
        (Method::GET, ".well-known/openid-configuration"),
        (Method::POST, "token"),
        (Method::OPTIONS, "token"),
        (Method::GET, "userInfo"),
    ] {
        let request = admissions.http().request(method, admissions.at(&shop.path(call))?);
        let reply = Reply::of(request.header("origin", "https://evil.example")).await?;
        let allowed = reply.headers.contains_key("access-control-allow-origin");
        ensure!(!allowed, "{call}: {:?}", reply.headers);
    }
    let form = [("client_id", "shop"), ("state", STATE), ("x", "a\r\nb")];
    let post = admissions.http().post(admissions.at(&shop.path("authorize"))?);
    let post = filled_in(post, &form)?;
    let led_on = Reply::of(post.header(ACCEPT, "text/html")).await?.expect(303)?;
    let expected = "authorize?client_id=shop&state=a%26b%3D+c%2B%C3%A9%2F%22&x=a%0D%0Ab";
    assert_eq!(led_on.header("location"), expected);
    for token in ["", "nonsense"] {
        let reply = shop.user_info(token).await?.expect(401)?;
        ensure!(reply.header("www-authenticate").starts_with("Bearer"), "{:?}", reply.headers);
    }

    // Whatever the deployment signs with, the provider says so.
    let operator = deployment.operator();
    let rotate = "/v1/keys/rotate?signs_in_seconds=0&force=true";
    let algorithm = json!({ "algorithm": "ES256" });
    operator.call(Method::POST, rotate, Some(&algorithm)).await?.expect(200)?;
    let mut browser = Browser::new(&deployment);
    shop.code(&mut browser, &[]).await?;
    eventually(SOON, "tokens by the new key", || {
        let (mut browser, shop) = (browser.clone(), &shop);
        async move {
            let code = shop.code(&mut browser, &[]).await?;
            let tokens = shop.redeem(&code).await?.expect(200)?;
            let (_, algorithm) = shop.id_claims(&tokens.text_of("id_token")?).await?;
            ensure!(algorithm == Algorithm::ES256, "{algorithm:?}");
            let told = shop.get(".well-known/openid-configuration").await?.body;
            // The other instance hears of the key a moment later.
            let algorithms = &told["id_token_signing_alg_values_supported"];
            ensure!(*algorithms == json!(["ES256", "RS256"]), "{algorithms}");
            Ok(())
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_nobody_is_logged_in_and_the_site_is_told_so() -> Result<()> {
    let mut deployment = deployment().await?;
    for (room, on_failure) in [("open", "open"), ("closed", "closed")] {
        let settings = json!({ "on_redis_failure": on_failure, "oidc_clients": clients() });
        deployment.create_room(room, &settings).await?;
    }
    deployment.redis_mut().kill().await?;
    for room in ["open", "closed"] {
        let shop = Shop { deployment: &deployment, room, secret: String::new() };
        let asked = shop.authorize(&[])?;
        let back = led(&Browser::new(&deployment).get(&asked).await?, &asked)?;
        if room == "open" {
            // Gateways let the visitor in; at the waiting page it would be led round and round.
            assert_eq!(parameter(&back, "error"), "temporarily_unavailable");
            assert_eq!(parameter(&back, "state"), STATE);
        } else {
            assert_eq!(back.path(), "/room/closed");
        }
    }
    Ok(())
}
