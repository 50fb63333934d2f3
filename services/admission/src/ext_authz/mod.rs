//! Envoy's `ext_authz` over gRPC, on a listener of its own: translates Envoy's request for the
//! authorizer, and the decision back for Envoy.

mod connection;
mod door;
mod metrics;
mod request;
mod response;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::response::IntoResponse;
use envoy_types::ext_authz::v3::pb::{
    Authorization, AuthorizationServer, CheckRequest, CheckResponse,
};
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tonic::{
    Request, Response, Status,
    transport::{Server, server::Connected},
};
use vestibule_runtime::{Lifecycle, problem::Problem, serve_task};
use vestibule_traces::{KeyValue, SpanBuilder, SpanKind, note, spanned};

pub(crate) use self::{
    door::{Door, GrpcLimits},
    metrics::GrpcMetrics,
    request::parts,
};
use crate::{
    authorizer::{Decision, OriginalRequest, Refusal, RoomDecision},
    state::Admission,
};

/// How often a connection is pinged, and how long it may take to answer: whoever has gone without a word gives its
/// place back.
const PING: Duration = Duration::from_mins(1);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls at a time of one connection. Envoy opens another one for those beyond.
const CALLS: u32 = 1_024;

/// Bytes of a call's own headers. What the visitor has sent is in the message.
const HEADERS: u32 = 16 << 10;

/// Answers Envoy until the soft stop, then finishes the calls under way. Each connection may have
/// `max_calls_in_flight` calls at a time; further ones are refused at once.
pub(crate) fn serve(
    door: Door,
    admission: Arc<Admission>,
    max_calls_in_flight: usize,
    lifecycle: &Lifecycle,
) {
    let stop = lifecycle.soft().clone();
    let server = run(door.incoming(), ExtAuthzService(admission), max_calls_in_flight, stop);
    serve_task("gRPC server", server, lifecycle);
}

async fn run<S>(
    incoming: impl Stream<Item = io::Result<S>>,
    service: ExtAuthzService,
    most: usize,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let server = Server::builder()
        .http2_keepalive_interval(Some(PING))
        .http2_keepalive_timeout(Some(PING_TIMEOUT))
        .max_concurrent_streams(CALLS)
        .http2_max_header_list_size(HEADERS)
        .load_shed(true)
        .concurrency_limit_per_connection(most)
        .add_service(AuthorizationServer::new(service))
        .serve_with_incoming_shutdown(incoming, stop.cancelled_owned());
    if let Err(error) = server.await {
        tracing::error!(%error, "the gRPC server has failed");
    }
}

struct ExtAuthzService(Arc<Admission>);

#[tonic::async_trait]
impl Authorization for ExtAuthzService {
    async fn check(&self, call: Request<CheckRequest>) -> Result<Response<CheckResponse>, Status> {
        let peer = call.remote_addr();
        // Of the headers inside, which are the visitor's, none says whose trace this is.
        let span =
            self.0.traces.begin(peer.map(|peer| peer.ip()), call.metadata().as_ref(), describe);
        spanned(span, self.decide(call, peer)).await
    }
}

// === impl ExtAuthzService ===

impl ExtAuthzService {
    async fn decide(
        &self,
        call: Request<CheckRequest>,
        peer: Option<SocketAddr>,
    ) -> Result<Response<CheckResponse>, Status> {
        let authorizer = &self.0.authorizer;
        let parts = match parts(call.into_inner(), peer) {
            Ok(parts) => parts,
            Err(problem) => return wrong(problem).await,
        };
        let original = match OriginalRequest::behind_prefix(&parts, "", &authorizer.clients.proxies)
        {
            Ok(original) => original,
            Err(problem) => return wrong(problem).await,
        };
        match authorizer.decide(&original, &parts.headers).await {
            Ok(decision) => {
                let status = chosen_status(&decision);
                let response =
                    authorizer.respond(decision, &original, &parts.headers, Refusal::Page).await;
                Ok(Response::new(response::from_http(response, status).await))
            }
            Err(problem) => wrong(problem).await,
        }
    }
}

fn describe() -> SpanBuilder {
    const METHOD: &str = "envoy.service.auth.v3.Authorization/Check";
    let attributes =
        [KeyValue::new("rpc.system.name", "grpc"), KeyValue::new("rpc.method", METHOD)];
    SpanBuilder::from_name(METHOD).with_kind(SpanKind::Server).with_attributes(attributes)
}

/// The status that the room chose for its page. It may be 2xx here, because Envoy does not read it as
/// permission.
fn chosen_status(decision: &Decision) -> Option<u16> {
    match decision {
        Decision::Covered(room, RoomDecision::Waits(_)) => Some(room.binding.queueing_status_code),
        _ => None,
    }
}

/// A request that cannot be read is refused as it is over HTTP: a gRPC error would let it pass where Envoy lets
/// everybody pass while this service is down. An untrusted caller and a failure of
/// this service are gRPC errors, because they decide nothing about the request.
async fn wrong(problem: Problem) -> Result<Response<CheckResponse>, Status> {
    let text = problem.kind().title();
    note(|span| {
        span.set("vestibule.problem", problem.code());
        if problem.status().is_server_error() {
            span.fail(problem.code());
        }
    });
    match problem.status().as_u16() {
        403 => Err(Status::permission_denied(text)),
        500.. => Err(Status::unavailable(text)),
        _ => Ok(Response::new(response::from_http(problem.into_response(), None).await)),
    }
}

#[cfg(test)]
mod tests;
