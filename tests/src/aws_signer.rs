//! A caller that signs its requests as clients of AWS do (Signature Version 4), by code that the services do not share,
//! and that can be told to do it wrongly. Whether real signers are understood, other tests ask real signers.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::{
    digest::{SHA256, digest},
    hmac::{HMAC_SHA256, Key, sign},
};
use reqwest::{Method, RequestBuilder, Url};
use serde_json::Value;

use crate::Fleet;

/// A key, and for what it signs.
#[derive(Debug, Clone)]
pub struct AwsSigner {
    /// The access key id.
    pub key_id: String,
    /// The secret access key.
    pub secret: String,
    /// What is sent, and signed, as `X-Amz-Security-Token`.
    pub session_token: Option<String>,
    /// The region.
    pub region: String,
    /// How far its clock is ahead, in seconds.
    pub ahead: i64,
}

// === impl AwsSigner ===

impl AwsSigner {
    /// One that signs for `us-east-1`, with a clock that is right.
    #[must_use]
    pub fn new(key_id: &str, secret: &str) -> Self {
        let (key_id, secret, region) = (key_id.into(), secret.into(), "us-east-1".into());
        Self { key_id, secret, session_token: None, region, ahead: 0 }
    }

    /// A signed request to one of `fleet`: `POST` with this body, `GET` without one.
    pub fn request(
        &self,
        fleet: &Fleet,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<RequestBuilder> {
        let url = fleet.at(path)?;
        let (method, body) = match body {
            Some(body) => (Method::POST, body.to_string()),
            None => (Method::GET, String::new()),
        };
        let headers = self.headers(method.as_str(), &Url::parse(&url)?, body.as_bytes());
        let request = fleet.http().request(method, url).body(body);
        Ok(headers.into_iter().fold(request, |request, (name, value)| request.header(name, value)))
    }

    /// The headers that make a request signed. Its query must be sorted and encoded already.
    #[must_use]
    pub fn headers(&self, method: &str, url: &Url, body: &[u8]) -> Vec<(&'static str, String)> {
        let time = written(now() + self.ahead);
        let (day, host) = (&time[..8], host(url));
        let scope = format!("{day}/{}/execute-api/aws4_request", self.region);
        let mut lines = format!("host:{host}\nx-amz-date:{time}\n");
        let mut names = "host;x-amz-date".to_owned();
        let mut headers = vec![("x-amz-date", time.clone())];
        if let Some(token) = &self.session_token {
            lines.extend(["x-amz-security-token:", token, "\n"]);
            names += ";x-amz-security-token";
            headers.push(("x-amz-security-token", token.clone()));
        }
        let (path, query) = (url.path(), url.query().unwrap_or_default());
        let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{}", hash(body));
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hash(canonical.as_bytes()));
        let chain = [day, self.region.as_str(), "execute-api", "aws4_request", text.as_str()];
        let start = format!("AWS4{}", self.secret).into_bytes();
        let signature = chain.iter().fold(start, |key, part| {
            sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec()
        });
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.key_id,
            hex::encode(signature)
        );
        headers.push(("authorization", authorization));
        headers
    }
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(digest(&SHA256, bytes))
}

#[expect(clippy::disallowed_methods, reason = "signers go by the time of day")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

/// As `20150830T123600Z`.
fn written(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}
