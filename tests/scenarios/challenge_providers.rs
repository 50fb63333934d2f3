//! Challenges of Turnstile, hCaptcha and reCAPTCHA, against a server that answers as they document.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result, ensure};
use axum::{Form, Json, Router, extract::State, http::StatusCode, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use vestibule_tests::{Deployment, FrozenProxy, Service};

use crate::{
    challenge::{challenge_of, challenged, count, join},
    page::Browser,
};

const SECRET: &str = "0x4AAAAAAA-the-secret-of-the-provider";
const SITE_KEY: &str = "1x00000000000000000000AA";

/// What a token that begins so is answered is in [`verify`]; each good one counts once.
#[derive(Debug, Default)]
struct Seen {
    used: BTreeSet<String>,
    asked: Vec<BTreeMap<String, String>>,
}

type Provider = Arc<Mutex<Seen>>;

async fn verify(
    State(provider): State<Provider>,
    Form(form): Form<BTreeMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let mut seen = provider.lock().unwrap_or_else(PoisonError::into_inner);
    let failure = |code: &str| json!({ "success": false, "error-codes": [code] });
    let token = form.get("response").cloned().unwrap_or_default();
    let secret = form.get("secret").cloned().unwrap_or_default();
    seen.asked.push(form);
    let (status, answer) = match token.as_str() {
        _ if secret != SECRET => (StatusCode::OK, failure("invalid-input-secret")),
        "" => (StatusCode::BAD_REQUEST, failure("missing-input-response")),
        "fault" => (StatusCode::OK, failure("internal-error")),
        "broken" => (StatusCode::BAD_GATEWAY, json!("<html>")),
        // So does a firewall before it, or a limit.
        "unauthorized" => (StatusCode::UNAUTHORIZED, json!({ "message": "no" })),
        "forbidden" => (StatusCode::FORBIDDEN, json!({ "success": false })),
        "limited" => (StatusCode::TOO_MANY_REQUESTS, json!("<html>")),
        "unreadable" => (StatusCode::PAYLOAD_TOO_LARGE, json!("<html>")),
        good if good.starts_with("good") => {
            let is_first = seen.used.insert(good.to_owned());
            let passed = json!({
                "success": true, "challenge_ts": "2026-11-26T12:00:00Z", "hostname": "shop.example",
            });
            (StatusCode::OK, if is_first { passed } else { failure("timeout-or-duplicate") })
        }
        _ => (StatusCode::OK, failure("invalid-input-response")),
    };
    (status, Json(answer))
}

/// A server that answers like the providers, and its address.
async fn provider() -> Result<(Provider, String)> {
    let provider = Provider::default();
    let router = Router::new().route("/siteverify", post(verify)).with_state(Arc::clone(&provider));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((provider, address.to_string()))
}

/// A deployment that asks the server at `address` for all of them, by this secret.
async fn deployment(address: &str, secret: &str) -> Result<Deployment> {
    let mut builder = Deployment::builder();
    for name in ["TURNSTILE", "HCAPTCHA", "RECAPTCHA"] {
        let url = format!("http://{address}/siteverify");
        builder = builder
            .environment(&format!("VESTIBULE_{name}_URL"), &url)
            .environment(&format!("VESTIBULE_{name}_SECRET"), secret);
    }
    builder.start().await
}

fn setting(provider: &str, on_failure: &str) -> Value {
    json!({
        "mode": "challenge", "provider": provider, "site_key": SITE_KEY,
        "on_provider_failure": on_failure,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_provider_is_asked_and_its_answer_counts() -> Result<()> {
    let (provider, address) = provider().await?;
    let deployment = deployment(&address, SECRET).await?;
    for name in ["turnstile", "hcaptcha", "recaptcha"] {
        challenged(&deployment, name, setting(name, "refuse")).await?;
        let told = challenge_of(join(&deployment, name, "").await?)?;
        assert_eq!(told, json!({ "provider": name, "site_key": SITE_KEY }));
        let token = format!("good-{name}");
        join(&deployment, name, &token).await?.expect(200)?;
        challenge_of(join(&deployment, name, &token).await?).context("a token counts once")?;
        // With the last two a visitor could make it look as if the provider failed.
        for refused in ["bad", "unreadable", "<script>"] {
            challenge_of(join(&deployment, name, refused).await?).context(refused)?;
        }
        assert_eq!(count(&deployment, name, "refused").await?, 3);
        assert_eq!(count(&deployment, name, "used").await?, 1);
        for failing in ["fault", "broken", "unauthorized", "forbidden", "limited"] {
            let refused = join(&deployment, name, failing).await?.expect(503)?;
            ensure!(refused.text.contains("challenge-unavailable"), "{}", refused.text);
            ensure!(refused.header("retry-after") == "5");
        }
        assert_eq!(count(&deployment, name, "provider_failed").await?, 5);
        let mut browser = Browser::new(&deployment);
        let page = browser.get(&format!("/room/{name}")).await?.expect(200)?;
        ensure!(page.text.contains(&format!("data-sitekey=\"{SITE_KEY}\"")), "{}", page.text);
    }
    let logs = deployment.logs();
    ensure!(!logs.contains(SECRET) && !logs.contains("good-"), "secrets and tokens are not logged");
    let asked = provider.lock().unwrap_or_else(PoisonError::into_inner).asked.clone();
    ensure!(asked.iter().any(|form| form.get("sitekey").is_some_and(|key| key == SITE_KEY)));
    ensure!(asked.iter().all(|form| !form.contains_key("remoteip")), "nobody's address is sent");
    ensure!(asked.iter().all(|form| form["response"] != "<script>"), "no widget gives that");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_a_good_token_again_does_not_get_into_the_endless_line() -> Result<()> {
    let (_provider, address) = provider().await?;
    let deployment = deployment(&address, SECRET).await?;
    let mut endless = setting("turnstile", "refuse");
    endless["mode"] = json!("endless_line");
    challenged(&deployment, "sale", endless).await?;
    join(&deployment, "sale", "good-one").await?.expect(200)?;
    challenge_of(join(&deployment, "sale", "good-one").await?).context("it is told")?;
    assert_eq!(count(&deployment, "sale", "used").await?, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_while_the_provider_fails_is_the_rooms_to_say() -> Result<()> {
    let (_provider, address) = provider().await?;
    let deployment = deployment(&address, "a wrong secret").await?;
    challenged(&deployment, "admits", setting("turnstile", "admit")).await?;
    challenged(&deployment, "refuses", setting("turnstile", "refuse")).await?;
    join(&deployment, "admits", "good-1").await?.expect(200)?;
    challenge_of(join(&deployment, "admits", "").await?).context("who shows nothing is asked")?;
    join(&deployment, "refuses", "good-2").await?.expect(503)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_does_not_answer_is_not_waited_for() -> Result<()> {
    let (_provider, address) = provider().await?;
    let proxy = FrozenProxy::start(&address).await?;
    let deployment = deployment(&proxy.address(), SECRET).await?;
    challenged(&deployment, "sale", setting("hcaptcha", "admit")).await?;
    join(&deployment, "sale", "good-1").await?.expect(200)?;
    let logs = json!({ "mode": "log", "provider": "hcaptcha", "site_key": SITE_KEY,
        "on_provider_failure": "refuse" });
    challenged(&deployment, "logs", logs).await?;
    proxy.freeze();
    join(&deployment, "sale", "good-2").await?.expect(200)?;
    join(&deployment, "logs", "good-3").await?.expect(200).context("it keeps nobody out")?;
    assert_eq!(count(&deployment, "sale", "provider_failed").await?, 1);
    deployment.admin(Service::Admission, 0, "/readyz").await?.expect(200)?;
    Ok(())
}
