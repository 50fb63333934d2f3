//! The addresses of several instances of one service, and the load balancer in front of them.
//!
//! Each call goes to a random instance, as a balancer without stickiness would send it; those that
//! the test has stopped get none. It does not retry: what a broken call means is the test's to say.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use anyhow::{Context, Result};
use rand::seq::IteratorRandom;
use reqwest::Client;

/// Instances of one service. Clones share what is known of them.
#[derive(Debug, Clone)]
pub struct Fleet {
    http: Client,
    instances: Arc<Vec<Instance>>,
}

#[derive(Debug)]
struct Instance {
    base: String,
    up: AtomicBool,
}

// === impl Fleet ===

impl Fleet {
    /// Instances at these base addresses (`http://host:port`).
    #[must_use]
    pub fn new(http: Client, bases: impl IntoIterator<Item = String>) -> Self {
        let instances = bases.into_iter().map(|base| Instance { base, up: AtomicBool::new(true) });
        Self { http, instances: Arc::new(instances.collect()) }
    }

    /// Only the instance of this index.
    #[must_use]
    pub fn only(&self, index: usize) -> Self {
        Self::new(self.http.clone(), [self.instances[index].base.clone()])
    }

    /// Each instance that is up, by itself.
    #[must_use]
    pub fn each(&self) -> Vec<Self> {
        let up = |index: &usize| self.instances[*index].up.load(Relaxed);
        (0..self.len()).filter(up).map(|index| self.only(index)).collect()
    }

    /// How many instances there are, up or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// The HTTP client that its callers share.
    #[must_use]
    pub fn http(&self) -> &Client {
        &self.http
    }

    /// The address of `path` at a random instance that is up.
    #[expect(clippy::disallowed_methods, reason = "as a balancer does")]
    pub fn at(&self, path: &str) -> Result<String> {
        let up = self.instances.iter().filter(|instance| instance.up.load(Relaxed));
        let one = up.choose(&mut rand::rng()).context("no instance is up")?;
        Ok(format!("{}{path}", one.base))
    }

    /// Takes the instance out of, or back into, the balancing.
    pub fn set_up(&self, index: usize, up: bool) {
        self.instances[index].up.store(up, Relaxed);
    }
}
