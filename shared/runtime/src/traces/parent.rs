//! Whose trace a request is part of: `traceparent` and `tracestate` (W3C Trace Context) of a gateway.

use axum::http::{HeaderMap, HeaderValue};
use opentelemetry::{
    Context,
    propagation::TextMapPropagator,
    trace::{SpanContext, TraceContextExt, TraceState},
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// The longest `tracestate` that is passed on, in bytes: as long as everybody has to.
const LONGEST_STATE: usize = 512;

/// The caller's span, if the headers name one.
pub(super) fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let mut given = headers.get_all(PARENT).iter();
    // Of two, nobody knows which is the gateway's.
    let (Some(_), None) = (given.next(), given.next()) else { return None };
    let extracted = TraceContextPropagator::new()
        .extract_with_context(&Context::new(), &HeaderExtractor(headers));
    let context = extracted.span().span_context().clone();
    let state: usize = headers.get_all(STATE).iter().map(HeaderValue::len).sum();
    Some(if state > LONGEST_STATE { without_state(&context) } else { context })
}

fn without_state(context: &SpanContext) -> SpanContext {
    let (trace, span) = (context.trace_id(), context.span_id());
    SpanContext::new(trace, span, context.trace_flags(), true, TraceState::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn read(lines: &[(&'static str, String)]) -> Option<SpanContext> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        parent(&headers).filter(SpanContext::is_valid)
    }

    fn parent_line(flags: &str) -> (&'static str, String) {
        (PARENT, format!("00-{TRACE}-b7ad6b7169203331-{flags}"))
    }

    #[test]
    fn a_parent_has_its_trace_and_says_whether_it_is_recorded() {
        for (flags, recorded) in [("01", true), ("00", false)] {
            let parent = read(&[parent_line(flags), (STATE, "a=b".into())]).unwrap();
            assert_eq!(
                (parent.trace_id().to_string(), parent.is_sampled()),
                (TRACE.into(), recorded)
            );
            assert_eq!(parent.trace_state().header(), "a=b");
        }
    }

    #[test]
    fn what_is_none_is_none() {
        assert!(read(&[]).is_none());
        assert!(read(&[(PARENT, "nonsense".into())]).is_none());
        assert!(read(&[(PARENT, format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)))]).is_none());
        assert!(read(&[parent_line("01"), parent_line("01")]).is_none(), "two");
    }

    #[test]
    fn a_long_state_is_left_out() {
        let state = format!("a={}", "b".repeat(LONGEST_STATE));
        let parent = read(&[parent_line("01"), (STATE, state)]).unwrap();
        assert_eq!((parent.trace_state().header().len(), parent.is_sampled()), (0, true));
    }
}
