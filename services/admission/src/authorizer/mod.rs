//! The authorizer: a gateway describes a request for its site and is answered whether to let it pass.
//! There is one decision ([`Authorizer::decide`]) and three ways to ask for it: the endpoints
//! `authorize` and `authorize_envoy`, and gRPC (`ext_authz`).

mod decide;
mod decision;
mod decision_counter;
mod original_request;
mod refusal;
mod request_limits;
mod respond;

use std::sync::Arc;

pub(crate) use self::{
    decision::{Answered, Decision, RoomDecision},
    decision_counter::DecisionCounter,
    original_request::OriginalRequest,
    refusal::{Refusal, RefusalQuery},
    request_limits::RequestLimits,
};
use crate::{caches::CoverageCache, clients::Clients, flows::Flows, page::Pages};

/// Decides about requests for sites, and answers gateways.
#[derive(Debug)]
pub(crate) struct Authorizer {
    flows: Arc<Flows>,
    pages: Arc<Pages>,
    /// Which room covers which host and path.
    pub(crate) coverage: CoverageCache,
    /// How often each decision was made.
    pub(crate) decisions: DecisionCounter,
    /// How many requests each session makes.
    pub(crate) requests: RequestLimits,
    /// The callers that may ask about other clients' requests.
    pub(crate) clients: Clients,
}

// === impl Authorizer ===

impl Authorizer {
    /// Only trusted proxies may ask.
    pub(crate) fn new(flows: Arc<Flows>, pages: Arc<Pages>, clients: Clients) -> Self {
        let coverage = CoverageCache::new(flows.feed.clone());
        let (decisions, requests) = (DecisionCounter::default(), RequestLimits::default());
        Self { flows, pages, coverage, decisions, requests, clients }
    }
}
