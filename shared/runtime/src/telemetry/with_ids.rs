//! The ids of the recorded trace and span that an event is in, behind its own fields.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// Events as `inner` writes them, with the ids.
#[derive(Debug)]
pub(super) struct WithIds<F> {
    inner: F,
    is_json: bool,
}

// === impl WithIds ===

impl<F> WithIds<F> {
    /// Of lines for people.
    pub(super) fn text(inner: F) -> Self {
        Self { inner, is_json: false }
    }

    /// Of objects.
    pub(super) fn json(inner: F) -> Self {
        Self { inner, is_json: true }
    }
}

impl<S, N, F> FormatEvent<S, N> for WithIds<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some((trace, span)) = vestibule_traces::ids() else {
            return self.inner.format_event(context, writer, event);
        };
        let mut line = String::new();
        // Without colours, also on a terminal.
        self.inner.format_event(context, Writer::new(&mut line), event)?;
        let line = line.trim_end();
        if self.is_json {
            let object = line.strip_suffix('}').unwrap_or(line);
            writeln!(writer, r#"{object},"trace_id":"{trace}","span_id":"{span}"}}"#)
        } else {
            writeln!(writer, "{line} trace_id={trace} span_id={span}")
        }
    }
}
