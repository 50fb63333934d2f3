//! An HTTP answer as a test looks at it: the status, the headers, and the body as JSON.

use anyhow::{Context, Result, ensure};
use reqwest::{RequestBuilder, Response, header::HeaderMap};
use serde_json::Value;

/// An answer, whole.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, `Null` when it is not JSON.
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

// === impl Reply ===

impl Reply {
    /// Sends a request and reads the whole answer.
    pub async fn of(request: RequestBuilder) -> Result<Self> {
        Self::read(request.send().await?).await
    }

    async fn read(response: Response) -> Result<Self> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Self { status, headers, body, text })
    }

    /// The answer, if its status is `expected`.
    pub fn expect(self, expected: u16) -> Result<Self> {
        ensure!(self.status == expected, "expected {expected}, got {}: {}", self.status, self.text);
        Ok(self)
    }

    /// A header's value; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A field that is a string.
    pub fn text_of(&self, field: &str) -> Result<String> {
        let value = self.body[field].as_str();
        Ok(value.with_context(|| format!("no text `{field}` in {}", self.text))?.to_owned())
    }

    /// A field that is a whole number, zero or more.
    pub fn number(&self, field: &str) -> Result<u64> {
        let value = self.body[field].as_u64();
        value.with_context(|| format!("no number `{field}` in {}", self.text))
    }

    /// A field that is a whole number.
    pub fn signed(&self, field: &str) -> Result<i64> {
        let value = self.body[field].as_i64();
        value.with_context(|| format!("no number `{field}` in {}", self.text))
    }

    /// Whether the field `status` of the body says so.
    #[must_use]
    pub fn says(&self, status: &str) -> bool {
        self.body["status"] == status
    }

    /// Fails unless this asks the client to come again: 503 with a usable `Retry-After`.
    pub fn expect_retry_later(&self) -> Result<()> {
        ensure!(self.status == 503, "expected 503, got {}: {}", self.status, self.text);
        let after: u64 = self.header("retry-after").parse().context("Retry-After")?;
        ensure!((1..=60).contains(&after), "Retry-After is {after}");
        Ok(())
    }
}
