//! Making faults happen to Redis that fails over by itself. One at a time: each has the servers for itself
//! while it lasts, and leaves the group whole.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::{Fault, FaultKind, data::lose_key};
use crate::{
    chance::Chance,
    stage::{Group, Server, Stage},
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
        cut_off(stage, server, &instances)?;
        sleep(self.lasts()).await;
        let_through(stage, server, &instances)
    }

    /// The primary's replicas hear nothing for a while, and then it dies.
    async fn fail_over(&self, stage: &Stage, group: &mut Group, primary: usize) -> Result<()> {
        let others = others(group, primary);
        let server = &group.servers()[primary];
        // Shorter than what the others would take for its death.
        let behind = Duration::from_millis(self.back_ms.min(900));
        cut_off(stage, server, &others)?;
        sleep(behind).await;
        group.server_mut(primary).kill()?;
        let_through(stage, &group.servers()[primary], &others)?;
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
        let mut far = others(group, primary);
        let mut ahead: Vec<_> = stage.instances().iter().map(|it| it.host.address).collect();
        ahead.retain(|_| chance.happens(0.6));
        far.extend(ahead);
        let server = &group.servers()[primary];
        cut_off(stage, server, &far)?;
        sleep(NOTICED + self.lasts()).await;
        let_through(stage, server, &far)?;
        group.fails_over(primary).await.context("after a split")
    }
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

fn cut_off(stage: &Stage, server: &Server, others: &[IpAddr]) -> Result<()> {
    for (from, to) in both_ways(server, others) {
        stage.ground().block(from, to)?;
    }
    Ok(())
}

fn let_through(stage: &Stage, server: &Server, others: &[IpAddr]) -> Result<()> {
    for (from, to) in both_ways(server, others) {
        stage.ground().unblock(from, to)?;
    }
    Ok(())
}

fn both_ways(server: &Server, others: &[IpAddr]) -> Vec<(IpAddr, IpAddr)> {
    let this = server.address().ip();
    others.iter().flat_map(|other| [(this, *other), (*other, this)]).collect()
}
