//! Messages of Amazon SNS: reading one, and finding out whether SNS has signed it. Whoever may post to an address can
//! send anything there, and SNS shows no token, so its signature is all that says that a message is its own.
//!
//! What to do in order: [`SnsMessage::read`]; whether the room believes its topic, which is the caller's to know;
//! [`SnsMessage::check_time`]; the certificate, from the address that [`SnsMessage::certificate_address`] allows; and
//! [`SnsCertificate::verify`]. That the certificate is the one of SNS follows from where it was fetched, over TLS:
//! SNS hands it out alone, without what would lead to an authority.

mod certificate;
mod message;

pub use certificate::SnsCertificate;
pub use message::{SnsKind, SnsMessage};

use thiserror::Error;

/// The oldest message that is believed, in seconds: SNS sends again for less long, unless a topic says otherwise.
pub const SNS_OLDEST_SECONDS: i64 = 3_600;
/// So far ahead a message may be, in seconds, since clocks differ.
const AHEAD_SECONDS: i64 = 300;

/// Why a message of SNS is not believed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SnsError {
    /// It is none.
    #[error("this is no message of Amazon SNS ({0}); raw message delivery must be off")]
    Malformed(&'static str),
    /// It was sent too long ago, or is yet to be sent.
    #[error(
        "the message's Timestamp is more than {SNS_OLDEST_SECONDS} s ago, or {AHEAD_SECONDS} s ahead"
    )]
    Time,
    /// Its certificate, or what confirms its subscription, is not where SNS has them.
    #[error("{0} is not an https address of SNS in the topic's region")]
    Address(&'static str),
    /// What was fetched is no certificate of SNS that is valid now.
    #[error("the certificate of the message {0}")]
    Certificate(&'static str),
    /// It is signed by somebody else, or was altered.
    #[error("the signature of the message is wrong")]
    Signature,
}

#[cfg(test)]
mod tests;
