//! A newcomer, once Redis has numbered it.

use vestibule_domain::Place;
use vestibule_store::TokenRecord;

/// A newcomer with a number.
#[derive(Debug, Clone)]
pub(crate) struct Newcomer {
    /// Its place.
    pub(crate) place: Place,
    /// The reset epoch that its request id is for.
    pub(crate) reset_epoch: u64,
    /// The room's generation; that of nobody's seat, if the room is suspended.
    pub(crate) generation: u32,
    /// Redis's time, ms.
    pub(crate) now_ms: u64,
    /// Where the serving counter stood.
    pub(crate) serving: u64,
    /// Whether it waits for a draw.
    pub(crate) awaits_draw: bool,
    /// What its token is made of; `None` unless it has entered at once.
    pub(crate) token: Option<TokenRecord>,
}
