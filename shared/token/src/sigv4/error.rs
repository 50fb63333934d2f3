//! Why a signed request is refused, in the words of AWS's own gateways: people look for them, and clients show them.

use thiserror::Error;

/// Why a signed request is refused. The texts say nothing of keys.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SigV4Error {
    /// The header is not as it must be, or a header that it needs is missing or not signed.
    #[error("{0}")]
    Incomplete(&'static str),
    /// Signed for another region, service or date than this one.
    #[error("{0}")]
    Scope(String),
    /// Nobody has this key, or the session token is not that of the key.
    #[error("The security token included in the request is invalid.")]
    UnknownKey,
    /// Signed too long ago, or for a time that is yet to come.
    #[error("{0}")]
    Time(String),
    /// `X-Amz-Content-Sha256` is not that of the body.
    #[error("The provided 'x-amz-content-sha256' header does not match what was computed.")]
    Payload,
    /// The signature is not that of this request by this key.
    #[error(
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access \
         Key and signing method. Consult the service documentation for details."
    )]
    Signature,
}

// === impl SigV4Error ===

impl SigV4Error {
    /// What AWS calls it, in the header `x-amzn-ErrorType`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Incomplete(_) => "IncompleteSignatureException",
            Self::UnknownKey => "UnrecognizedClientException",
            Self::Scope(_) | Self::Time(_) | Self::Payload | Self::Signature => {
                "InvalidSignatureException"
            }
        }
    }
}
