//! The room in the address of a call.

use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::RoomId;

/// Which room.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct RoomPath {
    /// The room's name.
    #[param(inline)]
    pub(crate) room: RoomId,
}
