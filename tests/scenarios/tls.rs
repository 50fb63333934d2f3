//! TLS at both services: certificates that are replaced while visitors come, certificates that clients must show, and
//! what is said when files cannot be used.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::{Certificate, Client, ClientBuilder, Identity, Method, tls::TlsInfo};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use vestibule_tests::{Authority, Deployment, Operator, Process, Reply, Service, eventually, ours};

const SOON: Duration = Duration::from_secs(20);

/// A client that trusts `authority` alone.
fn trusting(authority: &Authority) -> Result<ClientBuilder> {
    let certificate = Certificate::from_pem(&fs::read(authority.file())?)?;
    Ok(Client::builder()
        .timeout(Duration::from_secs(15))
        .tls_certs_only([certificate])
        .tls_info(true))
}

/// The certificate that is shown.
async fn shown(client: &Client, address: &str) -> Result<Vec<u8>> {
    let response = client.get(format!("https://{address}/openapi.json")).send().await?;
    let info = response.extensions().get::<TlsInfo>().cloned();
    let info = info.context("no TLS")?;
    let shown = info.peer_certificate().context("no certificate")?.to_vec();
    // Read to its end, so that the connection is kept.
    response.bytes().await?;
    Ok(shown)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_replaced_while_visitors_come() -> Result<()> {
    let authority = Authority::new()?;
    let http = trusting(&authority)?.build()?;
    let deployment = Deployment::builder().tls(&authority, http).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    deployment.visitor("sale").join().await?.expect(200)?;

    for service in [Service::Admission, Service::Controller] {
        let address = deployment.address(service, 0);
        let kept = trusting(&authority)?.build()?;
        let before = shown(&kept, address).await?;
        authority.renew()?;
        eventually(SOON, "the new certificate", || async {
            let anew = trusting(&authority)?.build()?;
            ensure!(shown(&anew, address).await? != before, "it shows the old one");
            Ok(())
        })
        .await?;
        ensure!(shown(&kept, address).await? == before, "a connection was not kept");
    }

    // Files that cannot be used change nothing, are told, and are forgotten when they are whole again.
    let (cert, _) = authority.server();
    let whole = fs::read(&cert)?;
    fs::write(&cert, &whole[..whole.len() / 2])?;
    eventually(SOON, "that the file is wrong", || async {
        let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.text;
        ensure!(metrics.contains("vestibule_tls_reloads_failed_total 1\n"), "{metrics}");
        Ok(())
    })
    .await?;
    let anew = trusting(&authority)?.build()?;
    shown(&anew, deployment.address(Service::Admission, 0)).await?;
    ensure!(deployment.logs().contains("have changed, and cannot be used"));
    // Whoever does not speak TLS is not spoken to.
    let mut plain = TcpStream::connect(deployment.address(Service::Admission, 0)).await?;
    plain.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: test\r\n\r\n").await?;
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    ensure!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_shows_no_certificate_of_the_authority_is_not_spoken_to() -> Result<()> {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    let with = |authority: &Authority, identity: &Authority| -> Result<Client> {
        let identity = Identity::from_pem(identity.client("ci.example")?.as_bytes())?;
        Ok(trusting(authority)?.identity(identity).build()?)
    };
    let deployment = Deployment::builder()
        .tls(&authority, with(&authority, &authority)?)
        .environment("VESTIBULE_TLS_CLIENT_CA", &authority.file().to_string_lossy())
        .start()
        .await?;
    let operator: Operator = deployment.operator();
    operator.put_room("sale", &json!({})).await?.expect(201)?;
    let audit = operator.call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    ensure!(audit.body["entries"][0]["certificate"] == "CN=ci.example", "{}", audit.text);
    // A certificate is no token.
    operator.with_token("").call(Method::GET, "/v1/rooms", None).await?.expect(401)?;

    let url = format!("https://{}/openapi.json", deployment.address(Service::Controller, 0));
    for client in [trusting(&authority)?.build()?, with(&authority, &other)?] {
        ensure!(Reply::of(client.get(&url)).await.is_err(), "it was spoken to");
    }
    let metrics = deployment.admin(Service::Controller, 0, "/metrics").await?.text;
    ensure!(metrics.contains("vestibule_tls_handshakes_failed_total 2\n"), "{metrics}");
    // Visitors have none, and need none.
    deployment.visitor("sale").join().await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_cannot_be_used_are_named_and_nothing_starts() -> Result<()> {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    let ((cert, key), (_, other_key)) = (authority.server(), other.server());
    let cert_var = |file: &Path| ("VESTIBULE_TLS_CERT", file.to_owned());
    let key_var = |file: &Path| ("VESTIBULE_TLS_KEY", file.to_owned());
    let nowhere = Path::new("/nowhere/cert.pem");
    for (variables, reason) in [
        (vec![cert_var(&cert)], "are given together, or not at all"),
        (vec![cert_var(nowhere), key_var(&key)], "cannot read /nowhere/cert.pem"),
        (vec![cert_var(&key), key_var(&key)], "has no usable certificate in PEM"),
        (vec![cert_var(&cert), key_var(&cert)], "has no usable private key in PEM"),
        (vec![cert_var(&cert), key_var(&other_key)], "cannot be used with"),
        (vec![("VESTIBULE_TLS_CLIENT_CA", authority.file())], "VESTIBULE_TLS_CLIENT_CA needs"),
    ] {
        let log = tempfile::tempdir()?;
        let mut command = std::process::Command::new(ours("vestibule-controller")?);
        command
            .env_clear()
            .env("VESTIBULE_SECRET", "s".repeat(32))
            .env("VESTIBULE_API_TOKEN", "t".repeat(32))
            .envs(variables);
        let mut process = Process::start(&mut command, &log.path().join("log"))?;
        let ended = process.ended(SOON).await?;
        let said = process.log();
        ensure!(said.contains(reason), "{ended:?}: {said}");
        ensure!(!said.contains("PRIVATE KEY"), "{said}");
    }
    Ok(())
}
