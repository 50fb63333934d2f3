//! A small site: it answers with what it was asked, and does what its paths say.
//!
//! A path that ends in `/bye` orders the end of the visitor's session, one in `/unauthorized` and
//! `/broken` answers 401 and 500, one in `/picky` 406 to who does not want a document, one in `/slow`
//! after a while, and what one in `/shared` or `/bye` answers is for caches. An upgrade is granted, and echoes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::Result;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Response, StatusCode,
        header::{
            ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, SEC_WEBSOCKET_ACCEPT, SET_COOKIE,
            UPGRADE,
        },
    },
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// A key of a WebSocket's client and what the server answers to it, from RFC 6455.
pub(super) const WEBSOCKET: (&str, &str) =
    ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");

const LARGEST: usize = 64 << 20;
/// Longer than what a gateway waits for by itself: Envoy's routes 15 s.
const SLOW: Duration = Duration::from_secs(16);

/// A running site.
#[derive(Debug)]
pub struct Site {
    address: String,
    orders: Arc<Mutex<&'static str>>,
    server: JoinHandle<()>,
}

// === impl Site ===

impl Site {
    /// Starts it.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let orders = Arc::new(Mutex::new("Vestibule-Command"));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&orders));
        let server = tokio::spawn(async {
            // It ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, orders, server })
    }

    /// Its address, `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The header by which it gives orders from now on.
    pub fn orders_by(&self, header: &'static str) {
        *self.orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = header;
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(orders): State<Arc<Mutex<&'static str>>>,
    mut request: Request,
) -> Response<Body> {
    let asked = request.headers().get_all(UPGRADE).iter().map(HeaderValue::as_bytes);
    let asked = asked.collect::<Vec<_>>().join(&b","[..]);
    if !asked.is_empty() {
        return upgrade(&mut request, &asked);
    }
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST).await.unwrap_or_default();
    let headers: Vec<[String; 2]> = parts
        .headers
        .iter()
        .map(|(name, value)| [name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()])
        .collect();
    let seen: Value = json!({
        "site": "shop", "method": parts.method.as_str(), "target": parts.uri.to_string(),
        "headers": headers, "body_bytes": body.len(),
    });
    let mut response = Response::new(Body::from(seen.to_string()));
    let path = parts.uri.path();
    if path.ends_with("/unauthorized") {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    } else if path.ends_with("/broken") {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    } else if path.ends_with("/picky") && !wants_a_document(&parts.headers) {
        *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    } else if path.ends_with("/slow") {
        tokio::time::sleep(SLOW).await;
    }
    let headers = response.headers_mut();
    if path.ends_with("/shared") || path.ends_with("/bye") {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=600"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // A site has cookies of its own, which must come through beside ours.
    headers.append(SET_COOKIE, HeaderValue::from_static("basket=1; Path=/"));
    headers.append(SET_COOKIE, HeaderValue::from_static("seen=2; Path=/"));
    if path.ends_with("/bye") {
        let name = *orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        headers.insert(name, HeaderValue::from_static("revoke"));
    }
    response
}

fn wants_a_document(headers: &HeaderMap) -> bool {
    let wanted = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    wanted.is_some_and(|accept| accept.contains("text/html"))
}

/// Whatever comes through the tunnel goes back, whichever protocol was asked for.
fn upgrade(request: &mut Request, asked: &[u8]) -> Response<Body> {
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async {
        if let Ok(tunnel) = upgraded.await {
            let (mut read, mut write) = tokio::io::split(TokioIo::new(tunnel));
            let _ = tokio::io::copy(&mut read, &mut write).await;
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.extend(HeaderValue::from_bytes(asked).map(|asked| (UPGRADE, asked)));
    headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_static(WEBSOCKET.1));
    response
}
