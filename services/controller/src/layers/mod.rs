//! Layers around groups of routes: the API tokens and signatures, messages that are
//! believed, a keyspace that is known, the audit log, and no caching. [`crate::router`] says
//! which group has which layer.

mod audit;
mod aws_style;
mod bearer;
mod keyspace;
mod notified;
mod origin;
mod refusal;
mod signed;

use axum::{
    http::{HeaderValue, header::CACHE_CONTROL},
    response::Response,
};

pub(crate) use audit::note_changes;
pub(crate) use aws_style::require_signature_or_bearer;
pub(crate) use bearer::require_bearer;
pub(crate) use keyspace::require_keyspace;
pub(crate) use notified::{Notification, require_notification};

/// Keeps responses out of caches: adds `Cache-Control: no-store`, unless the endpoint has set another
/// value. They are for the operator alone, and soon out of date.
pub(crate) async fn no_store(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(CACHE_CONTROL).or_insert(no_store);
    response
}
