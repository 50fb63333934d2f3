//! The handle through which services reach Redis.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, FromRedisValue, Script, ScriptInvocation};
use serde::{Serialize, de::DeserializeOwned};
use vestibule_domain::RoomId;

use crate::{
    Clock, Link, StoreError, document,
    link::{Connection, ServerLink},
    positional::Arguments,
    recording::Recording,
    scripts::Command,
};

/// A connection to the store. Cloning is cheap; all clones share one link.
#[derive(Debug, Clone)]
pub struct Store {
    link: Arc<dyn Link>,
    clock: Clock,
    calls: Arc<AtomicU64>,
    pub(crate) recording: Option<Arc<Recording>>,
}

// === impl Store ===

impl Store {
    /// Prepares a store at `url` (`redis://` or `rediss://`); nothing is connected yet. Calls fail when
    /// accepting a connection or a reply takes longer than `timeout`.
    ///
    /// # Errors
    /// [`StoreError::Address`] if the address is not valid. It does not contain the address, which may
    /// hold a password.
    pub fn open(url: &str, clock: Clock, timeout: Duration) -> Result<Self, StoreError> {
        Ok(Self::over(Arc::new(ServerLink::open(url, timeout)?), clock))
    }

    /// A store whose calls travel over `link`.
    #[must_use]
    pub fn over(link: Arc<dyn Link>, clock: Clock) -> Self {
        Self { link, clock, calls: Arc::default(), recording: None }
    }

    /// The clock of its scripts.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Calls made to Redis so far, for metrics and benchmarks.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether Redis answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.query(&redis::cmd("PING")).await
    }

    pub(crate) fn link(&self) -> &dyn Link {
        &*self.link
    }

    /// Runs one command.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        Ok(command.query_async(&mut self.connection()).await?)
    }

    /// Calls the script of `command` on `room`: arguments and reply are one document each.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        command: &Command,
        room: &RoomId,
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        self.call_on(command, &command.keys(room), arguments).await
    }

    /// As [`Self::call`], on these keys.
    pub(crate) async fn call_on<T: DeserializeOwned>(
        &self,
        command: &Command,
        keys: &[String],
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        let reply: String = self.call_for(command, keys, arguments).await?;
        document::decode(&reply).map_err(|error| match error {
            StoreError::Unexpected(why) => {
                StoreError::unexpected(format_args!("{}: {why}", command.name()))
            }
            other => other,
        })
    }

    /// As [`Self::call_on`], for a reply of another form.
    pub(crate) async fn call_for<T: FromRedisValue>(
        &self,
        command: &Command,
        keys: &[String],
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        let mut call = self.prepare(command.script(), keys);
        self.run(call.arg(document::encode(arguments)?)).await
    }

    /// Calls the script of `command` on `room`, with arguments and a reply in a fixed order.
    pub(crate) async fn call_in_order<A: Arguments, I: Arguments, T: FromRedisValue>(
        &self,
        command: &Command,
        room: &RoomId,
        arguments: &A,
        items: impl IntoIterator<Item = I>,
    ) -> Result<T, StoreError> {
        let mut call = self.prepare(command.script(), &command.keys(room));
        arguments.push(&mut call);
        for item in items {
            item.push(&mut call);
        }
        self.run(&call).await
    }

    /// Runs one script.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        invocation: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        Ok(invocation.invoke_async(&mut self.connection()).await?)
    }

    /// Begins the call of `script`. Its first argument is the time.
    fn prepare<'a>(&self, script: &'a Script, keys: &[String]) -> ScriptInvocation<'a> {
        let mut invocation = script.prepare_invoke();
        for key in keys {
            invocation.key(key);
        }
        invocation.arg(self.clock.argument());
        invocation
    }

    /// Counts one call.
    fn connection(&self) -> Connection {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Connection(Arc::clone(&self.link))
    }
}
