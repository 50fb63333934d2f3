//! What goes over the wire: the controller's own documents, with their schemas. The rules are not
//! here: rooms and events are checked by `vestibule-domain`.

mod dry_run;
mod event;
mod history;
mod moment;
mod refusal;
mod room;
mod site_schema;
mod status;

pub use dry_run::{DryRunRequest, Match, MatchedRule, RuleVerdict};
pub(crate) use event::invalid_event;
pub use event::{Beacon, Event, EventDetails, EventList};
pub use history::{History, Minute};
pub use moment::{Moment, MomentError};
pub(crate) use refusal::refuse;
pub(crate) use room::invalid_room;
pub use room::{Draft, Members, Room, RoomList};
pub use status::{RoomState, RoomStatus};
