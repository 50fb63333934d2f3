//! A crowd of apps: `vestibule-crowd` against the port for apps, which also reports whoever has lost a place.

use std::{fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use vestibule_tests::{Exited, Process, ours};

use crate::{project::Project, say};

/// How many come, and what for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// How many.
    pub(crate) visitors: u32,
    /// Seconds over which they come.
    pub(crate) arrive: u32,
    /// Seats.
    pub(crate) ceiling: u32,
    /// Seconds inside.
    pub(crate) stay: u32,
}

/// One on its way.
#[derive(Debug)]
pub(crate) struct Crowd {
    process: Process,
    size: Size,
}

// === impl Crowd ===

impl Crowd {
    /// Sends it to a room of its own.
    pub(crate) fn start(
        project: &Project<'_>,
        size: Size,
        token: &Path,
        log: &Path,
    ) -> Result<Self> {
        let mut command = Command::new(ours("vestibule-crowd")?);
        let arguments = [
            ("--room", "crowd".to_owned()),
            ("--admission", format!("http://127.0.0.1:{}", project.apps)),
            ("--controller", format!("http://127.0.0.1:{}", project.operators[1])),
            ("--visitors", size.visitors.to_string()),
            ("--arrive", format!("{}s", size.arrive)),
            ("--stay", format!("{}s", size.stay)),
            ("--ceiling", size.ceiling.to_string()),
            ("--session", "60s".to_owned()),
            ("--timeout", "8m".to_owned()),
            // As many as may stand at the door, where a claim keeps one for two seconds.
            ("--connections", (8 * size.ceiling).to_string()),
        ];
        for (name, value) in arguments {
            command.args([name, &value]);
        }
        command.args(["--create", "--json", "--expect-outages", "--api-token-file"]).arg(token);
        Ok(Self { process: Process::start(&mut command, log)?, size })
    }

    /// Waits until all have been inside, and fails if anybody has lost a place, or anything else was wrong.
    pub(crate) async fn has_been_served(mut self) -> Result<()> {
        let ended = self.process.ended(Duration::from_secs(500)).await?;
        let report: Value = serde_json::from_str(&self.process.stdout())
            .with_context(|| format!("no report: {}", self.process.log_end()))?;
        let seen = &report["visitors"];
        say(&format!(
            "compose: a crowd of {}: {seen}, in {} s; calls that were told to come again: {}",
            self.size.visitors, report["duration_seconds"], report["errors"]
        ));
        ensure!(ended == Exited::Code(0), "{ended:?}: {}", report["problems"]);
        ensure!(seen["admitted"] == self.size.visitors, "not all were let in: {seen}");
        Ok(())
    }
}

/// Keeps a token in a file that nobody else reads.
pub(crate) fn keep(token: &str, file: &Path) -> Result<()> {
    fs::write(file, token)?;
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(())
}
