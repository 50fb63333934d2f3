//! Asks for something by HTTPS, once. No redirect is followed, and no address is asked that is nobody's service.

use std::{fmt::Debug, sync::OnceLock, time::Duration};

use axum::{
    body::Bytes,
    http::{Request, StatusCode, header::USER_AGENT},
};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full, Limited};
use url::Url;
use vestibule_runtime::ErrorChain;

use crate::webhooks::{AGENT, EncryptedClient, encrypted_client};

/// How long an answer may take: SNS waits for ours for 15 seconds.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer, in bytes.
const LONGEST: usize = 64 * 1024;

/// Asks for something.
pub(super) trait Fetch: Debug + Send + Sync {
    /// What is at an address, or why it is not known.
    fn get<'a>(&'a self, address: &'a Url) -> BoxFuture<'a, Result<Vec<u8>, String>>;
}

/// Asks the host that the address names. What it asks with is made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct OverHttps(OnceLock<EncryptedClient>);

// === impl OverHttps ===

impl Fetch for OverHttps {
    fn get<'a>(&'a self, address: &'a Url) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async {
            match tokio::time::timeout(TIMEOUT, self.ask(address)).await {
                Ok(answer) => answer,
                Err(_) => Err(format!("no answer within {TIMEOUT:?}")),
            }
        })
    }
}

impl OverHttps {
    async fn ask(&self, address: &Url) -> Result<Vec<u8>, String> {
        let request = Request::get(address.as_str()).header(USER_AGENT, AGENT);
        let request = request.body(Full::<Bytes>::default()).map_err(|error| error.to_string())?;
        let client = self.0.get_or_init(encrypted_client);
        let answer = client.request(request).await;
        let answer = answer.map_err(|error| ErrorChain(&error).to_string())?;
        if answer.status() != StatusCode::OK {
            return Err(format!("it answered {}", answer.status()));
        }
        let body = Limited::new(answer.into_body(), LONGEST).collect().await;
        Ok(body.map_err(|error| error.to_string())?.to_bytes().to_vec())
    }
}
