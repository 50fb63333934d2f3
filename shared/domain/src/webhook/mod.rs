//! Webhooks: who is told of what, where it may be sent, when it is tried again, and how far each was told. What is sent,
//! and how it is signed, is decided elsewhere.

mod address;
mod delivery;
mod kind;
mod lane;
mod place;
mod retry;
mod set;

pub use address::{AddressError, MAX_ADDRESS, check_address, is_public, may_connect};
pub use delivery::{Delivery, Failure};
pub use kind::{EventKind, EventStream, UnknownEventKind};
pub use lane::{Attempt, MOST_PARKED, Parked, PutAside, Verdict};
pub use place::{Follows, Place};
pub use retry::{Cause, Retry, after_failure};
pub use set::{
    Disabled, MAX_WEBHOOKS, MOST_OLD_SECRETS, OVERLAP_SECONDS, OldSecret, Webhook, Webhooks,
    check_name,
};
