//! What rooms of a Cluster push: each on a channel of its own, at the shard that holds it. A plain push would be sent by
//! every node to every other one, so that more shards would carry no more of it.
//!
//! There is one subscription for each shard, so that a shard that is away takes none of the others along. It ends when a
//! slot leaves the shard, and is renewed at once; a room that was heard nowhere in between is read. So is a room that is
//! new here: news of it come everywhere (`note_change.lua`), or by the slow poll. What is pushed while nobody listens is
//! lost, as everywhere: of ended sessions the next touch tells.
//!
//! Rooms push like this once every running service has announced that it hears it. Who may not (by an access list from
//! before) says so, and all of them go on as on one server.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::OnceLock,
};

use futures_util::{
    Stream, StreamExt,
    stream::{self, FuturesUnordered},
};
use redis::{RedisError, Value};
use tokio::{
    sync::{Notify, futures::Notified},
    time::{Duration, Instant, sleep, sleep_until},
};
use vestibule_domain::RoomId;

use super::{Feed, POLL};
use crate::{
    Message, Messages, StoreError,
    error::turns_away,
    keys::{ATTEMPTS, CHANNELS, RoomKeys},
};

/// For how long an old subscription is heard beside a new one: what was pushed before the new one may be on its way.
const OVERLAP: Duration = Duration::from_millis(100);

/// What is known of the shards; nothing, unless they are those of a Cluster.
#[derive(Debug, Default)]
pub(super) struct Shards {
    /// Whether the server lets this service listen and push there; empty: it was not asked.
    allowed: OnceLock<bool>,
    /// Notified once it does.
    found: Notify,
    /// Notified when rooms come, go or move.
    rooms: Notify,
}

/// A subscription at one shard.
struct Heard {
    rooms: BTreeSet<RoomId>,
    messages: Messages,
}

// === impl Shards ===

impl Shards {
    /// Rooms came, went or moved.
    pub(super) fn note_rooms(&self) {
        self.rooms.notify_waiters();
    }
}

// === impl Heard ===

impl Heard {
    fn nothing() -> Self {
        Self { rooms: BTreeSet::new(), messages: stream::pending().boxed() }
    }
}

// === impl Feed ===

impl Feed {
    /// Whether this service hears what is pushed at shards. On a Cluster that is found out once.
    pub(super) async fn hears_shards(&self) -> bool {
        if !self.0.store.link().has_shards() {
            return false;
        }
        if let Some(allowed) = self.0.shards.allowed.get() {
            return *allowed;
        }
        let tried = self.try_shards().await;
        match &tried {
            Ok(()) => self.0.shards.found.notify_one(),
            Err(error) if is_refusal(error) => {
                tracing::warn!(%error, "every node of the Cluster gets all that rooms push: see SECURITY.md");
            }
            Err(error) => {
                tracing::debug!(%error, "whether rooms may push at their shards is not known yet");
                return false;
            }
        }
        *self.0.shards.allowed.get_or_init(|| tried.is_ok())
    }

    async fn try_shards(&self) -> Result<(), RedisError> {
        let link = self.0.store.link();
        drop(link.subscribe_sharded(&[ATTEMPTS.to_owned()]).await?);
        let attempt = link.call(redis::cmd("SPUBLISH").arg(ATTEMPTS).arg("")).await;
        attempt.and_then(Value::extract_error).map(drop)
    }

    /// Hears what is pushed at shards, until it is dropped.
    pub(super) async fn listen_at_shards(&self) {
        self.0.shards.found.notified().await;
        let (mut shards, mut following) = (BTreeSet::new(), FuturesUnordered::new());
        loop {
            let changed = self.0.shards.rooms.notified();
            for shard in self.rooms_at_shards().into_keys() {
                if shards.insert(shard.clone()) {
                    following.push(self.follow(shard));
                }
            }
            tokio::select! {
                biased;
                Some(shard) = following.next() => drop(shards.remove(&shard)),
                () = changed => {}
                () = sleep(POLL) => {}
            }
        }
    }

    /// The rooms that are known, by their shards.
    fn rooms_at_shards(&self) -> BTreeMap<String, BTreeSet<RoomId>> {
        let mut shards = BTreeMap::<_, BTreeSet<_>>::new();
        for room in self.0.rooms.load().keys() {
            let shard = self.0.store.link().shard_of(&RoomKeys(room).pushes());
            shards.entry(shard).or_default().insert(room.clone());
        }
        shards
    }

    /// Hears what is pushed at one shard, until it has no rooms.
    async fn follow(&self, shard: String) -> String {
        let mut heard = Heard::nothing();
        let mut failed_at = None::<Instant>;
        loop {
            // Made before the look, so that nothing is missed in between.
            let changed = self.0.shards.rooms.notified();
            let Some(rooms) = self.rooms_at_shards().remove(&shard) else { return shard };
            let may_try = failed_at.is_none_or(|at| at.elapsed() >= POLL);
            // The channel of a room that went is left with the next change.
            if !rooms.is_subset(&heard.rooms) && may_try {
                let subscribed = self.subscribe_at_shard(rooms, &mut heard).await;
                failed_at = subscribed.is_err().then(Instant::now);
                if let Err(error) = subscribed {
                    tracing::debug!(%error, shard, "the push of rooms is interrupted");
                }
            }
            if self.take_until_changed(&mut heard, changed).await.is_none() {
                heard = Heard::nothing();
                // They may be at other shards now.
                self.0.shards.note_rooms();
            }
        }
    }

    /// Takes in messages until rooms have changed, or for a while; `None`: the subscription is lost.
    async fn take_until_changed(&self, heard: &mut Heard, changed: Notified<'_>) -> Option<()> {
        let until = Instant::now() + POLL;
        let mut changed = pin!(changed);
        loop {
            tokio::select! {
                biased;
                () = &mut changed => return Some(()),
                () = sleep_until(until) => return Some(()),
                message = heard.messages.next() => self.take_of_room(&message?).await,
            }
        }
    }

    /// Subscribes to the channels of `rooms`, and only then leaves what was heard before.
    async fn subscribe_at_shard(
        &self,
        rooms: BTreeSet<RoomId>,
        heard: &mut Heard,
    ) -> Result<(), RedisError> {
        let channels: Vec<String> = rooms.iter().map(|room| RoomKeys(room).pushes()).collect();
        let messages = self.0.store.link().subscribe_sharded(&channels).await?;
        let before = std::mem::replace(heard, Heard { rooms, messages: stream::pending().boxed() });
        heard.messages = stream::select(messages, for_a_moment(before.messages)).boxed();
        for room in heard.rooms.difference(&before.rooms) {
            self.read_missed(room).await;
        }
        Ok(())
    }

    async fn take_of_room(&self, Message { payload, channel }: &Message) {
        let message = payload.split_once(' ').and_then(|(kind, text)| {
            let (_kind, plain) = CHANNELS.iter().find(|(known, _)| *known == kind)?;
            Some((plain, text))
        });
        if let Some((plain, text)) = message {
            self.take_message(plain, text.to_owned()).await;
        } else {
            tracing::debug!(channel, "what a room pushed cannot be read");
        }
    }

    /// A room was created or changed. If it is new here, nobody listens to it yet.
    pub(super) async fn find_at_shard(&self, room: &str) {
        if self.0.shards.allowed.get() != Some(&true) || self.room(room).is_some() {
            return;
        }
        if let Ok(room) = RoomId::new(room) {
            self.read_missed(&room).await;
        }
    }

    /// Reads a room of which something may have been missed.
    async fn read_missed(&self, room: &RoomId) {
        let read = {
            let lock = self.0.reading.of(room);
            let _reading = lock.lock().await;
            match self.0.store.read_snapshot(room).await {
                Ok(Some(snapshot)) => {
                    self.receive(snapshot).await;
                    Ok(())
                }
                // It was deleted, or it is lost: the slow poll finds out which.
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            }
        };
        if let Some(known) = self.room(room.as_str()) {
            known.forget_recalled();
        }
        match read {
            Ok(()) => self.read_config_if_changed(room).await,
            Err(StoreError::Rewound) => {
                self.question(room.clone());
                self.note_alarm(room.clone());
            }
            Err(error) => tracing::debug!(%error, %room, "what was missed cannot be read"),
        }
    }
}

/// What still comes of an old subscription. It is dropped then, with its connection, which a stream that has only ended
/// would keep.
fn for_a_moment(messages: Messages) -> impl Stream<Item = Message> {
    let rest = Box::pin(messages.take_until(sleep(OVERLAP)));
    stream::unfold(rest, |mut rest| async { Some((rest.next().await?, rest)) })
}

/// Whether the server does not let us, and never will.
fn is_refusal(error: &RedisError) -> bool {
    match error.code() {
        Some("NOPERM") => true,
        // But it has too many clients only now.
        Some("ERR") => !turns_away(error),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_has_too_many_clients_now_may_let_us_later() {
        let told = |line: &str| {
            let told = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
            is_refusal(&told.and_then(Value::extract_error).unwrap_err())
        };
        assert!(told("NOPERM No permissions to access a channel"));
        assert!(told("ERR unknown command 'SSUBSCRIBE'"));
        assert!(!told("ERR max number of clients reached"));
        assert!(!told("LOADING Redis is loading the dataset in memory"));
    }
}
