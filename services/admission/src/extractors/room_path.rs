//! The parameters that most calls of visitors have, as the API document describes them.

use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::RoomId;

/// The room in the address of a call.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct RoomPath {
    /// The room.
    #[param(inline)]
    pub(crate) room: RoomId,
}

/// The ticket of a call. Read by [`super::TicketTransport::find`].
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "read by the API document only")]
pub(crate) struct TicketHeader {
    /// The newest ticket, if there is one; or the cookie `vestibule_{room}`.
    #[param(rename = "Vestibule-Ticket")]
    ticket: Option<String>,
    /// A proof (`DPoP`, RFC 9449) for this call: a session that begins with it is bound to its key, and each call of such a
    /// session needs one.
    #[param(rename = "DPoP")]
    proof: Option<String>,
}
