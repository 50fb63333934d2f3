//! Calls of a controller's API, over HTTP or HTTPS. What is asked for and how it is shown is not here.

use std::{error::Error, io, iter, time::Duration};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use vestibule_runtime::ErrorChain;

use super::{
    connect::{ConnectError, ConnectOptions},
    error::{Refusal, TerminalError},
};
use crate::rooms::BEHIND;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The same of a call that changes something, which may be a thousand rooms: whoever gives up does not know what was done.
const CHANGE_TIMEOUT: Duration = Duration::from_mins(15);
/// The longest answer, in bytes: that of an export.
const LONGEST: usize = 256 * 1024 * 1024;

const JSON: &str = "application/json";

/// Asks one controller.
#[derive(Debug)]
pub(crate) struct ControllerClient {
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base: String,
    token: SecretString,
}

/// What a controller has answered, if it did what it was asked for.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its body.
    pub(super) body: Bytes,
    /// That not all admissions go by a change yet, in words.
    pub(super) behind: Option<String>,
}

// === impl ControllerClient ===

impl ControllerClient {
    /// A client of the controller that the options name. Nothing is connected yet.
    ///
    /// # Errors
    /// If an option cannot be used.
    pub(super) fn new(options: &ConnectOptions) -> Result<Self, ConnectError> {
        let (base, token) = (options.base()?, options.token()?);
        let connector = HttpsConnectorBuilder::new().with_tls_config(options.tls()?);
        let connector = connector.https_or_http().enable_http1().build();
        Ok(Self { http: Client::builder(TokioExecutor::new()).build(connector), base, token })
    }

    /// Where it asks.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Reads what is at `path`, as JSON.
    ///
    /// # Errors
    /// [`TerminalError`].
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, TerminalError> {
        let answer = self.call(Method::GET, path, JSON, Bytes::new()).await?;
        self.parse(&answer.body)
    }

    /// Makes a call with a body of JSON, or none; the answer is to be of the media type `accept`.
    ///
    /// # Errors
    /// [`TerminalError`].
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        body: Bytes,
    ) -> Result<Answer, TerminalError> {
        let bearer = format!("Bearer {}", self.token.expose_secret());
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, bearer)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, JSON)
            .body(Full::new(body));
        // Whose characters cannot travel in a header is nobody's token.
        let request = request.map_err(|_| self.wrong_token())?;
        let patience = if request.method() == Method::GET { TIMEOUT } else { CHANGE_TIMEOUT };
        let answered = timeout(patience, self.answer(request)).await;
        answered.unwrap_or_else(|_| {
            Err(self.unreachable(format!("nothing came within {} seconds", patience.as_secs())))
        })
    }

    /// Reads JSON that it has answered.
    ///
    /// # Errors
    /// If it is something else.
    pub(super) fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, TerminalError> {
        serde_json::from_slice(body).map_err(|error| self.strange(error.to_string()))
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Result<Answer, TerminalError> {
        let response = self.http.request(request).await;
        let response = response.map_err(|error| self.failed(&error))?;
        let (status, headers) = (response.status(), response.headers());
        let behind = headers.get(BEHIND).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = Limited::new(response.into_body(), LONGEST).collect().await;
        let body = body.map_err(|error| self.unreachable(ErrorChain(&*error).to_string()))?;
        let body = body.to_bytes();
        match status {
            status if status.is_success() => Ok(Answer { body, behind }),
            StatusCode::UNAUTHORIZED => Err(self.wrong_token()),
            status => {
                let problem = serde_json::from_slice(&body);
                Err(problem.unwrap_or_else(|_| Refusal::bare(status)).into())
            }
        }
    }

    fn wrong_token(&self) -> TerminalError {
        TerminalError::WrongToken { url: self.base.clone() }
    }

    /// There is no answer.
    fn failed(&self, error: &(dyn Error + 'static)) -> TerminalError {
        let reason = ErrorChain(error).to_string();
        if is_untrusted(error) {
            return TerminalError::Untrusted { url: self.base.clone(), reason };
        }
        self.unreachable(reason)
    }

    fn unreachable(&self, reason: String) -> TerminalError {
        TerminalError::Unreachable { url: self.base.clone(), reason }
    }

    fn strange(&self, reason: String) -> TerminalError {
        TerminalError::Strange { url: self.base.clone(), reason }
    }
}

/// Whether the certificate of who answers is what is wrong.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    iter::successors(Some(error), |cause| (*cause).source()).any(|cause| {
        // Errors of input and output do not tell what they are of as their source, and are of one another.
        let inner = iter::successors(Some(cause), |cause| {
            let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            inner.map(|inner| inner as &(dyn Error + 'static))
        });
        let mut inner = inner.filter_map(|cause| cause.downcast_ref::<rustls::Error>());
        inner.any(|cause| matches!(cause, rustls::Error::InvalidCertificate(_)))
    })
}
