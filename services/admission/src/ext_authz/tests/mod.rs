//! What Envoy is answered before rooms are known, and whose trace a call of it is a part of.

mod silence;

use std::sync::Mutex;

use clap::Parser;
use envoy_types::{
    ext_authz::v3::pb::HttpResponse,
    pb::envoy::service::auth::v3::{
        AttributeContext, attribute_context, attribute_context::HttpRequest,
    },
};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};
use tonic::transport::server::TcpConnectInfo;
use vestibule_issuance::Machine;
use vestibule_traces::{Sampling, Traces};

use super::*;
use crate::{cli::Cli, config::Config};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const STRANGERS: &str = "00-11111111111111111111111111111111-2222222222222222-01";

/// Keeps what has ended. (OpenTelemetry has one, whose feature has every crate below built twice: for services and
/// for tests.)
#[derive(Debug, Clone, Default)]
struct Ended(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Ended {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// An admission that records what gateways record, and where that ends up.
fn service() -> (ExtAuthzService, Ended) {
    let cli = Cli::parse_from(["test", "--secret", &"s".repeat(32)]);
    let exporter = Ended::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let sampling = Sampling { fraction: 0.0, by_parent: true, per_second: 9 };
    let traces = Traces::new(provider.tracer("test"), sampling, || 0);
    let config = Config { traces, ..Config::read(&cli).unwrap() };
    let admission = Admission::new(&config, Machine::real());
    // There are no rooms.
    admission.authorizer.coverage.take_for_whole();
    (ExtAuthzService(Arc::new(admission)), exporter)
}

#[tokio::test]
async fn nothing_is_uncovered_before_all_rooms_are_known() {
    let (cli, machine) = (Cli::parse_from(["test", "--secret", &"s".repeat(32)]), Machine::real());
    let admission = Admission::new(&Config::read(&cli).unwrap(), machine);
    let service = ExtAuthzService(Arc::new(admission));
    let refused = service.check(call("127.0.0.1", None)).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unavailable);
}

/// A call by `peer` about the request of a visitor who sends a `traceparent`, too.
fn call(peer: &str, parent: Option<&str>) -> Request<CheckRequest> {
    let http = HttpRequest {
        method: "GET".to_owned(),
        host: "shop.example".to_owned(),
        path: "/private?card=4111".to_owned(),
        scheme: "https".to_owned(),
        headers: [("traceparent".to_owned(), STRANGERS.to_owned())].into_iter().collect(),
        ..Default::default()
    };
    let request = attribute_context::Request { http: Some(http), ..Default::default() };
    let attributes = AttributeContext { request: Some(request), ..Default::default() };
    let mut call = Request::new(CheckRequest { attributes: Some(attributes) });
    let remote_addr = Some(format!("{peer}:5000").parse().unwrap());
    call.extensions_mut().insert(TcpConnectInfo { local_addr: None, remote_addr });
    if let Some(parent) = parent {
        call.metadata_mut().insert("traceparent", parent.parse().unwrap());
    }
    call
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_and_is_no_failure() {
    let (service, _) = service();
    for path in ["/sale?x=<y>", "/sale`", ""] {
        let mut call = call("127.0.0.1", None);
        let attributes = call.get_mut().attributes.as_mut().unwrap();
        attributes.request.as_mut().unwrap().http.as_mut().unwrap().path = path.to_owned();
        let answer = service.check(call).await.unwrap().into_inner();
        let Some(HttpResponse::DeniedResponse(denied)) = answer.http_response else { panic!() };
        assert_eq!(denied.status.unwrap().code, 400, "{path}");
    }
}

#[tokio::test]
async fn envoys_metadata_says_whose_trace_it_is_and_the_visitors_headers_do_not() {
    let (service, exporter) = service();
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    service.check(call("127.0.0.1", None)).await.unwrap();
    assert!(service.check(call("203.0.113.9", Some(&parent))).await.is_err(), "no trusted proxy");
    assert!(exporter.0.lock().unwrap().is_empty());
    service.check(call("127.0.0.1", Some(&parent))).await.unwrap();
    let spans = exporter.0.lock().unwrap();
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(span.span_context.trace_id().to_string(), TRACE);
    let attributes = format!("{:?}", span.attributes);
    assert!(attributes.contains("uncovered"), "{attributes}");
    assert!(!attributes.contains("private") && !attributes.contains("4111"), "{attributes}");
}
