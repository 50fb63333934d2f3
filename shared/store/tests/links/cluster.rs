//! A Cluster: every key at its owner, and the way there while slots move and nodes die.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Result, ensure};
use futures_util::StreamExt;
use redis::{Script, Value, aio::ConnectionLike, cmd};
use tokio::time::timeout;
use vestibule_store::Link;
use vestibule_tests::{Cluster, Flavor, eventually};

use crate::{SOON, ask, get, link, on_each, set};

/// As the store calls scripts.
pub(crate) struct Caller(pub(crate) Arc<dyn Link>);

impl ConnectionLike for Caller {
    fn req_packed_command<'a>(
        &'a mut self,
        command: &'a redis::Cmd,
    ) -> redis::RedisFuture<'a, Value> {
        self.0.call(command)
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a redis::Pipeline,
        _: usize,
        _: usize,
    ) -> redis::RedisFuture<'a, Vec<Value>> {
        unreachable!("the store has no use for pipelines")
    }

    fn get_db(&self) -> i64 {
        0
    }
}

async fn raise(link: &Arc<dyn Link>, key: &str) -> Result<u64> {
    let script = Script::new("return redis.call('INCR', KEYS[1])");
    let mut invocation = script.prepare_invoke();
    Ok(invocation.key(key).invoke_async(&mut Caller(Arc::clone(link))).await?)
}

async fn keys_are_at_their_owners(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, Some("secret")).await?;
    for url in [cluster.url(), cluster.url_of(1)] {
        let link = link(&url)?;
        let mut owners = BTreeSet::new();
        for room in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
            let key = format!("vestibule:room:{{{room}}}:line");
            owners.insert(cluster.owner_of(cluster.slot_of(&key).await?).await?);
            set(&*link, &key).await?;
            assert_eq!(get(&*link, &key).await?.as_deref(), Some(&*key));
            ensure!(raise(&link, &format!("{{{room}}}:count")).await? > 0);
        }
        assert_eq!(owners.len(), 3, "rooms on every shard");
        let _: (u64, u64) = ask(&*link, &cmd("TIME")).await?;
        assert_eq!(link.call_each(cmd("INFO").arg("server")).await.len(), 3);
        let mut messages = link.subscribe(&["news"]).await?;
        cluster.node(2).command::<u64>(cmd("PUBLISH").arg("news").arg("x")).await?;
        ensure!(timeout(SOON, messages.next()).await?.is_some(), "no message from another node");
    }
    Ok(())
}

#[tokio::test]
async fn every_key_is_at_its_owner_by_one_address_or_several() -> Result<()> {
    on_each(keys_are_at_their_owners).await
}

async fn follows_a_slot(flavor: Flavor) -> Result<()> {
    let cluster = Cluster::start(flavor, 0, None).await?;
    let link = link(&cluster.url())?;
    let slot = cluster.slot_of("{room}").await?;
    let from = cluster.owner_of(slot).await?;
    for key in 0..50 {
        set(&*link, &format!("{{room}}:{key}")).await?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let counting = tokio::spawn({
        let (link, stop) = (Arc::clone(&link), Arc::clone(&stop));
        async move {
            let mut last = 0;
            while !stop.load(Ordering::SeqCst) {
                let next = raise(&link, "{room}:count").await?;
                ensure!(next == last + 1, "{next} after {last}");
                last = next;
            }
            anyhow::Ok(last)
        }
    });
    for to in [(from + 1) % 3, (from + 2) % 3, from] {
        cluster.move_slot(slot, to).await?;
    }
    stop.store(true, Ordering::SeqCst);
    let counted = counting.await??;
    let found: u64 = ask(&*link, cmd("GET").arg("{room}:count")).await?;
    ensure!(counted > 10 && counted == found, "counted {counted}, found {found}");
    Ok(())
}

/// A script of one key is carried out exactly once each time, wherever its slot is.
#[tokio::test]
async fn calls_follow_a_slot_that_moves() -> Result<()> {
    on_each(follows_a_slot).await
}

#[tokio::test]
async fn a_script_of_several_keys_waits_until_they_have_moved() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let link = link(&cluster.url())?;
    let slot = cluster.slot_of("{room}").await?;
    let from = cluster.owner_of(slot).await?;
    set(&*link, "{room}:a").await?;
    let to = (from + 1) % 3;
    cluster.begin_move(slot, from, to).await?;
    // What is not at the old owner is asked for at the new one, which has it only for who says so.
    assert_eq!(get(&*link, "{room}:never").await?, None);
    assert_eq!(raise(&link, "{room}:new").await?, 1);
    let new: Vec<String> =
        cluster.node(to).command(cmd("CLUSTER").arg("GETKEYSINSLOT").arg(slot).arg(10)).await?;
    assert_eq!(new, ["{room}:new"]);
    let mut both = cmd("MGET");
    both.arg("{room}:a").arg("{room}:never");
    // One is there, one is nowhere: no node can tell.
    let waits = ask::<Vec<Option<String>>>(&*link, &both);
    ensure!(waits.await.is_err(), "nobody can know that");
    while cluster.move_some_keys(slot, from, to).await? > 0 {}
    let (moved, found) = tokio::join!(
        cluster.finish_move(slot, from, to),
        ask::<Vec<Option<String>>>(&*link, &both)
    );
    moved?;
    assert_eq!(found?, [Some("{room}:a".to_owned()), None]);
    Ok(())
}

async fn writes_again(link: &dyn Link, key: &str) -> Result<()> {
    eventually(SOON, "a write to the other node", || set(link, key)).await
}

#[tokio::test]
async fn a_replica_takes_over_and_calls_go_there() -> Result<()> {
    let mut cluster = Cluster::start(Flavor::Redis7, 1, None).await?;
    let link = link(&cluster.url())?;
    let mut keys = BTreeSet::new();
    for room in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        set(&*link, room).await?;
        if cluster.owner_of(cluster.slot_of(room).await?).await? == 0 {
            keys.insert(room);
        }
    }
    let key = *keys.first().expect("a room on the first shard");
    let mut messages = link.subscribe(&["news"]).await?;
    cluster.node_mut(0).kill()?;
    writes_again(&*link, key).await?;
    assert_eq!(cluster.node(3).info("role").await?, "master");
    // Whichever node was listened to: it goes on, or ends so that another one is chosen.
    let heard = async {
        loop {
            if messages.next().await.is_some() {
                return;
            }
            match link.subscribe(&["news"]).await {
                Ok(again) => messages = again,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let tell = async {
        loop {
            let _ = ask::<u64>(&*link, cmd("PUBLISH").arg("news").arg("x")).await;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        biased;
        () = heard => Ok(()),
        () = tell => Ok(()),
        () = tokio::time::sleep(SOON) => anyhow::bail!("no message any more"),
    }
}

/// It answers, but nothing that is published reaches it any more.
#[tokio::test]
async fn a_subscription_at_a_node_that_was_cut_off_ends() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 0, None).await?;
    let link = link(&cluster.url())?;
    // The first, the second and the third subscription are at different nodes.
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(link.subscribe(&["news"]).await?);
    }
    cluster.node(0).freeze()?;
    cluster.node(1).freeze()?;
    for mut messages in all {
        ensure!(timeout(SOON, messages.next()).await?.is_none(), "a message from nowhere");
    }
    cluster.node(0).thaw()?;
    cluster.node(1).thaw()
}

/// Its connections stay open; only the other nodes know that it is gone.
#[tokio::test]
async fn a_node_that_hangs_is_left_and_the_others_go_on() -> Result<()> {
    let cluster = Cluster::start(Flavor::Redis7, 1, None).await?;
    let link = link(&cluster.url())?;
    let mut of = [None, None, None];
    for room in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        set(&*link, room).await?;
        of[cluster.owner_of(cluster.slot_of(room).await?).await?] = Some(room);
    }
    let [Some(first), Some(second), _] = of else { anyhow::bail!("no room on a shard") };
    cluster.node(0).freeze()?;
    set(&*link, second).await?;
    writes_again(&*link, first).await?;
    set(&*link, second).await?;
    cluster.node(0).thaw()
}
