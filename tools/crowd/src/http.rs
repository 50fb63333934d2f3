//! The HTTP that everything in this tool shares: one client, addresses of services, and a call whose
//! answer is wanted whole. What is called is known elsewhere.

use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::{Client, RequestBuilder, Response, Url, redirect::Policy};

/// Answers are a few hundred bytes; anything near this is not one of ours.
const LARGEST_ANSWER: usize = 64 * 1024;

/// A client with a keep-alive pool; its users bound the number of connections.
///
/// # Errors
/// When the system does not let it be.
pub(crate) fn client(call_timeout: Duration) -> reqwest::Result<Client> {
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(Duration::from_secs(5))
        .pool_idle_timeout(Duration::from_secs(30))
        .timeout(call_timeout)
        .build()
}

/// The whole body.
///
/// # Errors
/// When the connection broke, or the body is far too long.
pub(crate) async fn read(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        ensure!(body.len() <= LARGEST_ANSWER, "more than {LARGEST_ANSWER} bytes");
    }
    Ok(body)
}

/// Makes a call and gives the body of its answer.
///
/// # Errors
/// When no whole answer comes in time, or one that is no success.
pub(crate) async fn exchange(request: RequestBuilder) -> anyhow::Result<Vec<u8>> {
    // The error says where to.
    let response = request.send().await?;
    let (status, url) = (response.status(), response.url().clone());
    let body = read(response).await.with_context(|| format!("the answer of {url} broke off"))?;
    ensure!(status.is_success(), "{url} answered {status}: {}", String::from_utf8_lossy(&body));
    Ok(body)
}

/// Where the room of this name is at a service.
pub(crate) fn room_at(base: &Url, room: &str) -> String {
    at(base, &format!("v1/rooms/{room}"))
}

/// Where this path is at a service.
pub(crate) fn at(base: &Url, path: &str) -> String {
    format!("{}/{path}", base.as_str().trim_end_matches('/'))
}

/// Reads the address of a service.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    match text.parse::<Url>() {
        Ok(url) if url.scheme() == "https" => {
            Err("this tool speaks plain HTTP: aim it at the services, not at the TLS edge".into())
        }
        Ok(url) if url.scheme() == "http" && url.query().is_none() => Ok(url),
        _ => Err("expected http://host:port".to_owned()),
    }
}
