//! Logs: to standard error, as text for people or as JSON for collectors.
//!
//! Requests have no access log: it would cost more than the answers. Errors are logged once, where they are handled,
//! with the ids of the trace that they are in, if it is recorded ([`with_ids`]). Which events and fields there are is in
//! `docs/logs.md`. Numbers are in [`crate::metrics`], traces in [`mod@crate::traces`].

mod with_ids;

use std::{
    backtrace::Backtrace,
    io::{self, IsTerminal},
    panic,
    str::FromStr,
};

use clap::{Args, ValueEnum};
use tracing::Subscriber;
use tracing_subscriber::{
    EnvFilter, Layer, filter::LevelFilter, fmt::MakeWriter, layer::SubscriberExt,
};

use self::with_ids::WithIds;

/// What is logged unless something else is said.
const DEFAULT_FILTER: &str = "info";

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object per line.
    Json,
}

/// What is logged, and how.
#[derive(Debug, Clone, Args)]
pub struct LogOptions {
    /// What is logged: a level, or levels by module, such as `info,vestibule_store=debug`.
    #[arg(
        long,
        env = "VESTIBULE_LOG",
        value_name = "FILTER",
        default_value = DEFAULT_FILTER,
        value_parser = parse_filter
    )]
    pub log: String,

    /// How it is written.
    #[arg(
        long,
        env = "VESTIBULE_LOG_FORMAT",
        value_name = "FORMAT",
        value_enum,
        default_value_t = LogFormat::Text
    )]
    pub log_format: LogFormat,
}

/// Logs cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is not one. Options that clap has parsed cannot cause this.
    #[error("the log filter is not valid")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something else has set up logs in this process.
    #[error("logs are set up already")]
    AlreadySet(#[from] tracing::subscriber::SetGlobalDefaultError),
}

// === impl LogOptions ===

impl LogOptions {
    /// Sets up logs for the process, panics included. Called once, by `main`.
    ///
    /// # Errors
    /// If the filter is not valid, or it was called before.
    pub fn init(&self) -> Result<(), TelemetryError> {
        let colours = io::stderr().is_terminal();
        let subscriber = self.subscriber(io::stderr, colours)?;
        tracing::subscriber::set_global_default(subscriber)?;
        panic::set_hook(Box::new(|info| {
            // Captured only if RUST_BACKTRACE asks for it.
            tracing::error!(panic = %info, backtrace = %Backtrace::capture(), "panicked");
        }));
        Ok(())
    }

    fn subscriber<W>(
        &self,
        writer: W,
        colours: bool,
    ) -> Result<impl Subscriber + Send + Sync + use<W>, TelemetryError>
    where
        W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
    {
        let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colours);
        let lines = match self.log_format {
            LogFormat::Text => lines.map_event_format(WithIds::text).boxed(),
            LogFormat::Json => {
                lines.json().flatten_event(true).map_event_format(WithIds::json).boxed()
            }
        };
        let filter = EnvFilter::try_new(&self.log)?;
        Ok(tracing_subscriber::registry().with(lines.with_filter(filter)))
    }
}

/// As text, the filter. A word alone is a level: taken for a module, a mistyped one would silence all others, errors at
/// the start included.
fn parse_filter(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(DEFAULT_FILTER.to_owned());
    }
    for part in text.split(',').map(str::trim) {
        let is_level = LevelFilter::from_str(part).is_ok();
        if !is_level && !part.contains(['=', '[', ']']) {
            return Err(format!(
                "`{part}` is no level, which are off, error, warn, info, debug and trace; of a module say `{part}=debug`"
            ));
        }
        if part.contains([';', '|', ' ']) && !part.contains(['[', ']', '{', '}']) {
            return Err(format!(
                "`{part}` is no module and its level: they are separated by commas"
            ));
        }
    }
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use opentelemetry::trace::TracerProvider;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use serde_json::Value;
    use vestibule_traces::{Sampling, SpanBuilder, Traces};

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: &str, log_format: LogFormat) -> String {
        written(log, log_format, || {
            tracing::info!(room = "sale", "a visitor joined");
            tracing::debug!("not at this level");
        })
    }

    fn written(log: &str, log_format: LogFormat, speak: impl FnOnce()) -> String {
        let options = LogOptions { log: log.to_owned(), log_format };
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let subscriber = options.subscriber(move || writer.clone(), false).unwrap();
        tracing::subscriber::with_default(subscriber, speak);
        String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_mistyped_level_is_refused_instead_of_silencing_everything() {
        for filter in [
            "info",
            "WARN",
            "off",
            "info,vestibule_store=debug",
            "vestibule_store[tick]=trace",
            "warn,audit=off",
        ] {
            assert_eq!(parse_filter(filter).as_deref(), Ok(filter));
        }
        for filter in ["warning", "verbose", "infoo", "info,debgu", "info;audit=off"] {
            assert!(parse_filter(filter).is_err(), "{filter}");
        }
        assert_eq!(parse_filter(" ").as_deref(), Ok("info"));
    }

    #[test]
    fn text_is_a_line_per_event() {
        let text = logged("info", LogFormat::Text);
        assert!(text.ends_with("a visitor joined room=\"sale\"\n"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn json_has_the_fields_at_the_top() {
        let event: Value = serde_json::from_str(&logged("info", LogFormat::Json)).unwrap();
        assert_eq!(event["message"], "a visitor joined");
        assert_eq!(event["room"], "sale");
        assert_eq!(event["level"], "INFO");
    }

    #[test]
    fn in_a_recorded_trace_lines_have_its_ids() {
        let provider = SdkTracerProvider::builder().build();
        let sampling = Sampling { fraction: 1.0, by_parent: true, per_second: 1 };
        let traces = Traces::new(provider.tracer("test"), sampling, || 0);
        let span = traces.begin(None, || SpanBuilder::from_name("call")).unwrap();
        let (trace, id) = (span.context().trace_id(), span.context().span_id());
        let speak = || {
            let _entered = span.enter();
            tracing::info!(room = "sale", "a visitor joined");
        };
        let text = written("info", LogFormat::Text, speak);
        let end = format!("a visitor joined room=\"sale\" trace_id={trace} span_id={id}\n");
        assert!(text.ends_with(&end), "{text}");
        let json = written("info", LogFormat::Json, speak);
        let event: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&event["trace_id"], &event["room"]),
            (&trace.to_string().into(), &"sale".into())
        );
        assert_eq!(event["span_id"], id.to_string());
    }

    #[test]
    fn the_filter_decides() {
        assert_eq!(logged("warn", LogFormat::Text), "");
        assert_eq!(logged("debug", LogFormat::Text).lines().count(), 2);
    }
}
