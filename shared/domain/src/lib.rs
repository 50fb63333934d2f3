//! The rules of a waiting room, as pure functions of their arguments.
//!
//! What is here needs no network, no store and no clock: time and chance come in as parameters,
//! so that every rule can be checked on paper, by a property test, or by a simulation of hours in
//! milliseconds. What is *not* here: Redis (in `vestibule-store`), cryptography (in
//! `vestibule-token`) and HTTP (in the services).

pub mod accrued_hazard;
mod ahead;
pub mod check_in;
pub mod draw;
pub mod method;
mod place;
pub mod plan;
pub mod poll;
pub mod presence;
pub mod regions;
pub mod restoration;
pub mod roll;
mod room_id;
pub mod schedule;
pub mod settings;
pub mod slots;
mod snapshot;
pub mod tick;
pub mod wait;
mod waiter;

pub use draw::Draw;
pub use method::QueueingMethod;
pub use place::{MAX_QUEUE_NUMBER, Place};
pub use presence::Lease;
pub use room_id::{RoomId, RoomIdError};
pub use settings::{OnRedisFailure, RoomSettings};
pub use snapshot::{Outlook, Progress, RoomSnapshot, TickFigures};
pub use vestibule_site::{self as site, FieldError};
pub use waiter::Waiter;
