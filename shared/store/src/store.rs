//! The handle through which services reach Redis.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, FromRedisValue, RedisError, ScriptInvocation};
use serde::{Serialize, de::DeserializeOwned};
use vestibule_domain::RoomId;

use crate::{
    Clock, Link, LinkOptions, ServerAddress, StoreError, document,
    error::{NO_SCRIPT, STRANGER},
    keys::RoomKeys,
    link::{self, Connection},
    memory::{Memory, RoomMemory, Seal},
    positional::Arguments,
    recording::Recording,
    scripts::{Access, Command},
    spans,
};

/// How often a script is put on a server: the one that is asked next may have been promoted, or have taken the room's slot
/// over, just then, and not know it.
const LOADS: usize = 3;

/// A connection to the store. Cloning is cheap; all clones share one link.
#[derive(Debug, Clone)]
pub struct Store {
    link: Arc<dyn Link>,
    clock: Clock,
    calls: Arc<AtomicU64>,
    memory: Arc<Memory>,
    /// Names this service in what it leaves in Redis.
    name: Arc<str>,
    /// Where this service is, for the history.
    region: Arc<str>,
    /// Names given so far.
    nonces: Arc<AtomicU64>,
    /// See [`Self::replicated`].
    replicated: bool,
    replicas_wanted: u32,
    /// See [`Self::push_sharded`].
    sharded: Arc<AtomicBool>,
    pub(crate) recording: Option<Arc<Recording>>,
}

/// An answer, the state that it was made from, and where it is remembered. What it says is taken in before
/// [`RoomMemory::confirm`] is asked whether it can be relied on.
#[derive(Debug)]
pub(crate) struct Sealed<T> {
    pub(crate) seal: Seal,
    pub(crate) answer: T,
    pub(crate) memory: Arc<RoomMemory>,
    /// In which the call was made.
    pub(crate) era: u64,
}

// === impl Store ===

impl Store {
    /// Prepares a store at `url`, an address as [`ServerAddress`] reads it; nothing is connected yet.
    /// Calls fail when accepting a connection or a reply takes longer than `timeout`.
    ///
    /// # Errors
    /// [`StoreError::Address`] if the address is not valid. It does not contain the address, which may
    /// hold a password.
    pub fn open(url: &str, clock: Clock, timeout: Duration) -> Result<Self, StoreError> {
        Self::connect(&url.parse()?, &LinkOptions::new(timeout), clock)
    }

    /// As [`Self::open`], with more to say about the way there.
    ///
    /// # Errors
    /// [`StoreError::Address`] if the options do not fit the address.
    pub fn connect(
        address: &ServerAddress,
        options: &LinkOptions,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        let store = Self::over(link::open(address, options)?, clock);
        Ok(Self { replicas_wanted: options.replicas_wanted(), ..store })
    }

    /// A store whose calls travel over `link`.
    #[must_use]
    pub fn over(link: Arc<dyn Link>, clock: Clock) -> Self {
        Self {
            link,
            clock,
            calls: Arc::default(),
            memory: Arc::default(),
            name: "unnamed".into(),
            region: "".into(),
            nonces: Arc::default(),
            replicated: false,
            replicas_wanted: 0,
            sharded: Arc::default(),
            recording: None,
        }
    }

    /// The same store, as that of the service with this unique name of letters, digits and `-`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// The same store, as that of a service of this region: of 1 to 32 letters, digits, `_` and `-`.
    #[must_use]
    pub fn in_region(mut self, region: &str) -> Self {
        self.region = region.into();
        self
    }

    /// Where this service is; empty: it is not known.
    pub(crate) fn region(&self) -> &str {
        &self.region
    }

    /// A name for a call that is sent again under it if its outcome is unknown: it takes effect once.
    #[must_use]
    pub fn call_name(&self) -> String {
        self.nonce()
    }

    /// A name that nobody else has given to anything.
    pub(crate) fn nonce(&self) -> String {
        format!("{}-{}", self.name, self.nonces.fetch_add(1, Ordering::Relaxed))
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

    /// Answers that were given although too few replicas are known to have what they say.
    #[must_use]
    pub fn replica_shortfalls(&self) -> u64 {
        self.link.replica_shortfalls()
    }

    /// Whether Redis answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.query(&redis::cmd("PING")).await
    }

    /// The same store; its scripts are answered once replicas have what they wrote, if the link was told
    /// to wait for that.
    pub(crate) fn replicated(&self) -> Self {
        Self { replicated: true, ..self.clone() }
    }

    /// How many replicas are waited for.
    pub(crate) fn replicas_wanted(&self) -> u32 {
        self.replicas_wanted
    }

    /// Says whether what is of a room is pushed on the room's own channel from now on: on a Cluster, while every running
    /// service listens there.
    pub(crate) fn push_sharded(&self, sharded: bool) {
        if self.sharded.swap(sharded, Ordering::Relaxed) != sharded {
            tracing::info!(sharded, "where rooms push");
        }
    }

    /// Whether it is.
    pub(crate) fn pushes_sharded(&self) -> bool {
        self.sharded.load(Ordering::Relaxed)
    }

    /// The name of the shard that holds `room`, as far as that is known: rooms of one shard are away together. Of a single
    /// server all rooms have the same.
    #[must_use]
    pub fn shard_of(&self, room: &RoomId) -> String {
        self.link().shard_of(&RoomKeys(room).pushes())
    }

    pub(crate) fn link(&self) -> &dyn Link {
        &*self.link
    }

    /// Runs one command.
    pub(crate) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        Ok(command.query_async(&mut self.connection()).await?)
    }

    /// What was seen of the rooms.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Calls the script of `command` on `room`: arguments and reply are one document each.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        command: &Command,
        room: &RoomId,
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        self.call_with(command, room, &[], arguments).await
    }

    /// As [`Self::call`], with further keys.
    pub(crate) async fn call_with<T: DeserializeOwned>(
        &self,
        command: &Command,
        room: &RoomId,
        further: &[String],
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        decode(command, &self.call_for::<String>(command, room, further, arguments).await?)
    }

    /// As [`Self::call_with`], for a reply of another form.
    pub(crate) async fn call_for<T: FromRedisValue>(
        &self,
        command: &Command,
        room: &RoomId,
        further: &[String],
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        let (memory, mut call) = self.prepare(command, room, further).await?;
        call.arg(document::encode(arguments)?);
        Ok(self.run_sealed((command, room), memory, &call).await?.answer)
    }

    /// Calls the script of `command`, which is of no room.
    pub(crate) async fn call_on<T: DeserializeOwned>(
        &self,
        command: &Command,
        keys: &[&str],
        arguments: &impl Serialize,
    ) -> Result<T, StoreError> {
        debug_assert_eq!(command.access(), Access::Deployment, "{}", command.name());
        let mut call = command.script(false).prepare_invoke();
        for key in keys {
            call.key(*key);
        }
        call.arg(self.clock.argument()).arg(document::encode(arguments)?);
        decode(command, &spans::of_script(command, None, self.run::<String>(&call)).await?)
    }

    /// Calls the script of `command` on `room`, with arguments and a reply in a fixed order.
    pub(crate) async fn call_in_order<A: Arguments, I: Arguments, T: FromRedisValue>(
        &self,
        command: &Command,
        room: &RoomId,
        arguments: &A,
        items: impl IntoIterator<Item = I>,
    ) -> Result<Sealed<T>, StoreError> {
        let (memory, mut call) = self.prepare(command, room, &[]).await?;
        arguments.push(&mut call);
        for item in items {
            item.push(&mut call);
        }
        self.run_sealed((command, room), memory, &call).await
    }

    /// As [`Self::call`], for who takes in what the answer says.
    pub(crate) async fn call_sealed<T: DeserializeOwned>(
        &self,
        command: &Command,
        room: &RoomId,
        arguments: &impl Serialize,
    ) -> Result<Sealed<T>, StoreError> {
        let (memory, mut call) = self.prepare(command, room, &[]).await?;
        call.arg(document::encode(arguments)?);
        let Sealed { seal, answer, memory, era }: Sealed<String> =
            self.run_sealed((command, room), memory, &call).await?;
        Ok(Sealed { seal, answer: decode(command, &answer)?, memory, era })
    }

    /// Runs a script of a room, and notes by what its answer is sealed.
    async fn run_sealed<T: FromRedisValue>(
        &self,
        (command, room): (&Command, &RoomId),
        memory: Arc<RoomMemory>,
        invocation: &ScriptInvocation<'_>,
    ) -> Result<Sealed<T>, StoreError> {
        let era = memory.era();
        let run = self.run(invocation);
        let run = spans::of_script(command, Some(room), run).await;
        let (seal, answer): (String, T) = match run {
            // What cannot be written is in the way of every call until somebody removes it. Then a part is lost.
            Err(error) if command.access() == Access::Writes && error.is_of_another_type() => {
                let is_removed = Box::pin(self.remove_foreign(room)).await?;
                return Err(if is_removed { StoreError::Rewound } else { error });
            }
            run => run?,
        };
        if command.access() == Access::Writes && !self.memory.standing().is_relied_on() {
            return Err(StoreError::Unavailable(
                "it came so late that nobody may ask for it".into(),
            ));
        }
        // Nothing seals an answer that says that there is no room.
        let seal = if seal.is_empty() { Seal::default() } else { parsed(&seal)? };
        if seal != Seal::default() {
            memory.take(&seal, era)?;
        }
        Ok(Sealed { seal, answer, memory, era })
    }

    /// Runs one script.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        invocation: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let invoke = async || invocation.invoke_async(&mut self.connection()).await;
        let mut answer = invoke().await;
        for _ in 1..LOADS {
            if answer.as_ref().is_err_and(|error: &RedisError| error.code() == Some(NO_SCRIPT)) {
                answer = invoke().await;
            }
        }
        answer.map_err(|error: RedisError| {
            if error.code() == Some(STRANGER) {
                self.memory.standing().note_moved();
            }
            error.into()
        })
    }

    /// Begins the call of a room's script. Its first arguments are the time, and what was seen of the room.
    async fn prepare<'a>(
        &self,
        command: &'a Command,
        room: &RoomId,
        further: &[String],
    ) -> Result<(Arc<RoomMemory>, ScriptInvocation<'a>), StoreError> {
        if command.access() == Access::Writes {
            self.keep_standing().await?;
        }
        let memory = self.memory.room(room);
        let mut invocation = command.script(self.pushes_sharded()).prepare_invoke();
        for key in command.keys(room).iter().chain(further) {
            invocation.key(key);
        }
        invocation.arg(self.clock.argument()).arg(memory.as_argument(
            &self.clock,
            self.memory.about_ms(),
            &self.memory.standing().server(),
        ));
        Ok((memory, invocation))
    }

    /// Counts one call.
    fn connection(&self) -> Connection {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Connection::new(Arc::clone(&self.link), self.replicated)
    }
}

/// Reads the answer of `command`.
fn decode<T: DeserializeOwned>(command: &Command, answer: &str) -> Result<T, StoreError> {
    document::decode(answer).map_err(|error| match error {
        StoreError::Unexpected(why) => {
            StoreError::unexpected(format_args!("{}: {why}", command.name()))
        }
        other => other,
    })
}

fn parsed(seal: &str) -> Result<Seal, StoreError> {
    seal.parse().map_err(StoreError::unexpected)
}
