//! How many requests are in flight, and the place that each has. Who comes with a request, and what is said to whom there
//! is no place for, is not known here.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed},
};

/// Counters rather than a semaphore: nobody waits here, and a semaphore takes a lock whenever a permit is given back.
#[derive(Debug)]
pub(super) struct Gate {
    max: usize,
    in_flight: AtomicUsize,
    /// How many requests were refused.
    refused: AtomicU32,
}

/// The place of one request in flight, which is given back when dropped, and at the latest when the request is answered.
#[derive(Debug)]
pub(super) struct Permit {
    gate: Arc<Gate>,
    is_held: AtomicBool,
    is_refused: AtomicBool,
}

// === impl Gate ===

impl Gate {
    pub(super) fn new(max: usize) -> Self {
        Self { max, in_flight: AtomicUsize::new(0), refused: AtomicU32::new(0) }
    }

    /// A place for one more request, if there is one.
    pub(super) fn take_permit(self: &Arc<Self>) -> Option<Permit> {
        self.enter().then(|| Permit {
            gate: Arc::clone(self),
            is_held: AtomicBool::new(true),
            is_refused: AtomicBool::new(false),
        })
    }

    /// Seconds until a refused client should come back: 1 and 2 in turns, so that a burst that
    /// was shed as one does not return as one.
    pub(super) fn come_back_in(&self) -> u32 {
        1 + self.refused.fetch_add(1, Relaxed) % 2
    }

    fn enter(&self) -> bool {
        let has_room = self.in_flight.fetch_add(1, Relaxed) < self.max;
        if !has_room {
            self.leave();
        }
        has_room
    }

    fn leave(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    #[cfg(test)]
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Relaxed)
    }
}

// === impl Permit ===

impl Permit {
    /// Lets another request have the place.
    pub(super) fn give_back(&self) {
        if self.is_held.swap(false, Relaxed) {
            self.gate.leave();
        }
    }

    /// Takes a place again where it was given back; returns whether there was one.
    pub(super) fn take_again(&self) -> bool {
        if self.is_held.load(Relaxed) {
            return true;
        }
        let has_room = self.gate.enter();
        self.is_held.store(has_room, Relaxed);
        self.is_refused.store(!has_room, Relaxed);
        has_room
    }

    /// For how many seconds the request is refused, if there was no place for it when it wanted one again.
    pub(super) fn refused_for(&self) -> Option<u32> {
        self.is_refused.load(Relaxed).then(|| self.gate.come_back_in())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.give_back();
    }
}
