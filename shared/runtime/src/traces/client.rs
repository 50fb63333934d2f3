//! The exporter's way to the collector, over HTTP or HTTPS.
//!
//! It adds the secret headers, so that nothing else has them, and remembers why it failed, because the exporter says
//! no more than that it did. No redirect is followed.

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry_http::{HttpClient, HttpError};
use rustls::ClientConfig;

use super::settings::TraceSettings;
use crate::ErrorChain;

/// The largest answer that is read, in bytes: a real one has a few.
const LARGEST_ANSWER: usize = 64 * 1024;

/// Why the collector could not be reached last; empty: nothing is known.
#[derive(Debug, Clone, Default)]
pub(super) struct LastFailure(Arc<Mutex<Option<String>>>);

/// Speaks to the collector.
#[derive(Debug)]
pub(super) struct CollectorClient {
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    headers: Vec<(HeaderName, HeaderValue)>,
    timeout: Duration,
    failure: LastFailure,
}

// === impl LastFailure ===

impl LastFailure {
    fn note(&self, why: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// What it was, if it has not been asked for yet.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

// === impl CollectorClient ===

impl CollectorClient {
    pub(super) fn new(settings: &TraceSettings, failure: LastFailure) -> Self {
        let connector = HttpsConnectorBuilder::new();
        let connector = match settings.authorities.clone() {
            None => connector.with_webpki_roots(),
            Some(authorities) => {
                let config = ClientConfig::builder().with_root_certificates(authorities);
                connector.with_tls_config(config.with_no_client_auth())
            }
        };
        let connector = connector.https_or_http().enable_http1().build();
        Self {
            http: Client::builder(TokioExecutor::new()).build(connector),
            headers: settings.headers.clone(),
            timeout: settings.timeout,
            failure,
        }
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut request = request.map(Full::new);
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        let (parts, body) = self.http.request(request).await?.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await?.to_bytes();
        Ok(Response::from_parts(parts, body))
    }
}

#[async_trait::async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = tokio::time::timeout(self.timeout, self.send(request)).await;
        let answer =
            sent.unwrap_or_else(|_| Err(format!("no answer in {:?}", self.timeout).into()));
        answer.inspect_err(|error| {
            let error: &(dyn Error + 'static) = &**error;
            self.failure.note(ErrorChain(error).to_string());
        })
    }
}
