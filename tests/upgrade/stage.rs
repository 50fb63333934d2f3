//! A deployment of two instances of each service, of either release; and the judge at its end.

use std::{fs, fs::File, io::BufReader, path::PathBuf};

use anyhow::{Result, ensure};
use tempfile::TempDir;
use vestibule_history::{Bounds, Report, lines};
use vestibule_tests::{Deployment, Exited, Fleet, Operator, Service, previous_release};

use crate::SOON;

/// How many instances of each service there are.
pub(crate) const EACH: usize = 2;

/// Which program an instance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// As it was the commit before.
    Previous,
    /// Of this tree.
    This,
}

/// The deployment, and what it writes down.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) deployment: Deployment,
    previous: PathBuf,
    histories: TempDir,
}

// === impl Stage ===

impl Stage {
    /// All instances are of the previous release. `None`: there is none, which was said.
    pub(crate) async fn of_the_previous() -> Result<Option<Self>> {
        let Some(previous) = previous_release() else { return Ok(None) };
        let histories = tempfile::tempdir()?;
        let deployment = Deployment::builder()
            .admissions(EACH)
            .controllers(EACH)
            .programs(previous.clone())
            .environment("VESTIBULE_HISTORY", &histories.path().to_string_lossy())
            .start()
            .await?;
        Ok(Some(Self { deployment, previous, histories }))
    }

    /// An instance of each service is of this release, the second; the controller of `leads` leads.
    pub(crate) async fn half_way(leads: Release) -> Result<Option<Self>> {
        let Some(mut stage) = Self::of_the_previous().await? else { return Ok(None) };
        stage.put(Service::Admission, 1, Release::This).await?;
        stage.put(Service::Controller, 1, Release::This).await?;
        if leads == Release::This {
            stage.put(Service::Controller, 0, Release::Previous).await?;
        }
        let leader = stage.deployment.leading().await?;
        ensure!(leader == usize::from(leads == Release::This), "controller {leader} leads");
        Ok(Some(stage))
    }

    /// Replaces an instance by one of `release`, also by one of the same. If it led, the other controller leads then.
    pub(crate) async fn put(
        &mut self,
        service: Service,
        index: usize,
        release: Release,
    ) -> Result<()> {
        let programs = (release == Release::Previous).then(|| self.previous.clone());
        self.deployment.replace(service, index, programs).await
    }

    /// Each admission by itself.
    pub(crate) fn admissions(&self) -> Vec<Fleet> {
        self.deployment.admissions().each()
    }

    /// An operator at one controller.
    pub(crate) fn operator(&self, index: usize) -> Operator {
        self.deployment.operator_at(index)
    }

    /// Stops everything in order, and has the judge look at what was written down.
    pub(crate) async fn close(mut self) -> Result<()> {
        for service in [Service::Admission, Service::Controller] {
            for index in 0..EACH {
                let process = self.deployment.process_mut(service, index);
                process.terminate()?;
                let ended = process.ended(SOON).await?;
                ensure!(ended == Exited::Code(0), "{service:?} {index}: {ended:?}");
            }
        }
        let logs = self.deployment.logs();
        for bad in ["may have gone back", "had gone back", "cannot be read", "panicked"] {
            let said = logs.lines().find(|line| line.contains(bad));
            ensure!(said.is_none(), "{}", said.unwrap_or_default());
        }
        self.judge()
    }

    fn judge(&self) -> Result<()> {
        let mut readers = Vec::new();
        for file in fs::read_dir(self.histories.path())? {
            let path = file?.path();
            let file = BufReader::new(File::open(&path)?);
            readers.push(lines::Reader::new(path.display().to_string(), file));
        }
        let report = Report::judge(Bounds::default(), lines::merge(readers))?;
        ensure!(report.figures.events > 0, "nothing was written down");
        ensure!(report.holds(), "{report}");
        Ok(())
    }
}
