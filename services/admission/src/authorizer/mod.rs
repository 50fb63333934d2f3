//! The authorizer: a gateway tells of a request for its site, and hears whether to let it pass. One
//! decision ([`mod@decide`]) behind several doors: the endpoints `authorize` and `authorize_envoy`, and
//! gRPC.

mod coverage_cache;
mod decide;
mod decision_counter;
mod original_request;
mod proxies;
mod refusal;
mod respond;

pub(crate) use coverage_cache::CoverageCache;
pub(crate) use decide::{Decision, RoomDecision, covering, decide};
pub(crate) use decision_counter::DecisionCounter;
pub(crate) use original_request::OriginalRequest;
pub(crate) use proxies::TrustedProxies;
pub(crate) use refusal::{Refusal, RefusalQuery};
pub(crate) use respond::respond;
