//! The options of traces.

use std::path::PathBuf;

use clap::Args;
use secrecy::SecretString;
use vestibule_traces::Traces;

use super::{
    TraceOptionsError, TraceSender, fraction::parse_fraction, pipeline, settings::TraceSettings,
    standard::Environment,
};
use crate::secret::SecretSource;

/// Where traces are sent, and which.
#[derive(Debug, Clone, Args)]
pub struct TraceOptions {
    /// Where traces are sent, by OTLP over HTTP: `http://collector:4318`. Without a path, /v1/traces is added.
    ///
    /// If not given, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_ENDPOINT` count; if none is given, no
    /// traces are recorded, and none of the other options matters. See docs/tracing.md.
    #[arg(long, env = "VESTIBULE_TRACES_ENDPOINT", value_name = "URL")]
    pub traces_endpoint: Option<String>,

    /// The part of requests and ticks that are recorded, 0 to 1; 0.01 if not given. With 0 only what a gateway records.
    ///
    /// A trusted proxy that sends `traceparent` decides by itself. Instead of this, `OTEL_TRACES_SAMPLER` and
    /// `OTEL_TRACES_SAMPLER_ARG` count.
    #[arg(
        long,
        env = "VESTIBULE_TRACES_SAMPLED",
        value_name = "FRACTION",
        value_parser = parse_fraction
    )]
    pub traces_sampled: Option<f64>,

    /// Most traces that this instance begins in a second, whoever asks for them.
    #[arg(
        long,
        env = "VESTIBULE_TRACES_PER_SECOND",
        value_name = "COUNT",
        default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub traces_per_second: u32,

    /// Headers that the collector wants to see, such as `authorization=Bearer%20…`: name=value, separated by commas or
    /// lines, values percent-encoded. Those of `OTEL_EXPORTER_OTLP_HEADERS` are sent besides.
    #[arg(long, env = "VESTIBULE_TRACES_HEADERS", hide_env_values = true, value_name = "TEXT")]
    pub traces_headers: Option<SecretString>,

    /// File that holds them.
    #[arg(long, env = "VESTIBULE_TRACES_HEADERS_FILE", value_name = "FILE")]
    pub traces_headers_file: Option<PathBuf>,

    /// PEM file with the certificate authorities that vouch for the collector. They take the place of the public ones,
    /// which are trusted if neither this nor `OTEL_EXPORTER_OTLP_CERTIFICATE` is given.
    #[arg(long, env = "VESTIBULE_TRACES_CA_FILE", value_name = "FILE")]
    pub traces_ca_file: Option<PathBuf>,
}

// === impl TraceOptions ===

impl TraceOptions {
    /// What begins traces in this instance of `service` in `region`, and what sends them. Nothing is connected yet.
    ///
    /// # Errors
    /// Names the option that cannot be used, never a secret.
    pub fn read(
        &self,
        service: &'static str,
        region: &str,
    ) -> Result<(Traces, TraceSender), TraceOptionsError> {
        let environment = Environment::of_process();
        let Some(settings) = TraceSettings::read(self, &environment)? else {
            return Ok((Traces::off(), TraceSender::default()));
        };
        pipeline::build(&settings, pipeline::resource(service, region, &environment))
    }

    /// Where the headers are; usually nowhere.
    pub(super) fn headers_source(&self) -> SecretSource<'_> {
        SecretSource {
            variable: "VESTIBULE_TRACES_HEADERS",
            value: self.traces_headers.as_ref(),
            file: self.traces_headers_file.as_deref(),
            min_bytes: 0,
        }
    }
}
