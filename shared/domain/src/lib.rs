//! The rules of a waiting room, as pure functions of their arguments.
//!
//! Nothing here needs a network, a store or a clock: time and chance are parameters, so every rule
//! can be checked by hand, by a property test, or by a simulation of hours in milliseconds. Redis
//! is in `vestibule-store`, cryptography in `vestibule-token`, HTTP in the services.

pub mod access;
pub mod accrued_hazard;
mod ahead;
pub mod alarm;
pub mod challenge;
pub mod check_in;
mod difference;
pub mod draw;
pub mod following;
mod formats;
pub mod inlet;
mod labels;
pub mod ledger;
mod lineage;
pub mod method;
pub mod network_limits;
pub mod no_shows;
pub mod plan;
pub mod poll;
pub mod presence;
pub mod reconciliation;
pub mod regions;
pub mod request_rate;
pub mod rest;
pub mod ripening;
pub mod roll;
mod room_id;
pub mod room_news;
pub mod schedule;
pub mod search;
pub mod serving;
mod session_note;
pub mod settings;
mod share;
pub mod slots;
mod snapshot;
mod stamp;
pub mod tick;
pub mod told;
pub mod turnout;
pub mod wait;
pub mod wait_check;
mod waiter;
pub mod webhook;

pub use difference::{Difference, ShortFigures};
pub use draw::Draw;
pub use formats::{Announcement, FormatConflict, Formats};
pub use labels::{LabelSelector, LabelSelectorError, Labels, MAX_LABELS};
pub use lineage::Lineage;
pub use method::QueueingMethod;
pub use room_id::{RoomId, RoomIdError};
pub use session_note::{Binding, BoundTo, NotABinding, Redemption, SessionNote};
pub use settings::{BindSessions, Enter, OnRedisFailure, RoomSettings};
pub use share::{BUCKETS, Share, bucket_of};
pub use snapshot::{Outlook, Progress, RoomSnapshot, TickFigures};
pub use stamp::Stamp;
pub use vestibule_site::{FieldError, SeatEnds};
pub use waiter::{MAX_QUEUE_NUMBER, Place, Waiter};
