//! A receiver of webhooks: what Standard Webhooks 1.0 tells receivers to check, it checks, by other code than ours.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, ensure};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::IntoResponse,
    routing::any,
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
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
        let seen = Arc::new(Mutex::new(Seen { attempts: Vec::new(), next: Vec::new(), then }));
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
            if attempt.answer == Answers::Gladly && !ids.contains(&attempt.id) {
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

async fn take(
    State(seen): State<Arc<Mutex<Seen>>>,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let header = |name: &str| {
        headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let answer = {
        let mut seen = lock(&seen);
        let answer = if seen.next.is_empty() { seen.then } else { seen.next.remove(0) };
        seen.attempts.push(Attempt {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp").parse().unwrap_or(0),
            signatures: header("webhook-signature").split(' ').map(str::to_owned).collect(),
            body: String::from_utf8_lossy(&body).into_owned(),
            answer,
        });
        answer
    };
    let status = match answer {
        Answers::Gladly => StatusCode::NO_CONTENT,
        Answers::Badly => StatusCode::INTERNAL_SERVER_ERROR,
        Answers::Elsewhere => StatusCode::TEMPORARY_REDIRECT,
        Answers::Gone => StatusCode::GONE,
        Answers::Never => std::future::pending().await,
    };
    (status, [(LOCATION, "/hook")])
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
