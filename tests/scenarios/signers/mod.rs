//! AWS-style private calls that are signed, as their clients sign them, instead of showing a token: by real signers, and
//! by one that can be told to do it wrongly.

use anyhow::{Context, Result, ensure};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use vestibule_tests::{Aws, AwsSigner, Deployment, Reply, Service, Signers, eventually};

const KEY: &str = "AKIDOFANINLET";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const WRONG: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEWRONG";
const INCREMENT: &str = "/api/increment_serving_counter";
const SOON: std::time::Duration = std::time::Duration::from_secs(10);
const REFUSED: &str = r#"vestibule_operator_calls_refused_total{reason="wrong"} "#;

/// Two controllers with a key of the option, which comes from a file at one of them.
async fn sample() -> Result<(Deployment, Aws)> {
    let keys = format!("OTHER:{SECRET}0,{KEY}:{SECRET}");
    let builder = Deployment::builder().controllers(2).environment("VESTIBULE_SIGV4_KEYS", &keys);
    let deployment = builder.start().await?;
    deployment.create_room("Sample", &json!({})).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

fn increment(by: i64) -> Value {
    json!({ "event_id": "Sample", "increment_by": by })
}

async fn send(
    deployment: &Deployment,
    signer: &AwsSigner,
    path: &str,
    body: Option<&Value>,
) -> Result<Reply> {
    Reply::of(signer.request(deployment.controllers(), path, body)?).await
}

/// Refused as the original's gateway refuses, and so that no page takes it for success.
fn expect_forbidden(reply: &Reply) -> Result<()> {
    let is_message = reply.body["message"].is_string();
    ensure!(reply.status == 403 && is_message, "{} {}", reply.status, reply.text);
    let open = reply.header("access-control-allow-origin");
    ensure!(open.is_empty(), "a page may read it: {open}");
    Ok(())
}

fn expect_refused(reply: &Reply, kind: &str) -> Result<()> {
    expect_forbidden(reply)?;
    ensure!(reply.header("x-amzn-errortype") == kind, "{kind}: {:?} {}", reply.headers, reply.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signed_calls_do_what_calls_with_a_token_do() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let signer = AwsSigner::new(KEY, SECRET);
    for (path, serving) in [(INCREMENT, 2), ("/increment_serving_counter", 4)] {
        let reply = send(&deployment, &signer, path, Some(&increment(2))).await?.expect(200)?;
        assert_eq!(reply.body, json!({ "serving_num": serving }));
        ensure!(reply.header("access-control-allow-origin") == "*", "{:?}", reply.headers);
    }
    let id = aws.assign().await?;
    let body = json!({ "event_id": "Sample", "request_id": id });
    let token =
        send(&deployment, &signer, "/api/generate_token", Some(&body)).await?.expect(200)?;
    deployment.verifier().await?.verify(&token.text_of("access_token")?, "Sample")?;
    let active = "/api/num_active_tokens?event_id=Sample";
    let active = send(&deployment, &signer, active, None).await?.expect(200)?;
    assert_eq!(active.body, json!({ "active_tokens": 1 }));
    let body = json!({ "event_id": "Sample", "request_id": id, "status": 1 });
    send(&deployment, &signer, "/api/update_session", Some(&body)).await?.expect(200)?;
    let expired = "/api/expired_tokens?event_id=Sample";
    send(&deployment, &signer, expired, None).await?.expect(200)?;
    // The audit log knows who it was; everything else is for tokens alone.
    let audit = deployment.operator().call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    ensure!(audit.text.contains(KEY) && !audit.text.contains(SECRET), "{}", audit.text);
    ensure!(send(&deployment, &signer, "/v1/rooms", None).await?.status == 401, "a room's list");
    ensure!(!deployment.logs().contains(SECRET), "a secret is in the log");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_and_late_signatures_are_refused_slowed_down_and_counted() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let right = AwsSigner::new(KEY, SECRET);
    let wrong = |change: fn(&mut AwsSigner)| {
        let mut signer = right.clone();
        change(&mut signer);
        signer
    };
    let signers = [
        (wrong(|signer| signer.secret = WRONG.into()), "InvalidSignatureException"),
        (wrong(|signer| signer.key_id = "NOBODY".into()), "UnrecognizedClientException"),
        (wrong(|signer| signer.region = "eu-west-1".into()), "InvalidSignatureException"),
        (wrong(|signer| signer.ahead = -310), "InvalidSignatureException"),
        (wrong(|signer| signer.ahead = 310), "InvalidSignatureException"),
        (wrong(|signer| signer.session_token = Some("x".into())), "UnrecognizedClientException"),
    ];
    let only = deployment.controllers().only(0);
    for (signer, kind) in &signers {
        let request = signer.request(&only, INCREMENT, Some(&increment(1)))?;
        expect_refused(&Reply::of(request.header("origin", "https://panel.example")).await?, kind)?;
    }
    // What was signed is another request, or says something untrue of its body.
    let body = increment(1).to_string();
    let url = only.at(INCREMENT)?.parse()?;
    let headers = right.headers("POST", &url, body.as_bytes());
    let signed = || {
        let request = only.http().post(url.clone());
        headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
    };
    let other = increment(1_000).to_string();
    expect_refused(&Reply::of(signed().body(other)).await?, "InvalidSignatureException")?;
    let unsigned = signed().header("x-amz-content-sha256", "UNSIGNED-PAYLOAD").body(body.clone());
    expect_refused(&Reply::of(unsigned).await?, "InvalidSignatureException")?;
    let forwarded = signed().header("x-forwarded-host", "elsewhere.example").body(body.clone());
    assert_eq!(Reply::of(forwarded).await?.status, 200, "the host that it was sent to holds");
    let metrics = deployment.admin(Service::Controller, 0, "/metrics").await?;
    ensure!(metrics.text.contains(&format!("{REFUSED}8\n")), "{}", metrics.text);
    assert_eq!(aws.serving().await.ok().filter(|serving| *serving > 1), None, "a refused call");
    // Preflights are open, to whoever asks.
    let preflight = only.http().request(Method::OPTIONS, only.at(INCREMENT)?);
    let preflight = Reply::of(preflight.header("origin", "https://panel.example")).await?;
    assert_eq!(preflight.status, 200);
    ensure!(preflight.header("access-control-allow-headers").contains("Authorization"));
    Ok(())
}

/// Sends what precedes the body of a signed call that moves the counter by one.
async fn begin(url: &Url, signer: &AwsSigner, body: &str) -> Result<TcpStream> {
    let authority = url.authority();
    let length = body.len();
    let first = format!("POST {} HTTP/1.1", url.path());
    let own = [("host", authority.to_owned()), ("content-length", length.to_string())];
    let proof = signer.headers("POST", url, body.as_bytes());
    let fields = own.into_iter().chain(proof).map(|(name, value)| format!("{name}: {value}"));
    let lines: Vec<_> = std::iter::once(first).chain(fields).collect();
    let mut stream = TcpStream::connect(authority).await?;
    stream.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).await?;
    Ok(stream)
}

async fn status_line(stream: &mut TcpStream) -> Result<String> {
    let mut line = vec![0; "HTTP/1.1 403".len()];
    timeout(SOON, stream.read_exact(&mut line)).await.context("no answer")??;
    Ok(String::from_utf8(line)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_comes_late_is_worth_what_its_key_is_then() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let operator = deployment.operator_at(0);
    let key = json!({ "access_key_id": "LATE", "secret_access_key": WRONG, "role": "operator" });
    operator.call(Method::POST, "/v1/sigv4-keys", Some(&key)).await?.expect(201)?;
    let signer = AwsSigner::new("LATE", WRONG);
    let only = deployment.controllers().only(0);
    let url = only.at(INCREMENT)?.parse()?;
    let body = increment(1).to_string();
    let mut held = begin(&url, &signer, &body).await?;
    operator.call(Method::DELETE, "/v1/sigv4-keys/LATE", None).await?.expect(204)?;
    eventually(SOON, "the revocation", || async {
        let reply = Reply::of(signer.request(&only, INCREMENT, Some(&increment(0)))?).await?;
        expect_refused(&reply, "UnrecognizedClientException")
    })
    .await?;
    held.write_all(body.as_bytes()).await?;
    assert_eq!(status_line(&mut held).await?, "HTTP/1.1 403");
    assert_eq!(aws.serving().await?, 0, "a revoked key has moved the counter");
    // Nobody's key is refused without its body.
    let mut nobody = begin(&url, &AwsSigner::new("NOBODY", WRONG), &body).await?;
    assert_eq!(status_line(&mut nobody).await?, "HTTP/1.1 403");
    Ok(())
}

/// A proxy that speaks TLS is called by another name than the controller behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_host_may_be_what_a_trusted_proxy_was_called_by() -> Result<()> {
    let keys = format!("{KEY}:{SECRET}");
    for (proxies, status) in [("127.0.0.0/8", 200), ("192.0.2.0/24", 403)] {
        let builder = Deployment::builder().environment("VESTIBULE_SIGV4_KEYS", &keys);
        let builder = builder.environment("VESTIBULE_TRUSTED_PROXIES", proxies);
        let deployment = builder.admissions(0).start().await?;
        deployment.create_room("Sample", &json!({})).await?;
        let (controller, body) = (deployment.controllers(), increment(1).to_string());
        let url = format!("https://vestibule.example{INCREMENT}").parse()?;
        let headers = AwsSigner::new(KEY, SECRET).headers("POST", &url, body.as_bytes());
        let request = controller.http().post(controller.at(INCREMENT)?).body(body);
        let request = request.header("x-forwarded-host", "vestibule.example, inner.example");
        let signed =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        Reply::of(signed).await?.expect(status)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_a_call_made_works_everywhere_for_its_rooms_until_it_is_revoked() -> Result<()> {
    let (deployment, _) = sample().await?;
    deployment.create_room("vip", &json!({})).await?;
    let (path, operator) = ("/v1/sigv4-keys", deployment.operator_at(0));
    let draft = json!({
        "access_key_id": "AKIDOFVIP", "secret_access_key": WRONG, "session_token": "a-token",
        "role": "operator", "rooms": ["vip"],
    });
    let made = operator.call(Method::POST, path, Some(&draft)).await?.expect(201)?;
    assert_eq!(made.text_of("secret_access_key")?, WRONG);
    let signer =
        AwsSigner { session_token: Some("a-token".into()), ..AwsSigner::new("AKIDOFVIP", WRONG) };
    let vip = json!({ "event_id": "vip", "increment_by": 1 });
    for controller in deployment.controllers().each() {
        Reply::of(signer.request(&controller, INCREMENT, Some(&vip))?).await?.expect(200)?;
    }
    expect_forbidden(&send(&deployment, &signer, INCREMENT, Some(&increment(1))).await?)?;
    let without = AwsSigner { session_token: None, ..signer.clone() };
    let reply = send(&deployment, &without, INCREMENT, Some(&vip)).await?;
    expect_refused(&reply, "UnrecognizedClientException")?;
    // Its secret is nowhere to be read.
    let lists = [path, "/v1/audit", "/v1/tokens"];
    for list in lists {
        let list = operator.call(Method::GET, list, None).await?.expect(200)?;
        ensure!(!list.text.contains(WRONG) && !list.text.contains("a-token"), "{}", list.text);
    }
    let mut redis = deployment.redis().connection().await?;
    let stored: String =
        redis::cmd("GET").arg("vestibule:{deployment}:api-tokens").query_async(&mut redis).await?;
    ensure!(stored.contains("AKIDOFVIP"), "{stored}");
    ensure!(!stored.contains(WRONG) && !stored.contains("a-token"), "a secret is in Redis");
    for (draft, status) in [
        (draft.clone(), 409),
        (json!({ "access_key_id": KEY, "role": "viewer" }), 409),
        (json!({ "access_key_id": "a b", "role": "viewer" }), 400),
        (json!({ "secret_access_key": "short", "role": "viewer" }), 400),
        (json!({ "role": "viewer", "session_token": "" }), 400),
    ] {
        operator.call(Method::POST, path, Some(&draft)).await?.expect(status)?;
    }
    let made_up = operator.call(Method::POST, path, Some(&json!({ "role": "viewer" }))).await?;
    let made_up = made_up.expect(201)?;
    let viewer =
        AwsSigner::new(&made_up.text_of("access_key_id")?, &made_up.text_of("secret_access_key")?);
    let active = "/api/num_active_tokens?event_id=Sample";
    // A controller that has just looked for an unknown key does not look again at once.
    eventually(SOON, "the new key", || async {
        send(&deployment, &viewer, active, None).await?.expect(200)
    })
    .await?;
    expect_forbidden(&send(&deployment, &viewer, INCREMENT, Some(&increment(1))).await?)?;
    operator.call(Method::DELETE, &format!("{path}/AKIDOFVIP"), None).await?.expect(204)?;
    operator.call(Method::DELETE, &format!("{path}/AKIDOFVIP"), None).await?.expect(404)?;
    eventually(SOON, "the revocation", || async {
        for controller in deployment.controllers().each() {
            let reply = Reply::of(signer.request(&controller, INCREMENT, Some(&vip))?).await?;
            expect_refused(&reply, "UnrecognizedClientException")?;
        }
        Ok(())
    })
    .await
}

/// Real programs, each with a key of the option and with one that has a session token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_signers_are_understood() -> Result<()> {
    if Signers::are_left_out() {
        return Ok(());
    }
    let signers = Signers::find()?;
    let (deployment, aws) = sample().await?;
    let draft = json!({
        "access_key_id": "AKIDTEMPORARY", "secret_access_key": WRONG, "role": "operator",
        "session_token": "FwoGZXIvYXdzEJr//////////wEaDA+b/c==",
    });
    let operator = deployment.operator();
    operator.call(Method::POST, "/v1/sigv4-keys", Some(&draft)).await?.expect(201)?;
    let token = draft["session_token"].as_str().unwrap_or_default();
    let base = deployment.controllers().only(0).at("")?;
    let mut serving = 0;
    for library in ["botocore", "aws_requests_auth", "aws4fetch"] {
        let call = |key: [&str; 3], path: &str, body: &str| -> Result<(u64, Value)> {
            let [key, secret, token] = key;
            let url = format!("{base}{path}");
            let arguments = [library, &url, key, secret, token, body];
            let said = if library == "aws4fetch" {
                signers.node(include_str!("calls.mjs"), &arguments, &[])?
            } else {
                signers.python(include_str!("calls.py"), &arguments, &[])?
            };
            let said: Value = serde_json::from_str(&said)?;
            Ok((said["status"].as_u64().unwrap_or_default(), said["body"].clone()))
        };
        for key in [[KEY, SECRET, ""], ["AKIDTEMPORARY", WRONG, token]] {
            serving += 3;
            let (status, body) = call(key, INCREMENT, &increment(3).to_string())?;
            assert_eq!((status, body), (200, json!({ "serving_num": serving })), "{library}");
        }
        // Whatever is in a query: spaces, signs, and more than once.
        let query = "event_id=Sample&x=a%20b&x=%2B~%C3%A9&a=1";
        let key = [KEY, SECRET, ""];
        let (status, body) = call(key, &format!("/api/expired_tokens?{query}"), "")?;
        assert_eq!((status, body), (200, json!([])), "{library}");
        let (status, body) = call([KEY, WRONG, ""], "/api/expired_tokens?event_id=Sample", "")?;
        ensure!(status == 403 && body["message"].is_string(), "{library}: {status} {body}");
    }
    assert_eq!(aws.increment(0).await?, serving);
    Ok(())
}

/// The code of `docs/from-aws.md`, as whoever changes over takes it from there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_of_the_guide_lets_visitors_in() -> Result<()> {
    if Signers::are_left_out() {
        return Ok(());
    }
    let signers = Signers::find()?;
    let event = "Summer Sale 2026 & more";
    let keys = format!("{KEY}:{SECRET}");
    let builder = Deployment::builder().environment("VESTIBULE_SIGV4_KEYS", &keys);
    let deployment = builder.start().await?;
    deployment.create_room("sale", &json!({ "aws_event_id": event })).await?;
    let page = include_str!("../../../docs/from-aws.md");
    let (public, private) = (deployment.admissions().at("")?, deployment.controllers().at("/api")?);
    let variables = [
        ("PUBLIC_API", public.as_str()),
        ("PRIVATE_API", private.as_str()),
        ("EVENT_ID", event),
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_REGION", "us-east-1"),
    ];
    for (number, language) in [(1, "python"), (2, "javascript")] {
        let mark = format!("<!-- run by a test: {language} -->\n```");
        let block = page.split_once(&mark).and_then(|(_, rest)| rest.split_once('\n'));
        let code = block.and_then(|(_, rest)| rest.split_once("\n```")).context("no code")?.0;
        let said = match language {
            "python" => signers.python(code, &[], &variables)?,
            _ => signers.node(code, &[], &variables)?,
        };
        let said: Vec<_> = said.split_whitespace().collect();
        ensure!(said.len() == 3 && said[0] == number.to_string() && said[1] == "1", "{said:?}");
        deployment.verifier().await?.verify(said[2], event)?;
    }
    assert_eq!(deployment.aws("sale").active_tokens().await?, 0, "both sessions have ended");
    Ok(())
}
