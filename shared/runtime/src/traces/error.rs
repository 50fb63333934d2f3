//! What can be wrong with the options of traces.

use std::{io, path::PathBuf};

use crate::secret::SecretError;

/// The options of traces cannot be used. Messages name the variable, never a secret.
#[derive(Debug, thiserror::Error)]
pub enum TraceOptionsError {
    /// The headers are given twice, or their file cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A value is not what it must be.
    #[error("{variable}: {reason}")]
    Value {
        /// The variable.
        variable: &'static str,
        /// What is wrong, and how to mend it.
        reason: String,
    },
    /// The certificate authorities cannot be read.
    #[error("{variable}: cannot read {}", path.display())]
    Unreadable {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// OpenTelemetry's own variables do not fit together.
    #[error("the way to the collector of traces cannot be made")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
}

// === impl TraceOptionsError ===

impl TraceOptionsError {
    pub(super) fn value(variable: &'static str, reason: impl Into<String>) -> Self {
        Self::Value { variable, reason: reason.into() }
    }
}
