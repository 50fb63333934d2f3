//! Why a flow could not answer. Knows no HTTP: `responses/problem.rs` translates it.

use vestibule_domain::network_limits::NetworkLimit;
use vestibule_issuance::SignerError;
use vestibule_store::StoreError;
use vestibule_token::NumberTooLarge;

use crate::challenges::Demand;

/// Why a flow could not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlowError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no key to sign a token with yet.
    #[error("there is no signing key yet")]
    NoSigningKey,
    /// No token was signed.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The ticket is of before a reset.
    #[error("the ticket is of before a reset")]
    ForeignTicket,
    /// The caller's network has reached a limit.
    #[error("the network has reached its limit, {}", limit.name())]
    OverLimit {
        /// Which.
        limit: NetworkLimit,
        /// When it may try again, seconds.
        wait_s: u32,
    },
    /// The newcomer has to solve this first.
    #[error("a newcomer has to solve the room's challenge")]
    ChallengeRequired(Box<Demand>),
    /// Whoever knows whether the newcomer has solved the challenge cannot be asked now.
    #[error("the provider of the challenge cannot be asked")]
    ProviderAway,
    /// A page of another site has sent the request, and the visitor's cookie may have stayed behind.
    #[error("a page of another site has sent this without the visitor's cookie")]
    WithoutCookie,
    /// The session of the ticket is bound to somebody else.
    #[error("the session of the ticket is bound to another client")]
    Stranger,
    /// No request id can be made of the queue number.
    #[error(transparent)]
    RequestId(#[from] NumberTooLarge),
}

// === impl FlowError ===

impl FlowError {
    /// Whether the same call may succeed a moment later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Store(error) => error.is_temporary(),
            Self::Signer(error) => match error {
                SignerError::Overloaded => true,
                SignerError::Failed(_) => false,
            },
            Self::NoSigningKey
            | Self::OverLimit { .. }
            | Self::ProviderAway
            | Self::WithoutCookie => true,
            Self::ForeignTicket
            | Self::Stranger
            | Self::RequestId(_)
            | Self::ChallengeRequired(_) => false,
        }
    }
}
