//! What a visitor carries, and what ciphers it: request ids, tickets, access tokens and the keys
//! behind them. The only crate of the workspace with cryptography.
//!
//! | carried | by | made with | read by |
//! |---|---|---|---|
//! | request id | every visitor, for good | one AES-256 block ([`RequestIdCipher`]) | us alone |
//! | ticket | browsers (cookie) and apps | AES-256-GCM ([`TicketSealer`]) | us alone |
//! | access token | admitted visitors | RS256 ([`SigningKey`]) | anyone, from the [`Jwks`] |
//!
//! Every secret key is derived from one [`DeploymentSecret`], which all services of a deployment
//! share. The keys of request ids and tickets also depend on the room and on its reset epoch, so
//! what belongs to another room, or to the time before a reset, is simply invalid. The RSA keys
//! are random; they rest in the [`KeyRing`], sealed under the same secret.
//!
//! Signatures of public randomness beacons are checked here too ([`beacon`]): they go into draws.
//!
//! This crate is synchronous and knows neither clock nor store: times are parameters, records are
//! values. It does not decide who may enter, and it keeps RSA signing (about 0.3 ms of one core)
//! off the async threads only by saying so here: callers must move it.

mod access_token;
pub mod beacon;
mod jwk;
mod key_record;
mod key_ring;
mod request_id;
mod secret;
mod signing_key;
mod ticket;
mod verify;
mod win_threshold;

pub use access_token::{Claims, TokenUse};
pub use jwk::{Jwk, Jwks, KeyAlgorithm, KeyType, KeyUse, PublishedJwk};
pub use key_record::{KeyRecord, KeyRingError};
pub use key_ring::{KeyRing, announce, succeed, succession};
pub use request_id::{NumberTooLarge, RequestIdCipher, RequestIdError};
pub use secret::{DeploymentSecret, SecretTooShort};
pub use signing_key::{SigningKey, SigningKeyError};
pub use ticket::{Ending, Seat, Ticket, TicketError, TicketSealer, TicketState};
pub use verify::{VerifyError, verify};
pub use win_threshold::WinThresholds;

#[cfg(test)]
mod openssl_oracle;
#[cfg(test)]
mod test_support;
