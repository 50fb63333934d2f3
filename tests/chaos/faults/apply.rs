//! Making faults happen to processes and to the network.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::{Fault, FaultKind};
use crate::{
    chance::{Chance, Seed},
    stage::{Instance, Redis, Stage, Ways, Weather},
};

// === impl Fault ===

impl Fault {
    /// Makes it happen, and good again.
    pub(crate) async fn happen(&self, stage: &Stage, seed: Seed) -> Result<()> {
        let mut chance = seed.chance("fault happens", self.number);
        let instance = chance.one_of(stage.instances());
        match self.kind {
            FaultKind::Kill => self.kill(stage, instance).await,
            FaultKind::Freeze => self.freeze(instance).await,
            FaultKind::Upgrade => self.upgrade(stage).await,
            FaultKind::Cut => stage.cut(instance),
            FaultKind::HalfOpen => stage.forget_at_redis(instance),
            FaultKind::Delay => {
                let delay = Duration::from_millis(*chance.one_of(&[5, 50, 200, 900]));
                self.change_weather(instance, Weather { delay, ..Weather::default() }).await
            }
            FaultKind::Deaf => {
                self.change_weather(instance, Weather { is_deaf: true, ..Weather::default() }).await
            }
            FaultKind::Partition | FaultKind::OneWay => {
                self.part(stage, instance, &mut chance).await
            }
            _ => self.befall_redis(stage, &mut chance).await,
        }
    }

    /// What must be done before: keeping the state that Redis will go back to, or letting a replica fall
    /// behind.
    pub(crate) async fn prepare(&self, stage: &Stage) -> Result<()> {
        if !self.kind.goes_back() {
            return Ok(());
        }
        match &*stage.redis().await {
            Redis::Pair(servers) => self.prepare_pair(stage, servers).await,
            // The kernel does it all when it happens.
            Redis::Group(_) => Ok(()),
        }
    }

    /// When its preparation is due, ms after the beginning.
    pub(crate) fn prepares_at_ms(&self) -> u64 {
        self.at_ms.saturating_sub(self.back_ms)
    }

    async fn befall_redis(&self, stage: &Stage, chance: &mut Chance) -> Result<()> {
        let redis = &mut *stage.redis().await;
        if self.kind.loses_data() {
            stage.note_loss(None);
        }
        match redis {
            Redis::Pair(servers) => self.befall_pair(stage, servers, chance).await,
            Redis::Group(group) => self.befall_group(stage, group, chance).await,
        }
    }

    async fn kill(&self, stage: &Stage, instance: &Instance) -> Result<()> {
        let mut running = instance.running().await;
        if !stage.witnesses().may_end(&instance.name) {
            return Ok(());
        }
        running.process()?.kill()?;
        sleep(self.lasts()).await;
        stage.witnesses().is_back(&instance.name);
        instance.start(&mut running)
    }

    async fn freeze(&self, instance: &Instance) -> Result<()> {
        let mut running = instance.running().await;
        let process = running.process()?;
        process.freeze()?;
        sleep(self.lasts()).await;
        process.thaw()
    }

    async fn upgrade(&self, stage: &Stage) -> Result<()> {
        for instance in stage.instances().iter().step_by(2) {
            let mut running = instance.running().await;
            if !stage.witnesses().may_end(&instance.name) {
                continue;
            }
            instance.stop(&mut running).await?;
            sleep(self.lasts() / 8).await;
            stage.witnesses().is_back(&instance.name);
            instance.start(&mut running)?;
        }
        Ok(())
    }

    async fn change_weather(&self, instance: &Instance, bad: Weather) -> Result<()> {
        // Held, so that nobody else makes the weather good meanwhile.
        let _running = instance.running().await;
        let link = instance.link.as_ref().context("nothing is between it and Redis")?;
        link.change(|weather| *weather = bad);
        sleep(self.lasts()).await;
        link.change(|weather| *weather = Weather::default());
        Ok(())
    }

    async fn part(&self, stage: &Stage, instance: &Instance, chance: &mut Chance) -> Result<()> {
        let _running = instance.running().await;
        let both = self.kind == FaultKind::Partition;
        let requests = chance.happens(0.5);
        let ways = Ways { requests: both || requests, answers: both || !requests };
        let and_people = chance.happens(0.3);
        stage.part(instance, ways, and_people)?;
        sleep(self.lasts()).await;
        stage.join(instance, ways, and_people)
    }

    pub(super) fn lasts(&self) -> Duration {
        Duration::from_millis(self.lasts_ms)
    }
}
