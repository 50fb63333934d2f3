//! A client of OpenID Connect that others have written, Python's Authlib, logs in: by its own checks, in each way in which
//! a client proves who it is, and whatever the deployment signs with.

use std::{env, path::Path, process::Command};

use anyhow::{Result, bail, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Service};

const BACK: &str = "https://shop.example/cb";

/// Where `scripts/test-tools.sh` puts it.
fn tools() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/authlib").to_owned()
}

/// Says loudly that the operator of the tests chose to leave it out.
fn is_left_out() -> bool {
    let left_out = env::var_os("VESTIBULE_TEST_SKIP_AUTHLIB").is_some_and(|value| value == "1");
    if left_out {
        // Not `eprintln`, which the test runner swallows.
        let warning = "WARNING: VESTIBULE_TEST_SKIP_AUTHLIB=1: NOT tested with Authlib\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
    }
    left_out
}

/// Logs in, and gives what the id token says.
async fn log_in(issuer: &str, client: &str, secret: &str, method: &str) -> Result<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/openid_client.py");
    let mut command = Command::new("python3");
    command.arg(script).args([issuer, client, secret, BACK, method]).env("PYTHONPATH", tools());
    let ran = tokio::task::spawn_blocking(move || command.output()).await??;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    ensure!(ran.status.success(), "{method}: {said}");
    Ok(serde_json::from_slice(&ran.stdout)?)
}

async fn tested_with(algorithm: &str) -> Result<()> {
    if is_left_out() {
        return Ok(());
    }
    ensure!(
        Path::new(&tools()).is_dir(),
        "no Authlib: run `make test`, which fetches it (scripts/test-tools.sh); VESTIBULE_TEST_SKIP_AUTHLIB=1 leaves \
         these tests out"
    );
    let builder = Deployment::builder().environment("VESTIBULE_SIGNING_ALGORITHM", algorithm);
    let deployment = builder.start().await?;
    let clients = json!([
        { "id": "shop", "redirect_uris": [BACK] },
        { "id": "app", "redirect_uris": [BACK], "public": true },
    ]);
    let settings = json!({ "total_active_users": 10, "oidc_clients": clients });
    deployment.create_room("sale", &settings).await?;
    let path = "/v1/rooms/sale/oidc_clients/shop/secret";
    let made = deployment.operator().call(Method::POST, path, None).await?.expect(201)?;
    let secret = made.text_of("client_secret")?;
    let issuer = format!("http://{}/oidc/sale", deployment.address(Service::Admission, 0));
    for (client, secret, method) in [
        ("shop", secret.as_str(), "client_secret_basic"),
        ("shop", &secret, "client_secret_post"),
        ("app", "", "none"),
    ] {
        let claims = log_in(&issuer, client, secret, method).await?;
        assert_eq!((&claims["iss"], &claims["aud"]), (&json!(issuer), &json!(client)));
    }
    match log_in(&issuer, "shop", "vcs_wrong", "client_secret_basic").await {
        Err(refused) => ensure!(refused.to_string().contains("invalid_client"), "{refused}"),
        Ok(claims) => bail!("with a wrong secret: {claims}"),
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authlib_logs_in() -> Result<()> {
    tested_with("RS256").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authlib_logs_in_where_keys_are_on_a_curve() -> Result<()> {
    tested_with("ES256").await
}
