//! Where a service's events go. The store calls it; the services write a file, a simulation judges.

use std::fmt;

use crate::Event;

/// Takes events in. Called from many threads; must not block.
pub trait Recorder: fmt::Debug + Send + Sync {
    /// Takes in one event.
    fn record(&self, event: Event);

    /// The true time, ms, where there is one: in a simulation. `None`: the caller goes by Redis's
    /// clock.
    fn true_ms(&self) -> Option<u64> {
        None
    }
}
