//! Making faults happen to Redis that fails over by itself. One at a time: each has the servers for itself
//! while it lasts, and leaves the group whole.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, Result};
use futures_util::future::join_all;
use tokio::time::sleep;
use vestibule_history::ServersAre;

use super::{
    Fault, FaultKind,
    data::{lose_key, sides, split},
};
use crate::{
    chance::Chance,
    stage::{Group, Instance, Server, Stage},
};

/// How long the others need at least to notice that a primary is gone.
const NOTICED: Duration = Duration::from_secs(5);

// === impl Fault ===

impl Fault {
    pub(super) async fn befall_group(
        &self,
        stage: &Stage,
        group: &mut Group,
        chance: &mut Chance,
    ) -> Result<()> {
        group.is_whole().await?;
        let primaries = group.primaries().await;
        anyhow::ensure!(!primaries.is_empty(), "no primary");
        let primary = *chance.one_of(&primaries);
        let server = &group.servers()[primary];
        match self.kind {
            FaultKind::Away => self.keep_away(stage, server).await,
            FaultKind::Refuse => self.refuse(server, chance.within(0..2)).await,
            FaultKind::Restart => restart_replica(group, &primaries, chance).await,
            FaultKind::Wipe => server.tell(&redis::cmd("FLUSHALL")).await,
            FaultKind::LoseKey => lose_key(server, chance).await,
            FaultKind::Promote => self.fail_over(stage, group, primary).await,
            FaultKind::Split => self.split_group(stage, group, primary, chance).await,
            _ => Ok(()),
        }?;
        group.is_whole().await
    }

    /// No instance reaches the primary, which the other servers see well.
    async fn keep_away(&self, stage: &Stage, server: &Server) -> Result<()> {
        let instances: Vec<_> = stage.instances().iter().map(|it| it.host.address).collect();
        let server = [server.address().ip()];
        cut_off(stage, &server, &instances)?;
        sleep(self.lasts()).await;
        let_through(stage, &server, &instances)
    }

    /// The primary's replicas hear nothing for a while, and then it dies.
    async fn fail_over(&self, stage: &Stage, group: &mut Group, primary: usize) -> Result<()> {
        let others = others(group, primary);
        let server = [group.servers()[primary].address().ip()];
        // Shorter than what the others would take for its death.
        let behind = Duration::from_millis(self.back_ms.min(900));
        cut_off(stage, &server, &others)?;
        sleep(behind).await;
        group.server_mut(primary).kill()?;
        let_through(stage, &server, &others)?;
        group.fails_over(primary).await?;
        group.start_again(primary).await
    }

    /// The primary and some of the instances are on one side, everybody else on the other.
    async fn split_group(
        &self,
        stage: &Stage,
        group: &mut Group,
        primary: usize,
        chance: &mut Chance,
    ) -> Result<()> {
        // Whoever is apart stays so, and writes nowhere else, until the old primary has stepped down.
        let _running = join_all(stage.instances().iter().map(Instance::running)).await;
        let (apart, ahead) = sides(stage, chance);
        stage.note_loss(Some(&apart));
        let (apart_hosts, mut far) = (hosts(&apart), hosts(&ahead));
        let (others, old) = (others(group, primary), group.servers()[primary].address().ip());
        far.extend(&others);
        let since_ms = stage.turns().note(ServersAre::Lagging);
        let near: Vec<_> = [old].into_iter().chain(apart_hosts).collect();
        cut_off(stage, &near, &far)?;
        stage.turns().note(split(since_ms, &apart));
        sleep(NOTICED + self.lasts()).await;
        group.fails_over(primary).await.context("in a split")?;
        let_through(stage, &[old], &others)?;
        group.is_whole().await.context("after a split")?;
        stage.turns().note(ServersAre::Healed);
        let_through(stage, &[old], &hosts(&ahead))?;
        let_through(stage, &near[1..], &far)
    }
}

fn hosts(instances: &[&Instance]) -> Vec<IpAddr> {
    instances.iter().map(|instance| instance.host.address).collect()
}

/// Restarts a replica, which loses nothing. A primary that is gone for long enough to be replaced comes back
/// as a second one, and what it then takes in is lost: that is a split.
async fn restart_replica(
    group: &mut Group,
    primaries: &[usize],
    chance: &mut Chance,
) -> Result<()> {
    let all = 0..group.servers().len();
    let replicas: Vec<_> = all.filter(|index| !primaries.contains(index)).collect();
    anyhow::ensure!(!replicas.is_empty(), "no replica");
    let replica = *chance.one_of(&replicas);
    group.server_mut(replica).stop_in_order().await?;
    group.start_again(replica).await
}

/// Everybody of the group but this server.
fn others(group: &Group, server: usize) -> Vec<IpAddr> {
    let this = group.servers()[server].address().ip();
    group.all().map(|server| server.address().ip()).filter(|address| *address != this).collect()
}

fn cut_off(stage: &Stage, some: &[IpAddr], others: &[IpAddr]) -> Result<()> {
    both_ways(some, others).try_for_each(|(from, to)| stage.ground().block(from, to).map(drop))
}

fn let_through(stage: &Stage, some: &[IpAddr], others: &[IpAddr]) -> Result<()> {
    both_ways(some, others).try_for_each(|(from, to)| stage.ground().unblock(from, to))
}

fn both_ways(some: &[IpAddr], others: &[IpAddr]) -> impl Iterator<Item = (IpAddr, IpAddr)> {
    let pairs = some.iter().flat_map(|one| others.iter().map(|other| (*one, *other)));
    pairs.flat_map(|(one, other)| [(one, other), (other, one)])
}
