//! Scheduled events of a room, and which settings are in force at what time.
//!
//! A [`RoomConfig`] is everything that an operator has configured for a room: its own settings and
//! its events. [`RoomConfig::phase_at`] divides time into phases, in each of which the same
//! settings are in force. Intervals are half open: an event is in force from its pre-queue start
//! (or its start) until just before its end. The time is always a parameter.

mod beacon;
mod change;
mod event;
pub mod moment;
mod name;
mod overrides;
mod phase;
mod room_config;
mod round_clock;

pub use beacon::Beacon;
pub use event::{Event, MAX_MOMENT, MIN_DURATION_SECONDS, MIN_PREQUEUE_SECONDS};
pub use name::{EventName, EventNameError};
pub use overrides::Overrides;
pub use phase::{EventInForce, EventState, InForce, Phase};
pub use room_config::{COOKIE_SECONDS, GivenUp, MAX_EVENTS, MAX_GIVEN_UP, RoomConfig};
pub use round_clock::RoundClock;
