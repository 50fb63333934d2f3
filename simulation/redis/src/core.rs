//! What commands work on: the keyspace, the time of the call, and what the server knows of itself.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Micros,
    failure::Failure,
    keyspace::{Keyspace, Kind, Value},
    number,
    options::Options,
    random::Random,
    refusal::Refusal,
    reply::{Bytes, Message, Reply},
};

/// A server, but for its scripts.
#[derive(Debug, Default)]
pub(crate) struct Core {
    keyspace: Arc<Keyspace>,
    /// The time of the call under way. It stands still while a script runs.
    pub(crate) now: Micros,
    pub(crate) options: Options,
    pub(crate) refusal: Option<Refusal>,
    /// How many subscribe to each channel.
    pub(crate) subscribers: BTreeMap<Vec<u8>, i64>,
    pub(crate) messages: Vec<Message>,
    pub(crate) random: Random,
}

// === impl Core ===

impl Core {
    pub(crate) fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }

    pub(crate) fn keyspace_mut(&mut self) -> &mut Keyspace {
        Arc::make_mut(&mut self.keyspace)
    }

    /// The whole keyspace, shared until one side writes.
    pub(crate) fn share(&self) -> Arc<Keyspace> {
        Arc::clone(&self.keyspace)
    }

    pub(crate) fn replace(&mut self, keyspace: Arc<Keyspace>) {
        self.keyspace = keyspace;
    }

    /// Sets the time of the call, and removes what has expired by then.
    pub(crate) fn set_time(&mut self, now: Micros) {
        self.now = now;
        let now_ms = self.now_ms();
        if self.keyspace.is_due(now_ms) {
            self.keyspace_mut().expire(now_ms);
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now / 1000
    }

    pub(crate) fn read<K: Kind>(&self, key: &[u8]) -> Result<Option<&K>, Failure> {
        self.keyspace.read(key)
    }

    pub(crate) fn write<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, Failure> {
        self.keyspace_mut().write(key)
    }

    /// Changes an existing value, and removes the key if nothing is left; `absent` if there is none.
    pub(crate) fn take_from<K: Kind, T>(
        &mut self,
        key: &[u8],
        absent: T,
        change: impl FnOnce(&mut K) -> T,
    ) -> Result<T, Failure> {
        if self.read::<K>(key)?.is_none() {
            return Ok(absent);
        }
        let keyspace = self.keyspace_mut();
        let result = keyspace.edit(key)?.map_or(absent, change);
        keyspace.tidy(key);
        Ok(result)
    }

    /// Puts a value in place of any other; it never expires.
    pub(crate) fn put<K: Kind>(&mut self, key: &[u8], value: K) {
        self.keyspace_mut().put(key, value.into_value(), None);
    }

    /// Puts a value in place of any other of its kind, and keeps when it expires.
    pub(crate) fn put_keeping_expiry(&mut self, key: &[u8], value: Value) {
        let expires_at = self.keyspace.expires_at(key);
        self.keyspace_mut().put(key, value, expires_at);
    }

    /// Whether the key was there.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        self.keyspace.entry(key).is_some() && self.keyspace_mut().remove(key).is_some()
    }

    pub(crate) fn exists(&self, key: &[u8]) -> bool {
        self.keyspace.entry(key).is_some()
    }

    /// A float as this server writes it.
    pub(crate) fn float(&self, value: f64) -> Reply {
        Reply::bulk(number::write_float(value, self.options.dialect))
    }

    /// Sends a message; returns how many subscribe to it.
    pub(crate) fn publish(&mut self, channel: &[u8], payload: &[u8], sharded: bool) -> i64 {
        let (channel, payload): (Bytes, Bytes) = (channel.into(), payload.into());
        let subscribers = self.subscribers.get(&*channel).copied().unwrap_or(0);
        self.messages.push(Message { channel, payload, sharded });
        subscribers
    }
}
