//! A receiver of webhooks: what Standard Webhooks 1.0 tells receivers to check, it checks, by other code than ours.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context, Result, ensure};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
    routing::any,
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use futures_util::{StreamExt, stream};
use jsonwebtoken::{Algorithm, EncodingKey, crypto::sign};
use serde_json::Value;
use tokio::{net::TcpListener, task::AbortHandle};

/// How a receiver answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// By 204.
    Gladly,
    /// By 500.
    Badly,
    /// By a redirect to itself.
    Elsewhere,
    /// By 410.
    Gone,
    /// Not at all.
    Never,
    /// By 200, whose body goes on for ever.
    Endlessly,
    /// By 400, since it cannot do anything with this event.
    Refusing,
}

/// One attempt.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// `webhook-id`
    pub id: String,
    /// `webhook-timestamp`
    pub timestamp: u64,
    /// `webhook-signature`, one by one.
    pub signatures: Vec<String>,
    /// The event, as it came.
    pub body: String,
    /// How it was answered.
    pub answer: Answers,
}

#[derive(Debug)]
struct Seen {
    attempts: Vec<Attempt>,
    /// What comes first is answered so, each once.
    next: Vec<Answers>,
    /// And then all so.
    then: Answers,
    /// But events that have this in them are refused.
    refused: Option<String>,
}

/// A receiver. It is gone when it is dropped.
#[derive(Debug)]
pub struct Receiver {
    url: String,
    seen: Arc<Mutex<Seen>>,
    task: AbortHandle,
}

// === impl Receiver ===

impl Receiver {
    /// A receiver that answers so.
    pub async fn start(then: Answers) -> Result<Self> {
        let seen = Arc::new(Mutex::new(Seen {
            attempts: Vec::new(),
            next: Vec::new(),
            then,
            refused: None,
        }));
        let router = Router::new().route("/hook", any(take)).with_state(Arc::clone(&seen));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let task = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, seen, task: task.abort_handle() })
    }

    /// Where it is told.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What comes next is answered so, and then all as before.
    pub fn answer_next(&self, next: &[Answers]) {
        lock(&self.seen).next = next.to_vec();
    }

    /// From now on all is answered so.
    pub fn answer(&self, then: Answers) {
        lock(&self.seen).then = then;
    }

    /// From now on it refuses events that have this in them.
    pub fn refuse(&self, part: &str) {
        lock(&self.seen).refused = Some(part.to_owned());
    }

    /// All attempts so far.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        lock(&self.seen).attempts.clone()
    }

    /// The events of this kind that it has taken, the first of each id, in order.
    pub fn events(&self, kind: &str) -> Result<Vec<Value>> {
        let mut ids: Vec<String> = Vec::new();
        let mut events = Vec::new();
        for attempt in self.attempts() {
            let is_taken = matches!(attempt.answer, Answers::Gladly | Answers::Endlessly);
            if is_taken && !ids.contains(&attempt.id) {
                let event: Value = serde_json::from_str(&attempt.body)?;
                ids.push(attempt.id);
                events.extend(Some(event).filter(|event| event["type"] == kind));
            }
        }
        Ok(events)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

// === impl Attempt ===

impl Attempt {
    /// Whether one of its signatures is by this secret.
    pub fn is_signed_by(&self, secret: &str) -> Result<bool> {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").context("no whsec_")?)?;
        let signed = format!("{}.{}.{}", self.id, self.timestamp, self.body);
        let mac = sign(signed.as_bytes(), &EncodingKey::from_secret(&key), Algorithm::HS256)?;
        let expected = format!("v1,{}", STANDARD.encode(URL_SAFE_NO_PAD.decode(mac)?));
        Ok(self.signatures.contains(&expected))
    }

    /// Fails unless one of its signatures is by this secret.
    pub fn expect_signed_by(&self, secret: &str) -> Result<()> {
        ensure!(self.is_signed_by(secret)?, "{self:?} is not signed");
        Ok(())
    }
}

async fn take(State(seen): State<Arc<Mutex<Seen>>>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let answer = {
        let mut seen = lock(&seen);
        let text = String::from_utf8_lossy(&body).into_owned();
        let is_refused = seen.refused.as_ref().is_some_and(|part| text.contains(part));
        let answer = if is_refused {
            Answers::Refusing
        } else if seen.next.is_empty() {
            seen.then
        } else {
            seen.next.remove(0)
        };
        seen.attempts.push(Attempt {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp").parse().unwrap_or(0),
            signatures: header("webhook-signature").split(' ').map(str::to_owned).collect(),
            body: text,
            answer,
        });
        answer
    };
    let status = match answer {
        Answers::Gladly => StatusCode::NO_CONTENT,
        Answers::Badly => StatusCode::INTERNAL_SERVER_ERROR,
        Answers::Elsewhere => StatusCode::TEMPORARY_REDIRECT,
        Answers::Gone => StatusCode::GONE,
        Answers::Refusing => StatusCode::BAD_REQUEST,
        Answers::Endlessly => {
            // The head, and one byte of more to come.
            let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"x")) });
            return Body::from_stream(first.chain(stream::pending())).into_response();
        }
        Answers::Never => std::future::pending().await,
    };
    (status, [(LOCATION, "/hook")]).into_response()
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
