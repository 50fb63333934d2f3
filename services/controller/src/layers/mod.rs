//! What wraps groups of routes: who may call, and that nothing is cached. Which group wears what
//! is in [`crate::router`].

mod bearer;
mod no_store;

pub(crate) use bearer::{require_bearer, require_bearer_aws_style};
pub(crate) use no_store::no_store;
