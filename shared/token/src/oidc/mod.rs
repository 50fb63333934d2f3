//! What an OpenID Connect provider seals, signs and compares: the login that a visitor carries through the line, the
//! code that it brings to the site, the id token, the secrets of clients, and PKCE. What calls look like, and who may
//! make them, is not here.

mod client_secret;
mod id_token;
mod pkce;

use serde::{Deserialize, Serialize};
use vestibule_domain::{Place, RoomId};

pub use self::{client_secret::ClientSecret, id_token::IdClaims, pkce::CodeChallenge};
use crate::{DeploymentSecret, Envelope};

/// What a site has asked for. The visitor carries it while it waits, so that nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Who asks: the client's id.
    pub client: String,
    /// Where the visitor is to come back to.
    pub redirect_uri: String,
    /// What is sent back as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What the id token is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// What whoever brings the code has to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<CodeChallenge>,
    /// Until when it may be gone on with, unix seconds.
    pub until: u64,
}

/// What a code stands for: somebody who is inside, to this client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The client's id.
    pub client: String,
    /// Where the code was sent to.
    pub redirect_uri: String,
    /// What the id token is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// What whoever brings the code has to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<CodeChallenge>,
    /// The visitor's queue number.
    pub number: u64,
    /// When it came, unix seconds.
    pub entered_at: u32,
    /// Where it came.
    pub region: u8,
    /// When its last token was issued, unix seconds.
    pub issued_at: u64,
    /// When its session ends, unless it is renewed, unix seconds.
    pub expires_at: u64,
    /// When it was seen to be inside, unix seconds.
    pub seen_at: u64,
}

// === impl Envelope ===

impl Envelope<Login> {
    /// The logins of `room`. Resets do not end them: nobody has a place by one.
    #[must_use]
    pub fn logins(secret: &DeploymentSecret, room: &RoomId) -> Self {
        Self::new(secret, "oidc login", &[room.as_str().as_bytes()])
    }
}

impl Envelope<Grant> {
    /// The codes of `room` in this reset epoch.
    #[must_use]
    pub fn codes(secret: &DeploymentSecret, room: &RoomId, reset_epoch: u64) -> Self {
        Self::new(secret, "oidc code", &[room.as_str().as_bytes(), &reset_epoch.to_be_bytes()])
    }
}

// === impl Grant ===

impl Grant {
    /// For how long a code may be exchanged, in seconds: a site does it at once.
    pub const SECONDS: u64 = 60;

    /// Until when, unix seconds; in that second no longer.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.seen_at + Self::SECONDS
    }

    /// The visitor's place.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { number: self.number, entered_at: self.entered_at, region: self.region }
    }
}
