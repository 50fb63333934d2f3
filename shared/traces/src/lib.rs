//! Traces: which calls are recorded, and the spans that they leave on their way down.
//!
//! Whoever begins something (a request, a tick) asks [`Traces::begin`], which decides before anything is built. What is
//! recorded carries its [`Span`] through the task; further down [`child`] finds it. Where nothing is recorded, and
//! where traces are off, that is a look at a flag. Spans cross into other tasks as values ([`current`], [`within`]);
//! work that is done for many at once has a span of its own ([`shared`]).
//!
//! Not here: where spans are sent, and what is said on the command line (`vestibule-runtime`); what a span says (its
//! place in the code).

mod begin;
mod sampling;
mod span;
mod work;

#[cfg(test)]
mod tests;

pub use opentelemetry::{
    KeyValue,
    trace::{SpanBuilder, SpanContext, SpanKind},
};

pub use self::{
    begin::Traces,
    sampling::Sampling,
    span::{Span, child, current, ids, note, shared},
    work::{InSpan, spanned, within},
};
