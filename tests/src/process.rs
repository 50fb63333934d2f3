//! A program that runs for the length of a test, with everything it prints kept in files.
//!
//! It is killed when it is dropped, also when the test panics, so that nothing is left behind.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

use crate::wait::eventually;

/// How much of a log a failure quotes.
const QUOTED_BYTES: usize = 4_000;

/// A running program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exited {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Killed,
}

// === impl Process ===

impl Process {
    /// Starts `command`; its outputs go to the files `log` with the extensions `out` and `err`.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let (stdout, stderr) = (log.with_extension("out"), log.with_extension("err"));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self { child, stdout, stderr })
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed on standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// Everything it has printed so far, standard error last.
    #[must_use]
    pub fn log(&self) -> String {
        read(&self.stdout) + read(&self.stderr).as_str()
    }

    /// Fails, with the end of its log, once it has ended.
    pub fn check_running(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("it has ended ({status}); its log ends:\n{}", self.log_end());
        }
        Ok(())
    }

    /// The end of its log, for the message of a failure.
    #[must_use]
    pub fn log_end(&self) -> String {
        let log = self.log();
        let mut start = log.len().saturating_sub(QUOTED_BYTES);
        while !log.is_char_boundary(start) {
            start += 1;
        }
        log[start..].to_owned()
    }

    /// Ends it with SIGKILL: it gets to do nothing more.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ends it, and every program that it has started: for a command that leads a group of its own.
    pub fn kill_group(&mut self) -> Result<()> {
        let group = format!("-{}", self.child.id());
        let status =
            Command::new("sh").args(["-c", "kill -s KILL -- \"$1\"", "sh", &group]).status()?;
        ensure!(status.success(), "cannot end the group {group}: {status}");
        self.kill()
    }

    /// Sends SIGTERM, and does not wait.
    pub fn terminate(&self) -> Result<()> {
        self.signal("TERM")
    }

    /// Stands still from now on, as on a machine that is out of memory or was suspended.
    pub fn freeze(&self) -> Result<()> {
        self.signal("STOP")
    }

    /// Goes on as if nothing had happened.
    pub fn thaw(&self) -> Result<()> {
        self.signal("CONT")
    }

    fn signal(&self, name: &str) -> Result<()> {
        // The shell's own `kill`: a minimal system has no other.
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &self.child.id().to_string()])
            .status()?;
        ensure!(status.success(), "cannot send SIG{name}: {status}");
        Ok(())
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self, within: Duration) -> Result<Exited> {
        let child = &mut self.child;
        let status = eventually(within, "the end of the process", || {
            let status = child.try_wait();
            async { status?.context("it still runs") }
        });
        Ok(Exited::from(status.await?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already: that is what is wanted.
        let _ = self.kill();
    }
}

// === impl Exited ===

impl From<ExitStatus> for Exited {
    fn from(status: ExitStatus) -> Self {
        status.code().map_or(Self::Killed, Self::Code)
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<(tempfile::TempDir, Process)> {
        let dir = tempfile::tempdir()?;
        let process =
            Process::start(Command::new("sh").args(["-c", script]), &dir.path().join("log"))?;
        Ok((dir, process))
    }

    #[tokio::test]
    async fn tells_how_it_ended_and_what_it_said() -> Result<()> {
        let (_dir, mut process) = shell("echo out; echo err >&2; exit 3")?;
        assert_eq!(process.ended(Duration::from_secs(5)).await?, Exited::Code(3));
        assert_eq!((process.stdout().as_str(), process.log().as_str()), ("out\n", "out\nerr\n"));
        let told = process.check_running().expect_err("it has ended").to_string();
        assert!(told.contains("err"), "{told}");
        Ok(())
    }

    #[tokio::test]
    async fn ends_when_told_or_killed() -> Result<()> {
        let (_dir, mut patient) =
            shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")?;
        eventually(Duration::from_secs(5), "the trap", || {
            let ready = patient.log().contains("ready");
            async move {
                anyhow::ensure!(ready, "not yet") as ();
                Ok(())
            }
        })
        .await?;
        patient.check_running()?;
        patient.terminate()?;
        assert_eq!(patient.ended(Duration::from_secs(5)).await?, Exited::Code(7));
        let (_dir, mut stubborn) = shell("while :; do sleep 0.01; done")?;
        stubborn.kill()?;
        assert_eq!(stubborn.ended(Duration::from_secs(5)).await?, Exited::Killed);
        Ok(())
    }
}
