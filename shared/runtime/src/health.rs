//! Whether this instance should get traffic.
//!
//! Ready means: everything that a request needs has been available once, and the process is not
//! stopping. Load never changes readiness (see [`crate::shed`]). A dependency that fails later changes it
//! only if the service unsets the condition.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// The readiness of the process. Clones are handles to the same.
///
/// Not ready until [`Readiness::started`] was called and every condition is met, and no longer ready
/// after [`Readiness::drain`].
#[derive(Debug, Clone)]
pub struct Readiness {
    inner: Arc<Inner>,
}

/// One thing that must be available. Starts unmet.
#[derive(Debug, Clone)]
pub struct Condition {
    name: &'static str,
    met: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Inner {
    start: Condition,
    conditions: Mutex<Vec<Condition>>,
    draining: AtomicBool,
}

// === impl Readiness ===

impl Readiness {
    /// Not ready: `start` is missing.
    #[must_use]
    pub fn new() -> Self {
        let start = Condition::new("start");
        let conditions = Mutex::new(vec![start.clone()]);
        Self { inner: Arc::new(Inner { start, conditions, draining: AtomicBool::new(false) }) }
    }

    /// Adds a condition, under the name that `/readyz` lists while it is unmet.
    #[must_use]
    pub fn condition(&self, name: &'static str) -> Condition {
        let condition = Condition::new(name);
        self.conditions().push(condition.clone());
        condition
    }

    /// The service listens, and has added its conditions.
    pub fn started(&self) {
        self.inner.start.set(true);
    }

    /// Makes the process not ready for good, because it is going to stop.
    pub fn drain(&self) {
        self.inner.draining.store(true, Relaxed);
    }

    /// Whether nothing is missing.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.missing().is_empty()
    }

    /// The names of what is missing; `draining` once the process is going to stop.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        if self.inner.draining.load(Relaxed) {
            return vec!["draining"];
        }
        self.conditions().iter().filter(|c| !c.met.load(Relaxed)).map(|c| c.name).collect()
    }

    fn conditions(&self) -> std::sync::MutexGuard<'_, Vec<Condition>> {
        self.inner.conditions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Condition ===

impl Condition {
    fn new(name: &'static str) -> Self {
        Self { name, met: Arc::default() }
    }

    /// Sets whether the condition is met.
    pub fn set(&self, met: bool) {
        self.met.store(met, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_once_everything_is_there() {
        let readiness = Readiness::new();
        let snapshot = readiness.condition("snapshot");
        assert_eq!(readiness.missing(), ["start", "snapshot"]);
        readiness.started();
        assert_eq!(readiness.missing(), ["snapshot"]);
        snapshot.set(true);
        assert!(readiness.clone().is_ready());
        snapshot.set(false);
        assert!(!readiness.is_ready());
    }

    #[test]
    fn draining_is_for_good() {
        let readiness = Readiness::new();
        readiness.drain();
        readiness.started();
        assert_eq!(readiness.missing(), ["draining"]);
    }
}
