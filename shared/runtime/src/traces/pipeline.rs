//! Puts the parts together: tracer, queue, exporter, sender.

use opentelemetry::{KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    resource::{
        EnvResourceDetector, ResourceDetector, SdkProvidedResourceDetector,
        TelemetryResourceDetector,
    },
    trace::{Sampler, SdkTracerProvider, SpanExporter as _},
};
use vestibule_traces::Traces;

use super::{
    TraceOptionsError, TraceSender,
    client::{CollectorClient, LastFailure},
    queue::Queue,
    sender::{Counts, Parts},
    settings::TraceSettings,
    standard::Environment,
};
use crate::Random;

/// What begins traces, and what sends them. Nothing is connected yet.
pub(super) fn build(
    settings: &TraceSettings,
    resource: Resource,
) -> Result<(Traces, TraceSender), TraceOptionsError> {
    let failure = LastFailure::default();
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(CollectorClient::new(settings, failure.clone()))
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(settings.endpoint.to_string())
        .with_timeout(settings.timeout)
        .build()?;
    exporter.set_resource(&resource);
    let counts = Counts::default();
    let (queue, ended) = Queue::new(counts.clone());
    let provider = SdkTracerProvider::builder()
        // Whether a trace is recorded has been decided when a span is begun.
        .with_sampler(Sampler::AlwaysOn)
        .with_span_processor(queue)
        .with_resource(resource)
        .build();
    let random = Random::of_system();
    let traces =
        Traces::new(provider.tracer("vestibule"), settings.sampling, move || random.number());
    let parts = Parts { traces: traces.clone(), ended, exporter, failure, counts };
    Ok((traces, TraceSender::new(parts)))
}

/// Who records: an instance of `service` in `region`, and what OpenTelemetry's own variables say of it.
pub(super) fn resource(service: &'static str, region: &str, environment: &Environment) -> Resource {
    let instance = format!("{service}-{:016x}", Random::of_system().number());
    let ours = [
        KeyValue::new("service.name", format!("vestibule-{service}")),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", instance),
        KeyValue::new("vestibule.region", region.to_owned()),
    ];
    let mut detectors: Vec<Box<dyn ResourceDetector>> =
        vec![Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())];
    if environment.get("OTEL_SERVICE_NAME").is_some() {
        detectors.push(Box::new(SdkProvidedResourceDetector));
    }
    Resource::builder_empty().with_attributes(ours).with_detectors(&detectors).build()
}
