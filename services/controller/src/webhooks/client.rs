//! Sends one event to one webhook, once. No redirect is followed, and of what is answered beside the status nothing is
//! used. Whether it is sent again is decided elsewhere.

use std::{sync::OnceLock, time::Duration};

use axum::{
    body::Bytes,
    http::{
        HeaderMap, Method, Request, Response, StatusCode, Uri,
        header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT},
    },
};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use vestibule_domain::webhook::{Webhook, check_address, may_connect};
use vestibule_runtime::ErrorChain;
use vestibule_token::WebhookSecret;

use super::resolver::CheckedResolver;

/// How long an answer may take: the standard asks for 15 to 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How long the rest of an answer may take. Whether it was taken is known before that.
const REST: Duration = Duration::from_secs(1);
/// So much of a body is read, in bytes, for the connection to be used again.
const LARGEST_ANSWER: usize = 16 * 1024;
/// How a sender names itself.
pub(crate) const AGENT: &str = concat!("Vestibule/", env!("CARGO_PKG_VERSION"));

/// Sends events. What it sends with is made when something is sent: most deployments have no webhook.
#[derive(Debug, Default)]
pub(crate) struct WebhookClient(OnceLock<Clients>);

/// Asks addresses outside by HTTPS, but none that is nobody's service.
pub(crate) type EncryptedClient =
    Client<HttpsConnector<HttpConnector<CheckedResolver>>, Full<Bytes>>;

#[derive(Debug)]
struct Clients {
    encrypted: EncryptedClient,
    in_the_clear: Client<HttpConnector<CheckedResolver>, Full<Bytes>>,
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    /// Names the event.
    pub(crate) id: &'a str,
    /// When it is sent, unix seconds.
    pub(crate) timestamp: u64,
    /// The event.
    pub(crate) body: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The receiver has it.
    Told(StatusCode),
    /// The receiver wants nothing any more.
    Gone,
    /// It may be sent again.
    Failed {
        /// What was answered, or why nothing was.
        why: String,
        /// How long the receiver asks to be left alone, in seconds.
        asked_s: Option<u64>,
        /// The status of the answer; `None`: there was none.
        status: Option<u16>,
    },
}

// === impl Clients ===

impl Clients {
    fn new() -> Self {
        let in_the_clear = Client::builder(TokioExecutor::new()).build(connector(false));
        Self { encrypted: encrypted_client(), in_the_clear }
    }
}

/// A client of its own.
pub(crate) fn encrypted_client() -> EncryptedClient {
    let encrypted = HttpsConnectorBuilder::new().with_webpki_roots().https_only();
    let encrypted = encrypted.enable_http1().wrap_connector(connector(true));
    Client::builder(TokioExecutor::new()).build(encrypted)
}

fn connector(is_https: bool) -> HttpConnector<CheckedResolver> {
    let resolver = if is_https {
        CheckedResolver::new(|address| may_connect(address, true))
    } else {
        CheckedResolver::new(|address| may_connect(address, false))
    };
    let mut connector = HttpConnector::new_with_resolver(resolver);
    connector.enforce_http(!is_https);
    connector
}

// === impl WebhookClient ===

impl WebhookClient {
    /// Sends an event to `webhook`, signed with each of `secrets`.
    pub(crate) async fn send(
        &self,
        webhook: &Webhook,
        secrets: &[WebhookSecret],
        envelope: Envelope<'_>,
    ) -> Sent {
        let failed = |why| Sent::Failed { why, asked_s: None, status: None };
        let (request, is_https) = match request(webhook, secrets, envelope) {
            Ok(request) => request,
            Err(why) => return failed(why),
        };
        match tokio::time::timeout(TIMEOUT, self.ask(request, is_https)).await {
            Ok(Ok(response)) => {
                let (parts, body) = response.into_parts();
                // A longer one, or a slow one, ends the connection.
                let rest = Limited::new(body, LARGEST_ANSWER).collect();
                drop(tokio::time::timeout(REST, rest).await);
                judge(parts.status, &parts.headers)
            }
            Ok(Err(why)) => failed(why),
            Err(_) => failed(format!("no answer within {TIMEOUT:?}")),
        }
    }

    async fn ask(
        &self,
        request: Request<Full<Bytes>>,
        is_https: bool,
    ) -> Result<Response<Incoming>, String> {
        let clients = self.0.get_or_init(Clients::new);
        let asked = if is_https {
            clients.encrypted.request(request).await
        } else {
            clients.in_the_clear.request(request).await
        };
        asked.map_err(|error| ErrorChain(&error).to_string())
    }
}

/// The request, and whether it is encrypted. The address was checked when it was set, by this release or another.
fn request(
    webhook: &Webhook,
    secrets: &[WebhookSecret],
    Envelope { id, timestamp, body }: Envelope<'_>,
) -> Result<(Request<Full<Bytes>>, bool), String> {
    let url = check_address(&webhook.url, webhook.allow_http)
        .map_err(|error| format!("its address {error}"))?;
    let uri: Uri = url.as_str().parse().map_err(|_| "its address cannot be sent to".to_owned())?;
    let signatures = secrets.iter().map(|secret| secret.sign(id, timestamp, body.as_bytes()));
    let request = Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("webhook-id", id)
        .header("webhook-timestamp", timestamp)
        .header("webhook-signature", signatures.collect::<Vec<_>>().join(" "))
        .body(Full::from(body.to_owned()))
        .map_err(|error| error.to_string())?;
    Ok((request, url.scheme() == "https"))
}

fn judge(status: StatusCode, headers: &HeaderMap) -> Sent {
    if status.is_success() {
        return Sent::Told(status);
    }
    if status == StatusCode::GONE {
        return Sent::Gone;
    }
    let redirect = if status.is_redirection() { "; redirects are not followed" } else { "" };
    let asked = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let why = format!("it answered {status}{redirect}");
    Sent::Failed { why, asked_s: asked, status: Some(status.as_u16()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_success_is_success() {
        let judged = |status: u16, headers: &HeaderMap| {
            judge(StatusCode::from_u16(status).unwrap(), headers)
        };
        let none = HeaderMap::new();
        assert!(matches!(judged(204, &none), Sent::Told(_)));
        assert_eq!(judged(410, &none), Sent::Gone);
        for status in [301, 400, 404, 500, 502] {
            assert!(matches!(judged(status, &none), Sent::Failed { asked_s: None, .. }));
        }
        let asked = HeaderMap::from_iter([(RETRY_AFTER, "7".parse().unwrap())]);
        assert!(matches!(judged(429, &asked), Sent::Failed { asked_s: Some(7), .. }));
    }
}
