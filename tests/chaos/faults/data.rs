//! Making faults happen to a primary and its replica. One at a time: each has the servers for itself
//! while it lasts.

use std::{borrow::Borrow, pin::pin, time::Duration};

use anyhow::{Result, ensure};
use redis::RedisError;
use tokio::time::sleep;
use vestibule_history::ServersAre;
use vestibule_tests::eventually;

use super::{Fault, FaultKind};
use crate::{
    chance::Chance,
    stage::{Instance, Link, Server, Servers, Stage, State},
};

/// How often, and for how long, it is tried to end a script.
const KILLS_EVERY: Duration = Duration::from_millis(20);
const KILLED: Duration = Duration::from_secs(20);
/// A clock jumps by so many seconds at most.
const FARTHEST_JUMP: u64 = 400;

// === impl Fault ===

impl Fault {
    pub(super) async fn prepare_pair(&self, stage: &Stage, servers: &Servers) -> Result<()> {
        match self.kind {
            FaultKind::Rewind => servers.remember(&self.kept()).await,
            _ => servers.let_replica_fall_behind(stage.turns()).await,
        }
    }

    pub(super) async fn befall_pair(
        &self,
        stage: &Stage,
        servers: &mut Servers,
        chance: &mut Chance,
    ) -> Result<()> {
        match self.kind {
            FaultKind::Away => self.go_away(stage, servers, chance.happens(0.5)).await,
            FaultKind::Refuse => self.refuse(servers.primary(), chance.within(0..4)).await,
            FaultKind::Restart => restart(stage, servers, State::Everything).await,
            FaultKind::Wipe if chance.happens(0.5) => {
                servers.primary().tell(&redis::cmd("FLUSHALL")).await
            }
            FaultKind::Wipe => restart(stage, servers, State::Nothing).await,
            FaultKind::Rewind => restart(stage, servers, State::Kept(&self.kept())).await,
            FaultKind::Promote => promote(stage, servers).await,
            FaultKind::Split => self.split(stage, servers, chance).await,
            FaultKind::LoseKey => lose_key(servers.primary(), chance).await,
            FaultKind::Clock => {
                let seconds = i64::try_from(chance.within(1..FARTHEST_JUMP)).unwrap_or(1);
                servers.set_clocks(if chance.happens(0.5) { seconds } else { -seconds })
            }
            _ => Ok(()),
        }
    }

    fn kept(&self) -> String {
        format!("kept-{}.rdb", self.number)
    }

    /// Refuses connections, or takes them and does not answer.
    async fn go_away(&self, stage: &Stage, servers: &Servers, silently: bool) -> Result<()> {
        if let Some(process) = servers.primary().process().filter(|_| silently) {
            process.freeze()?;
            sleep(self.lasts()).await;
            return process.thaw();
        }
        for link in links(stage) {
            link.change(|weather| weather.refuses = true);
            link.cut();
        }
        sleep(self.lasts()).await;
        links(stage).for_each(|link| link.change(|weather| weather.refuses = false));
        Ok(())
    }

    /// Refuses writes, as a server without replicas, without memory, as a replica, or as one that is busy.
    pub(super) async fn refuse(&self, primary: &Server, how: u64) -> Result<()> {
        let set = |name, value| {
            let mut command = redis::cmd("CONFIG");
            command.arg("SET").arg(name).arg(value);
            command
        };
        match how {
            0 => primary.tell(&set("min-replicas-to-write", "9")).await?,
            1 => primary.tell(&set("maxmemory", "1")).await?,
            2 => primary.tell(redis::cmd("REPLICAOF").arg("127.0.0.1").arg("1")).await?,
            _ => return self.keep_busy(primary).await,
        }
        sleep(self.lasts()).await;
        match how {
            0 => primary.tell(&set("min-replicas-to-write", "0")).await,
            1 => primary.tell(&set("maxmemory", "0")).await,
            _ => primary.tell(redis::cmd("REPLICAOF").arg("NO").arg("ONE")).await,
        }
    }

    /// A script that never ends, until it is killed.
    async fn keep_busy(&self, primary: &Server) -> Result<()> {
        let mut script = redis::cmd("EVAL");
        script.arg("while true do end").arg(0);
        let kill = async || primary.tell(redis::cmd("SCRIPT").arg("KILL")).await;
        let (mut runs, lasts) = (pin!(primary.tell(&script)), self.lasts());
        if tokio::time::timeout(lasts, &mut runs).await.is_err() {
            // It may not even have begun; and whoever waits for it gives up before it ends.
            while tokio::time::timeout(KILLS_EVERY, &mut runs).await.is_err() {
                let _ = kill().await;
            }
        }
        eventually(KILLED, "the end of a script", || async {
            let killed = kill().await;
            let error = killed.as_ref().err().and_then(|error| error.downcast_ref::<RedisError>());
            ensure!(error.and_then(RedisError::code) == Some("NOTBUSY"), "{killed:?}");
            Ok(())
        })
        .await
    }

    async fn split(&self, stage: &Stage, servers: &mut Servers, chance: &mut Chance) -> Result<()> {
        let since_ms = servers.lags_since(stage.turns());
        let new = servers.promote().await?;
        let (apart, ahead) = sides(stage, chance);
        stage.note_loss(Some(&apart));
        links_of(&ahead).for_each(|link| lead(link, new));
        stage.turns().note(split(since_ms, &apart));
        sleep(self.lasts()).await;
        servers.kill_replica()?;
        stage.turns().note(ServersAre::Healed);
        links_of(&apart).for_each(|link| lead(link, new));
        servers.replace_replica().await
    }
}

/// Who goes on with the old primary, and who with the new one: at least one each.
pub(super) fn sides<'a>(
    stage: &'a Stage,
    chance: &mut Chance,
) -> (Vec<&'a Instance>, Vec<&'a Instance>) {
    let all = stage.instances().iter();
    let (mut apart, mut ahead): (Vec<_>, Vec<_>) = all.partition(|_| chance.happens(0.4));
    if ahead.is_empty() {
        ahead.extend(apart.pop());
    } else if apart.is_empty() {
        apart.extend(ahead.pop());
    }
    (apart, ahead)
}

/// What the judge is told of it.
pub(super) fn split(since_ms: u64, apart: &[&Instance]) -> ServersAre {
    let apart = apart.iter().map(|instance| instance.name.as_str().into()).collect();
    ServersAre::Split { since_ms, apart }
}

async fn restart(stage: &Stage, servers: &mut Servers, from: State<'_>) -> Result<()> {
    servers.restart(from).await?;
    links(stage).for_each(Link::cut);
    Ok(())
}

async fn promote(stage: &Stage, servers: &mut Servers) -> Result<()> {
    let new = servers.promote().await?;
    servers.kill_replica()?;
    links(stage).for_each(|link| lead(link, new));
    servers.replace_replica().await
}

/// Loses one key of all that there are.
pub(super) async fn lose_key(server: &Server, chance: &mut Chance) -> Result<()> {
    let mut keys: Vec<String> = server.ask(redis::cmd("KEYS").arg("*")).await?;
    keys.sort();
    if keys.is_empty() {
        return Ok(());
    }
    let key = chance.one_of(&keys);
    crate::stage::namespaces::say(&format!("  lost key: {key}"));
    server.tell(redis::cmd("DEL").arg(key)).await
}

fn lead(link: &Link, to: std::net::SocketAddr) {
    link.lead_to(to);
    link.cut();
}

fn links(stage: &Stage) -> impl Iterator<Item = &Link> {
    links_of(stage.instances())
}

fn links_of<'a, I: Borrow<Instance> + 'a>(instances: &'a [I]) -> impl Iterator<Item = &'a Link> {
    instances.iter().filter_map(|instance| instance.borrow().link.as_ref())
}
