//! Request ids, tickets, access tokens, and the keys for them. The only crate of the workspace that
//! encrypts and signs.
//!
//! | carried | by | made with | read by |
//! |---|---|---|---|
//! | request id | every visitor, for good | one AES-256 block ([`RequestIdCipher`]) | the services |
//! | ticket | browsers (cookie) and apps | AES-256-GCM ([`TicketSealer`]) | the services |
//! | solution, pass | newcomers of a room with a challenge | HMAC-SHA256 ([`RoomChallenges`]) | the services |
//! | event of a webhook | receivers | HMAC-SHA256 ([`WebhookSecret`]) | the receivers |
//! | access token | admitted visitors | RS256 or ES256 ([`SigningKey`]) | anyone, from the [`Jwks`] |
//! | login, code | visitors of a site that logs them in by OpenID Connect | AES-256-GCM ([`Envelope`]) | the services |
//! | id token | such a site | RS256 or ES256 ([`SigningKey`]) | that site, from the [`Jwks`] |
//!
//! Every secret key is derived from one [`DeploymentSecret`], which all services of a deployment
//! share. The keys of request ids and tickets also depend on the room and on its reset epoch, so
//! those of another room, or from before a reset, are invalid. Signing keys are random; they are
//! stored in the [`KeyRing`], sealed under the same secret. While the secret is replaced there are two, see
//! [`DeploymentSecret::with_others`].
//!
//! Operators' programs may sign their requests instead of showing a token, as clients of AWS do
//! ([`Authorization`]). Messages of Amazon SNS are verified here ([`SnsMessage`]). Signatures of public randomness beacons, which are used by draws, are verified here too
//! ([`beacon`]).
//!
//! This crate is synchronous and has neither clock nor store: times are parameters, records are
//! values. It does not decide who may enter. RSA signing takes about 0.3 ms of one core; callers
//! must do it off the async threads.

mod access_token;
pub mod beacon;
mod challenge;
mod client_digest;
mod dpop;
mod draw_seed;
mod envelope;
mod jwk;
mod key_record;
mod key_ring;
mod oidc;
mod private_jwk;
mod request_id;
mod sealed;
mod secret;
mod signing_key;
mod sigv4;
mod sns;
mod ticket;
mod verify;
mod webhook_secret;
mod win_threshold;

pub use access_token::{Claims, Confirmation, TokenUse};
pub use challenge::{ChallengeError, Mark, Puzzle, RoomChallenges, Shown};
pub use client_digest::ClientDigests;
pub use dpop::{PROOF_SECONDS, Proof, ProofError, ProvenRequest, Thumbprint, verify_proof};
pub use envelope::{Envelope, EnvelopeError};
pub use jwk::{Curve, Jwk, Jwks, KeyAlgorithm, KeyUse, PublishedJwk, UnknownAlgorithm};
pub use key_record::{KeyRecord, KeyRingError};
pub use key_ring::{KeyRing, announce, join, reseal, sealed_as, succeed, succession, withdraw};
pub use oidc::{ClientSecret, CodeChallenge, Grant, IdClaims, Login};
pub use private_jwk::{EcPrivateJwk, PrivateJwk, RsaPrivateJwk, WrongPurpose};
pub use request_id::{NumberTooLarge, RequestIdCipher, RequestIdError};
pub use secret::{DeploymentSecret, SecretTooShort};
pub use signing_key::{SigningKey, SigningKeyError};
pub use sigv4::{
    Authorization, SIGV4_SERVICE, SKEW_SECONDS, SealedKeyError, SigV4Error, SigV4Key, SignedRequest,
};
pub use sns::{SNS_OLDEST_SECONDS, SnsCertificate, SnsError, SnsKind, SnsMessage};
pub use ticket::{Ending, Endless, Seat, Ticket, TicketError, TicketSealer, TicketState};
pub use verify::{VerifyError, verify, verify_for};
pub use webhook_secret::{WebhookSecret, WebhookSecretError};
pub use win_threshold::WinThresholds;

#[cfg(test)]
mod openssl_oracle;
#[cfg(test)]
mod test_support;
