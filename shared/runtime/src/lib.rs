//! What both services have in common.
//!
//! Everything around the endpoints: options, logs, metrics, problem documents, extractors, the
//! layers of a public API, health, and the life of the process. It knows no Redis and no room, and
//! nothing in it is specific to one of the services.
//!
//! What wraps every request costs a fraction of a microsecond: no lookup by label, no span unless the request is
//! recorded, no allocation besides the one that `Router::layer` makes.
//!
//! A service puts it together like this:
//!
//! ```no_run
//! use std::{process::ExitCode, sync::Arc};
//!
//! use axum::{Router, routing::get};
//! use clap::Parser;
//! use vestibule_runtime::{
//!     ConnectionMetrics, Cors, Exit, HttpMetrics, Lifecycle, Readiness, RequestTraces, Shed, Signals, bind, cli,
//!     http, metrics, options::CommonOptions, serve, serve_admin,
//! };
//!
//! #[derive(Parser)]
//! struct Cli {
//!     #[command(flatten)]
//!     common: CommonOptions,
//! }
//!
//! fn main() -> ExitCode {
//!     let cli = match cli::parse::<Cli>() {
//!         Ok(cli) => cli,
//!         Err(code) => return code,
//!     };
//!     let _secret = match cli.common.secret_source().read() {
//!         Ok(secret) => secret,
//!         Err(error) => return cli::usage_error(&error),
//!     };
//!     let runtime = tokio::runtime::Runtime::new().expect("threads are available");
//!     runtime.block_on(run(&cli)).map_or(ExitCode::FAILURE, ExitCode::from)
//! }
//!
//! async fn run(cli: &Cli) -> Result<Exit, Box<dyn std::error::Error>> {
//!     cli.common.log.init()?;
//!     let mut registry = metrics::registry("example", env!("CARGO_PKG_VERSION"));
//!     let counts = HttpMetrics::register(&mut registry);
//!     let connections = ConnectionMetrics::register(&mut registry);
//!     let limits = cli.common.connections.limits()?;
//!     let (traces, sender) = cli.common.traces.read("example", &cli.common.region)?;
//!     let traces = RequestTraces::new(traces, limits.proxies.clone());
//!     let readiness = Readiness::new();
//!     let lifecycle = Lifecycle::new(readiness.clone(), cli.common.shutdown_grace());
//!     let routes = Router::new().route("/", get(async || "hello"));
//!     let router = http::public(routes, (&counts, &traces), Cors::default(), Shed::default());
//!     sender.start(&mut registry, &lifecycle);
//!     serve_admin(bind(([127, 0, 0, 1], 9080).into()).await?, Arc::new(registry), &lifecycle);
//!     let listener = bind(([0, 0, 0, 0], 8080).into()).await?;
//!     serve(listener, router, limits, connections, None, &lifecycle);
//!     readiness.started();
//!     Ok(lifecycle.run(Signals::of_process()?).await)
//! }
//! ```

pub mod admin;
pub mod cli;
pub mod connection_options;
pub mod cors;
mod descriptors;
pub mod docs;
mod error_chain;
pub mod extract;
pub mod health;
mod healthcheck;
mod history;
mod holder;
pub mod http;
pub mod http_metrics;
pub mod lifecycle;
pub mod metrics;
pub mod options;
pub mod problem;
mod proxies;
mod public_url;
mod random;
pub mod redis_metrics;
pub mod redis_options;
pub mod secret;
mod serve;
pub mod shed;
pub mod signals;
mod sparingly;
pub mod telemetry;
pub mod tls;
pub mod traces;

#[cfg(test)]
mod testing;

pub use self::{
    cors::{Cors, NotForPages},
    error_chain::ErrorChain,
    health::{Condition, Readiness},
    healthcheck::healthcheck,
    history::{HistoryClock, HistoryError, HistoryFile},
    holder::holder_of,
    http_metrics::HttpMetrics,
    lifecycle::{Exit, Lifecycle},
    problem::{FieldError, Problem, ProblemType},
    proxies::TrustedProxies,
    public_url::{PublicUrlError, read_public_url},
    random::Random,
    serve::{
        BindError, ConnectionLimits, ConnectionMetrics, Peer, bind, serve, serve_admin, serve_task,
    },
    shed::Shed,
    signals::{SignalSender, Signals},
    sparingly::Sparingly,
    tls::{ClientCertificate, Tls},
    traces::{RequestTraces, TraceSender},
};
