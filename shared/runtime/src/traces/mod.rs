//! Traces by OTLP: the options, the way to the collector, and the layer that begins a span for each request.
//!
//! Off unless an endpoint is given. What is recorded is decided in `vestibule-traces`, before anything is built. Ended
//! spans wait in a queue that is bounded ([`queue`]); a task sends them ([`sender`]). A collector that is away or slow
//! delays nobody: what does not fit is dropped and counted.

mod client;
mod error;
mod fraction;
mod layer;
mod options;
mod parent;
mod pipeline;
mod queue;
mod sender;
mod settings;
mod standard;

pub use self::{
    error::TraceOptionsError,
    layer::{Recorded, RequestTraces},
    options::TraceOptions,
    sender::TraceSender,
};
