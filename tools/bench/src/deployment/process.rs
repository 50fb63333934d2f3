//! A program that runs during a measurement and is killed when the value is dropped.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// The number of log lines quoted in an error.
const QUOTED_LINES: usize = 20;

/// A running program.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

// === impl Process ===

impl Process {
    /// Starts `command`; its output goes to the file `log`.
    pub(super) fn start(command: &mut Command, log: PathBuf) -> Result<Self> {
        let output = create(&log)?;
        let program = command.get_program().to_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self { child, log })
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails, with the end of the log, if the program has ended.
    pub(super) fn check_running(&mut self) -> Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n");
        bail!("it has ended ({status}); its log ends:\n{end}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Killing fails if it has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn create(log: &Path) -> Result<File> {
    File::create(log).with_context(|| format!("cannot create {}", log.display()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_error_for_an_ended_program_quotes_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo first words; echo last words >&2; exit 3"]);
        let mut process = Process::start(&mut command, dir.path().join("log")).unwrap();
        let start = Instant::now();
        let error = loop {
            assert!(start.elapsed() < Duration::from_secs(10));
            if let Err(error) = process.check_running() {
                break error.to_string();
            }
        };
        assert!(error.contains("last words") && error.contains('3'), "{error}");
    }
}
