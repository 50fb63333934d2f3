//! How many questions to providers may be under way at a time: in all, and of one network. Whoever sends rubbish in bulk
//! leaves room for others.

use std::{
    collections::hash_map::Entry,
    sync::{Mutex, PoisonError},
};

use rustc_hash::FxHashMap;
use tokio::sync::{Semaphore, SemaphorePermit};
use vestibule_site::ClientNetwork;

/// So many of all.
const AT_A_TIME: usize = 256;
/// So many of one network. A network of a private place may stand for everybody: see [`ClientNetwork::is_private`].
const OF_A_NETWORK: usize = 16;

/// The questions under way.
#[derive(Debug)]
pub(super) struct Slots {
    all: Semaphore,
    networks: Mutex<FxHashMap<ClientNetwork, usize>>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    network: Option<ClientNetwork>,
    _permit: SemaphorePermit<'a>,
}

// === impl Slots ===

impl Default for Slots {
    fn default() -> Self {
        Self { all: Semaphore::new(AT_A_TIME), networks: Mutex::default() }
    }
}

impl Slots {
    /// A slot for somebody in `network`, if there is one.
    pub(super) fn take(&self, network: Option<ClientNetwork>) -> Option<Slot<'_>> {
        let network = network.filter(|network| !network.is_private());
        let permit = self.all.try_acquire().ok()?;
        if let Some(network) = network {
            let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = networks.entry(network).or_default();
            if *taken >= OF_A_NETWORK {
                return None;
            }
            *taken += 1;
        }
        Some(Slot { slots: self, network, _permit: permit })
    }
}

// === impl Slot ===

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        let mut networks = self.slots.networks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut taken) = networks.entry(network) {
            *taken.get_mut() -= 1;
            if *taken.get() == 0 {
                taken.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use vestibule_site::NetworkPrefixes;

    use super::*;

    fn network(address: &str) -> ClientNetwork {
        ClientNetwork::of(address.parse().unwrap(), NetworkPrefixes::default())
    }

    #[test]
    fn one_network_leaves_room_for_others() {
        let slots = Slots::default();
        let here: Vec<_> = (0..100).filter_map(|_| slots.take(Some(network("20.1.2.3")))).collect();
        assert_eq!(here.len(), OF_A_NETWORK);
        assert!(slots.take(Some(network("20.1.2.99"))).is_none(), "of the same network");
        let there = slots.take(Some(network("20.1.3.3")));
        assert!(there.is_some());
        drop((here, there));
        assert!(slots.take(Some(network("20.1.2.3"))).is_some());
        assert!(slots.networks.lock().unwrap().is_empty(), "nothing is kept of who is gone");
    }

    #[test]
    fn there_is_an_end_for_all_together() {
        let slots = Slots::default();
        let everybody: Vec<_> =
            (0..300).filter_map(|_| slots.take(Some(network("10.0.0.1")))).collect();
        assert_eq!(everybody.len(), AT_A_TIME, "a proxy may speak for all");
        assert!(slots.take(Some(network("20.1.2.3"))).is_none() && slots.take(None).is_none());
    }
}
