//! AWS Signature Version 4, as far as a service has to know it: reads the `Authorization` header of a signed request,
//! and checks it. Nothing is signed here but what is compared.
//!
//! The request comes as texts, its body as bytes, and the time as a number, so there is neither HTTP nor a clock. Whose
//! key it is, is the caller's to find, between [`Authorization::parse`] and [`Authorization::verify`].

mod authorization;
mod canonical;
mod error;
mod key;
mod time;
mod verify;

pub use authorization::Authorization;
pub use error::SigV4Error;
pub use key::{SealedKeyError, SigV4Key};
pub use verify::{SIGV4_SERVICE, SKEW_SECONDS, SignedRequest};

#[cfg(test)]
mod tests;
