//! What rooms of a Cluster push is at their own shards alone, and services hear it there: of rooms that come, go and
//! move, too.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use redis::cmd;
use tokio::{task::JoinSet, time::timeout};
use vestibule_domain::{Announcement, RoomId, RoomSettings, schedule::RoomConfig};
use vestibule_store::{Clock, Feed, Link, Message, Messages, Store};
use vestibule_tests::{Cluster, Flavor, eventually};

use crate::{SOON, TIMEOUT, ask, link, on_each};

/// All that rooms push on while not every service listens at their shards.
const PLAIN: [&str; 7] = [
    "vestibule:snapshots",
    "vestibule:calls",
    "vestibule:differences",
    "vestibule:deletions",
    "vestibule:endings",
    "vestibule:alarms",
    "vestibule:wakes",
];
const NOTHING_ELSE: &str = "nothing else was pushed";
/// How long one push is waited for, before another one is made.
const A_PUSH: Duration = Duration::from_secs(1);

/// What a service consists of here.
struct Service {
    name: &'static str,
    store: Store,
    feed: Feed,
    _running: JoinSet<()>,
}

/// A Cluster, somebody who looks, and the services.
struct Stage {
    cluster: Cluster,
    link: Arc<dyn Link>,
    services: [Service; 2],
}

fn channel(room: &str) -> String {
    format!("vestibule:room:{{{room}}}:pushes")
}

fn is_of_an_increment(Message { channel, payload }: &Message) -> bool {
    PLAIN[..2].contains(&channel.as_str())
        || ["snapshots {\"", "calls {\""].iter().any(|kind| payload.starts_with(kind))
}

impl Service {
    fn start(cluster: &Cluster, name: &'static str) -> Result<Self> {
        let store = Store::open(&cluster.url(), Clock::Server, TIMEOUT)?.named(name);
        let feed = Feed::new(store.clone(), name);
        let mut running = JoinSet::new();
        running.spawn(feed.clone().run());
        Ok(Self { name, store, feed, _running: running })
    }
}

impl Stage {
    async fn open(flavor: Flavor, replicas: u16) -> Result<Self> {
        let cluster = Cluster::start(flavor, replicas, None).await?;
        let link = link(&cluster.url())?;
        let services = [Service::start(&cluster, "a")?, Service::start(&cluster, "b")?];
        let stage = Self { cluster, link, services };
        stage.create("sale").await?;
        stage.sends_to_shards("sale").await?;
        Ok(stage)
    }

    /// The second service creates a room.
    async fn create(&self, room: &str) -> Result<()> {
        let (room, store) = (RoomId::new(room)?, &self.services[1].store);
        let settings = RoomSettings { total_active_users: Some(3), ..RoomSettings::default() };
        let config = RoomConfig { settings, ..RoomConfig::default() };
        eventually(SOON, "a Cluster that takes a room", || async {
            Ok(store.put_config(&room, &config).await?)
        })
        .await?;
        store.note_change(&room).await?;
        Ok(())
    }

    /// Waits until both services push at the room's shard.
    async fn sends_to_shards(&self, room: &str) -> Result<()> {
        let pushed = self.link.subscribe_sharded(&[channel(room)]).await?;
        self.sends_to(pushed, room).await
    }

    /// Waits until what each service pushes of its increments comes here: a snapshot, and what the call was answered.
    async fn sends_to(&self, mut pushed: Messages, room: &str) -> Result<()> {
        let room = RoomId::new(room)?;
        for Service { name, store, .. } in &self.services {
            // No other service calls so.
            let call = format!("\"increment:{name}-");
            let pushing = async {
                loop {
                    store.increment(&room, 1).await?;
                    while let Ok(message) = timeout(A_PUSH, pushed.next()).await {
                        let message = message.context("the subscription has ended")?;
                        ensure!(is_of_an_increment(&message), "{message:?}");
                        if message.payload.contains(&call) {
                            return Ok(());
                        }
                    }
                }
            };
            timeout(SOON, pushing).await.context("no push")??;
        }
        Ok(())
    }

    /// Waits until the first service hears what the scripts of the second push.
    async fn is_heard(&self, room: &str) -> Result<()> {
        let (name, tells) = (RoomId::new(room)?, &self.services[1].store);
        let mut rests = cmd("HSET");
        rests.arg(format!("vestibule:room:{{{room}}}:line")).arg("rests").arg(1);
        self.wakes(room, async || {
            ask::<u64>(&*self.link, &rests).await?;
            Ok(tells.increment(&name, 1).await.map(drop)?)
        })
        .await
    }

    /// The same of what somebody else pushes: after a move scripts wait for a leader, who is not here.
    async fn is_reached(&self, room: &str) -> Result<()> {
        let mut wake = cmd("SPUBLISH");
        wake.arg(channel(room)).arg(format!("wakes {room}"));
        self.wakes(room, async || ask::<u64>(&*self.link, &wake).await.map(drop)).await
    }

    /// Waits until `tell` wakes the room at the first service: nothing but a push does.
    async fn wakes(&self, room: &str, tell: impl AsyncFn() -> Result<()>) -> Result<()> {
        eventually(SOON, "a room that is heard", || async {
            let known = self.services[0].feed.room(room).context("it is not known")?;
            known.take_wake();
            tell().await?;
            eventually(A_PUSH, "a push", || async {
                ensure!(known.was_woken(), "it was not woken");
                Ok(())
            })
            .await
        })
        .await
    }

    async fn hear_plain(&self) -> Result<Messages> {
        Ok(self.link.subscribe(&PLAIN).await?)
    }

    /// Fails if anything of a room was pushed to everybody.
    async fn expect_silence(&self, mut plain: Messages) -> Result<()> {
        // What one node tells another comes in order.
        for index in 0..3 {
            let mut said = cmd("PUBLISH");
            self.cluster.node(index).command::<u64>(said.arg(PLAIN[0]).arg(NOTHING_ELSE)).await?;
        }
        for _ in 0..3 {
            let message = plain.next().await.context("the subscription has ended")?;
            ensure!(message.payload == NOTHING_ELSE, "pushed to everybody: {message:?}");
        }
        Ok(())
    }

    /// Waits until the services listen for the room at this node alone.
    async fn is_heard_at(&self, room: &str, node: usize) -> Result<()> {
        eventually(SOON, "the services, at one shard alone", || async {
            let found = self.cluster.sharded_listeners(&channel(room)).await?;
            let all: u64 = found.iter().sum();
            ensure!(found[node] == 2 && all == 2, "{found:?}");
            Ok(())
        })
        .await
    }
}

async fn at_their_shards(flavor: Flavor) -> Result<()> {
    let stage = Stage::open(flavor, 0).await?;
    let plain = stage.hear_plain().await?;
    let rooms = ["sale", "other", "third", "fourth"];
    for room in rooms {
        if room != "sale" {
            // New rooms are heard, too.
            stage.create(room).await?;
        }
        let owner = stage.cluster.owner_of(stage.cluster.slot_of(&channel(room)).await?).await?;
        stage.is_heard_at(room, owner).await?;
        stage.is_heard(room).await?;
        stage.services[1].store.raise_alarm(&RoomId::new(room)?).await?;
    }
    // Those of before are left where another one came to the same shard, as one of four did on three of them.
    for room in rooms {
        let owner = stage.cluster.owner_of(stage.cluster.slot_of(&channel(room)).await?).await?;
        stage.is_heard_at(room, owner).await?;
    }
    stage.expect_silence(plain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_push_at_their_shards_alone_and_are_heard_there() -> Result<()> {
    on_each(at_their_shards).await
}

async fn of_a_moved_one(flavor: Flavor) -> Result<()> {
    let stage = Stage::open(flavor, 0).await?;
    stage.create("other").await?;
    stage.is_heard("sale").await?;
    let plain = stage.hear_plain().await?;
    let slot = stage.cluster.slot_of(&channel("sale")).await?;
    let from = stage.cluster.owner_of(slot).await?;
    for to in [(from + 1) % 3, (from + 2) % 3, from] {
        stage.cluster.move_slot(slot, to).await?;
        stage.is_heard_at("sale", to).await?;
        stage.is_reached("sale").await?;
        stage.is_heard("other").await?;
    }
    stage.expect_silence(plain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_moves_is_heard_at_its_new_shard() -> Result<()> {
    on_each(of_a_moved_one).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_is_heard_at_the_shard_of_the_room() -> Result<()> {
    let stage = Stage::open(Flavor::Redis7, 0).await?;
    stage.is_heard("sale").await?;
    let plain = stage.hear_plain().await?;
    let (room, feed) = (RoomId::new("sale")?, &stage.services[0].feed);
    // The registry knows of no such deletion, so nothing but this tells it.
    let mut deletion = cmd("SPUBLISH");
    deletion.arg(channel("sale")).arg("deletions sale 7000");
    assert_eq!(ask::<u64>(&*stage.link, &deletion).await?, 2);
    eventually(SOON, "a deletion that is heard", || async {
        ensure!(feed.buried_upto(&room).await == 7000, "not yet");
        Ok(())
    })
    .await?;
    stage.create("other").await?;
    stage.is_heard("other").await?;
    let other = RoomId::new("other")?;
    stage.services[1].store.delete_room(&other, None).await?;
    eventually(SOON, "a room that is forgotten", || async {
        ensure!(feed.room("other").is_none(), "it is known");
        Ok(())
    })
    .await?;
    // One of the same name is heard again.
    stage.create("other").await?;
    stage.is_heard("other").await?;
    stage.expect_silence(plain).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_service_does_not_listen_there_rooms_push_to_everybody() -> Result<()> {
    let stage = Stage::open(Flavor::Redis7, 0).await?;
    let plain = stage.hear_plain().await?;
    let store = &stage.services[1].store;
    // As a release says that knows no shards.
    store.announce("older", Announcement::OURS).await?;
    stage.sends_to(plain, "sale").await?;
    stage.is_heard("sale").await?;
    store.announce_stop("older", true).await?;
    stage.sends_to_shards("sale").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rooms_are_heard_at_the_replica_that_took_over() -> Result<()> {
    let mut stage = Stage::open(Flavor::Redis7, 1).await?;
    let owner = stage.cluster.owner_of(stage.cluster.slot_of(&channel("sale")).await?).await?;
    stage.is_heard_at("sale", owner).await?;
    stage.cluster.node_mut(owner).kill()?;
    stage.is_heard_at("sale", owner + 3).await
}
