//! The metrics registry, as a value: no globals, so that two services fit in one test process.
//!
//! Each service registers its own struct of metrics; what every HTTP server counts is in
//! [`crate::http_metrics`].

use std::fmt;

pub use prometheus_client::{self, registry::Registry};
use prometheus_client::{encoding::text, metrics::info::Info};

/// The media type of [`encode`]'s text.
pub const OPENMETRICS_TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What every metric's name starts with.
pub const PREFIX: &str = "vestibule";

/// A registry whose names start with [`PREFIX`], holding `vestibule_build_info`.
#[must_use]
pub fn registry(service: &'static str, version: &'static str) -> Registry {
    let mut registry = Registry::with_prefix(PREFIX);
    let build = Info::new([("service", service), ("version", version)]);
    registry.register("build", "The running program", build);
    registry
}

/// The registry's present values in the `OpenMetrics` text format.
///
/// # Errors
/// If a metric cannot be written, which is a fault in its encoding.
pub fn encode(registry: &Registry) -> Result<String, fmt::Error> {
    let mut text = String::with_capacity(16 * 1024);
    text::encode(&mut text, registry)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;

    use super::*;

    #[test]
    fn names_are_prefixed_and_the_build_is_told() {
        let mut registry = registry("admission", "1.2.3");
        let joins = Counter::<u64>::default();
        registry.register("joins", "Visitors who joined", joins.clone());
        joins.inc_by(3);
        let text = encode(&registry).unwrap();
        assert!(text.contains("vestibule_joins_total 3\n"), "{text}");
        let build = r#"vestibule_build_info{service="admission",version="1.2.3"} 1"#;
        assert!(text.contains(build), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }
}
