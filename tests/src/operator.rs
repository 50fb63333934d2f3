//! An operator: the controller's API, with the bearer token.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::Value;

use crate::{Fleet, Reply, eventually};

/// A client of the controllers.
#[derive(Debug, Clone)]
pub struct Operator {
    controllers: Fleet,
    api_token: String,
}

// === impl Operator ===

impl Operator {
    /// A client that shows `api_token`.
    #[must_use]
    pub fn new(controllers: Fleet, api_token: &str) -> Self {
        Self { controllers, api_token: api_token.to_owned() }
    }

    /// The same operator at other instances, or with another token.
    #[must_use]
    pub fn with_token(&self, api_token: &str) -> Self {
        Self { api_token: api_token.to_owned(), ..self.clone() }
    }

    /// Any call of the API.
    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Reply> {
        let request = self.controllers.http().request(method, self.controllers.at(path)?);
        let request = request.bearer_auth(&self.api_token);
        Reply::of(if let Some(body) = body { request.json(body) } else { request }).await
    }

    /// Any call of the API, with a body as it is.
    pub async fn call_raw(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Reply> {
        let request = self.controllers.http().request(method, self.controllers.at(path)?);
        let request = request.header("content-type", "application/json").body(body);
        Reply::of(request.bearer_auth(&self.api_token)).await
    }

    /// Creates a room, or replaces its settings.
    pub async fn put_room(&self, room: &str, settings: &Value) -> Result<Reply> {
        self.call(Method::PUT, &format!("/v1/rooms/{room}"), Some(settings)).await
    }

    /// Changes some settings of a room.
    pub async fn patch_room(&self, room: &str, settings: &Value) -> Result<Reply> {
        self.call(Method::PATCH, &format!("/v1/rooms/{room}"), Some(settings)).await
    }

    /// The live figures of a room.
    pub async fn status(&self, room: &str) -> Result<Reply> {
        self.call(Method::GET, &format!("/v1/rooms/{room}/status"), None).await?.expect(200)
    }

    /// Who leads, once somebody does.
    pub async fn leader(&self, room: &str) -> Result<String> {
        let leader = self.status(room).await?.text_of("leader")?;
        ensure!(!leader.is_empty(), "nobody leads");
        Ok(leader)
    }

    /// Waits until the figures of a room are as `check` wants them.
    pub async fn until(
        &self,
        room: &str,
        what: &str,
        within: Duration,
        check: impl Fn(&Reply) -> Result<bool>,
    ) -> Result<Reply> {
        eventually(within, what, || async {
            let status = self.status(room).await?;
            ensure!(check(&status)?, "{}", status.text);
            Ok(status)
        })
        .await
    }
}
