//! The operator's calls that a measurement needs.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use reqwest::{Client, Method, header::HeaderMap};
use serde_json::{Value, json};

/// A client of the controller.
#[derive(Debug)]
pub(crate) struct Operator {
    http: Client,
    controller: SocketAddr,
    api_token: String,
}

// === impl Operator ===

impl Operator {
    /// A client of `controller` with `api_token`.
    pub(super) fn new(http: Client, controller: SocketAddr, api_token: String) -> Self {
        Self { http, controller, api_token }
    }

    /// Creates a room; fails if admission does not know it at once.
    pub(super) async fn put_room(&self, room: &str, settings: &Value) -> Result<()> {
        let headers = self.call(Method::PUT, &format!("/v1/rooms/{room}"), settings).await?;
        let behind = headers.get("vestibule-behind");
        ensure!(behind.is_none(), "{room}: {behind:?}");
        Ok(())
    }

    /// Moves the serving counter of a room.
    pub(crate) async fn increment(&self, room: &str, by: usize) -> Result<()> {
        let increment = json!({ "event_id": room, "increment_by": by });
        self.call(Method::POST, "/api/increment_serving_counter", &increment).await.map(drop)
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> Result<HeaderMap> {
        let url = format!("http://{}{path}", self.controller);
        let request = self.http.request(method, url).bearer_auth(&self.api_token).json(body);
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        ensure!(status.is_success(), "{path}: {status}: {}", response.text().await?);
        Ok(headers)
    }
}
