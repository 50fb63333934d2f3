//! The authorizer: a gateway tells of a request for its site, and hears whether to let it pass. One
//! decision ([`mod@decide`]) behind several doors: the endpoints `authorize` and `authorize_envoy`, and
//! gRPC.

mod board;
mod decide;
mod original;
mod proxies;
mod refusal;
mod respond;
mod tally;

pub(crate) use board::CoverageBoard;
pub(crate) use decide::{Decided, Decision, covering, decide};
pub(crate) use original::Original;
pub(crate) use proxies::TrustedProxies;
pub(crate) use refusal::{Refusal, RefusalQuery};
pub(crate) use respond::respond;
pub(crate) use tally::Tally;
