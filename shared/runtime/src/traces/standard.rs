//! OpenTelemetry's own variables, for deployments that set them for all of their programs. Ours come first. What the
//! exporter and the SDK read by themselves is not here.

use std::{fmt, time::Duration};

use vestibule_traces::Sampling;

use super::{TraceOptionsError, fraction::parse_fraction};

/// The environment of the process.
pub(super) struct Environment(Box<Read>);

/// Reads a variable.
type Read = dyn Fn(&str) -> Option<String>;

/// Where the collector is, by these variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StandardEndpoint {
    /// The variable.
    pub(super) variable: &'static str,
    /// The whole address.
    pub(super) url: String,
}

const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const SAMPLER_ARG: &str = "OTEL_TRACES_SAMPLER_ARG";

// === impl Environment ===

impl Environment {
    /// That of this process.
    #[expect(clippy::disallowed_methods, reason = "variables that are not ours are no options")]
    pub(super) fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    pub(super) fn new(read: impl Fn(&str) -> Option<String> + 'static) -> Self {
        Self(Box::new(read))
    }

    /// A variable; empty counts as not given.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// Whether they say that there shall be no traces.
    pub(super) fn is_off(&self) -> bool {
        let is = |name, off: &str| self.get(name).is_some_and(|it| it.eq_ignore_ascii_case(off));
        is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none")
    }

    /// Where the collector is, if it speaks what we speak.
    ///
    /// # Errors
    /// If it is said to speak something else.
    pub(super) fn endpoint(&self) -> Result<Option<StandardEndpoint>, TraceOptionsError> {
        let traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let endpoint = match (self.get(traces), self.get(all)) {
            (Some(url), _) => StandardEndpoint { variable: traces, url },
            (None, Some(base)) => {
                let url = format!("{}/v1/traces", base.trim_end_matches('/'));
                StandardEndpoint { variable: all, url }
            }
            (None, None) => return Ok(None),
        };
        for variable in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            match self.get(variable).as_deref() {
                None => {}
                Some("http/protobuf") => break,
                Some(other) => {
                    let reason = format!(
                        "{other:?} is not spoken, only http/protobuf is; say it here, or give the collector's \
                         address for that in VESTIBULE_TRACES_ENDPOINT"
                    );
                    return Err(TraceOptionsError::value(variable, reason));
                }
            }
        }
        Ok(Some(endpoint))
    }

    /// Which traces are recorded, of at most `per_second`, if they say so.
    ///
    /// # Errors
    /// If they name a sampler that is not known here.
    pub(super) fn sampling(&self, per_second: u32) -> Result<Option<Sampling>, TraceOptionsError> {
        let Some(sampler) = self.get(SAMPLER) else { return Ok(None) };
        let by_parent = sampler.starts_with("parentbased_");
        let fraction = match sampler.trim_start_matches("parentbased_") {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => self.get(SAMPLER_ARG).map_or(Ok(1.0), |text| {
                parse_fraction(&text).map_err(|why| TraceOptionsError::value(SAMPLER_ARG, why))
            })?,
            _ => {
                let reason = format!(
                    "{sampler:?} is not known: always_on, always_off and traceidratio are, alone and with \
                     parentbased_ before them. VESTIBULE_TRACES_SAMPLED takes its place"
                );
                return Err(TraceOptionsError::value(SAMPLER, reason));
            }
        };
        Ok(Some(Sampling { fraction, by_parent, per_second }))
    }

    /// How long the collector may take.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let names = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let given = names.iter().find_map(|name| self.get(name))?;
        given.parse().ok().map(Duration::from_millis)
    }

    /// The file of certificate authorities, and the variable that names it.
    pub(super) fn authorities(&self) -> Option<(&'static str, String)> {
        let names = ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
        names.into_iter().find_map(|name| Some((name, self.get(name)?)))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
