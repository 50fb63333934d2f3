//! Extractors that answer a [`Problem`](crate::Problem) naming the field and the reason.
//!
//! They replace axum's `Json`, `Query` and `Path`, whose rejections are plain text with several
//! statuses. Form only: what a value means in its domain is the endpoint's business.

mod bearer;
mod body;
mod form;
mod idempotency_key;
mod json;
mod path;
mod query;
mod reason;

pub use self::{
    bearer::bearer,
    body::{BODY_TIMEOUT, MAX_BODY_BYTES, read_body},
    form::Form,
    idempotency_key::{IdempotencyKey, NoName},
    json::Json,
    path::{Path, unreadable},
    query::Query,
};
