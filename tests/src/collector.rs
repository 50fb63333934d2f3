//! A collector of traces: it takes what is sent by OTLP over HTTP, as a real one does, and shows it to the test.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::{AnyValue, KeyValue, any_value::Value},
    trace::v1::{Span, status::StatusCode as SpanStatus},
};
use prost::Message;
use tokio::net::TcpListener;

use crate::eventually;

/// A running collector. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct Collector {
    address: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    spans: Vec<TracedSpan>,
    bytes: Vec<Bytes>,
    headers: Vec<HeaderMap>,
    hangs: bool,
}

/// A span that was sent.
#[derive(Debug, Clone)]
pub struct TracedSpan {
    /// The name of the service.
    pub service: String,
    /// Its name.
    pub name: String,
    /// The trace, in hex.
    pub trace: String,
    /// Itself, in hex.
    pub id: String,
    /// The span above it, in hex; empty: none.
    pub parent: String,
    /// What kind it is, as OTLP numbers them: 1 internal, 2 server, 3 client.
    pub kind: i32,
    /// Whether it says that it went wrong.
    pub failed: bool,
    /// What it says, as text.
    pub attributes: BTreeMap<String, String>,
    /// The spans that it links to, in hex.
    pub links: Vec<String>,
}

// === impl Collector ===

impl Collector {
    /// Starts one that takes everything.
    pub async fn start() -> Result<Self> {
        Self::begin(false).await
    }

    /// Starts one that accepts and never answers.
    pub async fn start_hanging() -> Result<Self> {
        Self::begin(true).await
    }

    async fn begin(hangs: bool) -> Result<Self> {
        let seen = Arc::new(Mutex::new(Seen { hangs, ..Seen::default() }));
        let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&seen));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, seen })
    }

    /// Its address, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All spans so far.
    #[must_use]
    pub fn spans(&self) -> Vec<TracedSpan> {
        self.lock().spans.clone()
    }

    /// How many messages have come.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.lock().headers.len()
    }

    /// The value of a header, of each message.
    #[must_use]
    pub fn header(&self, name: &str) -> Vec<String> {
        let text = |headers: &HeaderMap| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
        };
        self.lock().headers.iter().map(text).collect()
    }

    /// Whether `text` is in anything that was sent.
    #[must_use]
    pub fn was_sent(&self, text: &str) -> bool {
        let has = |bytes: &Bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        self.lock().bytes.iter().any(has)
    }

    /// Waits until a span of this name is there that is as `check` says.
    pub async fn span(
        &self,
        within: Duration,
        name: &str,
        check: impl Fn(&TracedSpan) -> bool,
    ) -> Result<TracedSpan> {
        eventually(within, name, || async {
            let spans = self.spans();
            let found = spans.iter().find(|span| span.name == name && check(span)).cloned();
            found.with_context(|| {
                let named: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
                format!("{} spans, and of that name {named:#?}", spans.len())
            })
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn take(
    State(seen): State<Arc<Mutex<Seen>>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Vec<u8>) {
    let Ok(message) = ExportTraceServiceRequest::decode(body.clone()) else {
        return (StatusCode::BAD_REQUEST, Vec::new());
    };
    let hangs = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.headers.push(headers);
        seen.bytes.push(body);
        seen.spans.extend(spans(message));
        seen.hangs
    };
    if hangs {
        std::future::pending::<()>().await;
    }
    (StatusCode::OK, ExportTraceServiceResponse::default().encode_to_vec())
}

fn spans(message: ExportTraceServiceRequest) -> Vec<TracedSpan> {
    let mut all = Vec::new();
    for of_service in message.resource_spans {
        let attributes = texts(of_service.resource.unwrap_or_default().attributes);
        let service = attributes.get("service.name").cloned().unwrap_or_default();
        let spans = of_service.scope_spans.into_iter().flat_map(|scope| scope.spans);
        all.extend(spans.map(|span| TracedSpan::new(&service, span)));
    }
    all
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(is)) => is.to_string(),
        other => format!("{other:?}"),
    };
    attributes.into_iter().map(|one| (one.key, text(one.value))).collect()
}

// === impl TracedSpan ===

impl TracedSpan {
    fn new(service: &str, span: Span) -> Self {
        let status = span.status.unwrap_or_default();
        Self {
            service: service.to_owned(),
            name: span.name,
            trace: hex::encode(span.trace_id),
            id: hex::encode(span.span_id),
            parent: hex::encode(span.parent_span_id),
            kind: span.kind,
            failed: status.code == SpanStatus::Error as i32,
            attributes: texts(span.attributes),
            links: span.links.into_iter().map(|link| hex::encode(link.span_id)).collect(),
        }
    }

    /// What it says under this name; empty: nothing.
    #[must_use]
    pub fn says(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}
