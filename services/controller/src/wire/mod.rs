//! What goes over the wire: the controller's own documents, with their schemas. The rules are not
//! here: a room's settings are checked by `vestibule-domain`.

mod history;
mod moment;
mod room;
mod status;

pub use history::{History, Minute};
pub use moment::{Moment, MomentError};
pub use room::{Members, Room, RoomList};
pub use status::RoomStatus;
