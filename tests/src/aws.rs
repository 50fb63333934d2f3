//! An AWS-style client: the public calls at admission, the private ones at the controller.
//!
//! It asks exactly what it is told to, so that a test can also ask nonsense.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::{Fleet, Reply, eventually};

/// A client of one event.
#[derive(Debug, Clone)]
pub struct Aws {
    admissions: Fleet,
    controllers: Fleet,
    api_token: String,
    event: String,
}

// === impl Aws ===

impl Aws {
    /// A client of `event` that may also make the private calls.
    #[must_use]
    pub fn new(admissions: Fleet, controllers: Fleet, api_token: &str, event: &str) -> Self {
        let (api_token, event) = (api_token.to_owned(), event.to_owned());
        Self { admissions, controllers, api_token, event }
    }

    /// The same client of another event.
    #[must_use]
    pub fn of(&self, event: &str) -> Self {
        Self { event: event.to_owned(), ..self.clone() }
    }

    /// The same client at other admissions.
    #[must_use]
    pub fn at(&self, admissions: Fleet) -> Self {
        Self { admissions, ..self.clone() }
    }

    /// `GET` of a public call with these query parameters.
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Reply> {
        Reply::of(self.admissions.http().get(self.admissions.at(&with_query(path, query))?)).await
    }

    /// `POST` of a public call with this body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        Reply::of(self.admissions.http().post(self.admissions.at(path)?).json(body)).await
    }

    /// A private call, authorized, with this body; `GET` without one.
    pub async fn private(&self, path: &str, body: Option<&Value>) -> Result<Reply> {
        Reply::of(self.private_request(path, body)?.bearer_auth(&self.api_token)).await
    }

    /// A private call that shows no token.
    pub async fn private_anonymous(&self, path: &str, body: Option<&Value>) -> Result<Reply> {
        Reply::of(self.private_request(path, body)?).await
    }

    fn private_request(&self, path: &str, body: Option<&Value>) -> Result<RequestBuilder> {
        let (http, url) = (self.controllers.http(), self.controllers.at(path)?);
        Ok(match body {
            Some(body) => http.post(url).json(body),
            None => http.get(url),
        })
    }

    /// A public `GET` about the event.
    pub async fn event_get(&self, path: &str) -> Result<Reply> {
        self.get(path, &[("event_id", &self.event)]).await
    }

    /// A public `GET` about a request id.
    pub async fn request_get(&self, path: &str, request_id: &str) -> Result<Reply> {
        self.get(path, &[("event_id", &self.event), ("request_id", request_id)]).await
    }

    /// Takes a place; gives the request id.
    pub async fn assign(&self) -> Result<String> {
        let body = json!({ "event_id": self.event });
        self.post("/assign_queue_num", &body).await?.expect(200)?.text_of("api_request_id")
    }

    /// The queue number of a request id, as soon as there is one.
    pub async fn queue_number(&self, request_id: &str) -> Result<u64> {
        eventually(Duration::from_secs(10), "a queue number", || async {
            self.request_get("/queue_num", request_id).await?.expect(200)?.number("queue_number")
        })
        .await
    }

    /// Public `generate_token`.
    pub async fn generate_token(&self, request_id: &str) -> Result<Reply> {
        let body = json!({ "event_id": self.event, "request_id": request_id });
        self.post("/generate_token", &body).await
    }

    /// The serving counter, as the public call tells it.
    pub async fn serving(&self) -> Result<i64> {
        let reply = self.event_get("/serving_num").await?.expect(200)?;
        Ok(reply.text_of("serving_counter")?.parse()?)
    }

    /// Moves the serving counter; gives the new value.
    pub async fn increment(&self, by: i64) -> Result<i64> {
        let body = json!({ "event_id": self.event, "increment_by": by });
        let reply = self.private("/api/increment_serving_counter", Some(&body)).await?;
        reply.expect(200)?.signed("serving_num")
    }

    /// As [`Self::private`], under the name `key` of the call.
    pub async fn private_once(&self, path: &str, key: &str, body: &Value) -> Result<Reply> {
        let request = self.private_request(path, Some(body))?.bearer_auth(&self.api_token);
        Reply::of(request.header("Idempotency-Key", key)).await
    }

    /// Moves the serving counter, and waits until admission tells the new value.
    pub async fn serve(&self, by: i64) -> Result<i64> {
        let target = self.increment(by).await?;
        eventually(Duration::from_secs(10), "the new serving counter everywhere", || async {
            for admissions in self.admissions.each() {
                let told = Self { admissions, ..self.clone() }.serving().await?;
                ensure!(told == target, "one says {told}, not {target}");
            }
            Ok(target)
        })
        .await
    }

    /// Ends a session: 1 completed, -1 abandoned.
    pub async fn update_session(&self, request_id: &str, status: i64) -> Result<Reply> {
        let body = json!({ "event_id": self.event, "request_id": request_id, "status": status });
        self.private("/api/update_session", Some(&body)).await
    }

    /// Tokens that are valid, and whose session has not ended.
    pub async fn active_tokens(&self) -> Result<u64> {
        let path = format!("/api/num_active_tokens?event_id={}", self.event);
        self.private(&path, None).await?.expect(200)?.number("active_tokens")
    }
}

fn with_query(path: &str, query: &[(&str, &str)]) -> String {
    let pairs: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}
