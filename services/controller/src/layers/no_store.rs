//! Keeps answers out of caches: they are about this moment, and for the operator alone.

use axum::{
    http::{HeaderValue, header::CACHE_CONTROL},
    response::Response,
};

/// Adds `Cache-Control: no-store`, unless the endpoint says otherwise.
pub(crate) async fn no_store(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(CACHE_CONTROL).or_insert(no_store);
    response
}
