//! The controller's program as an operator at a terminal runs it: against a running controller, with a token.

use std::{
    ffi::OsStr,
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};

use crate::programs;

/// An operator at a terminal.
#[derive(Debug, Clone)]
pub struct Terminal {
    environment: Vec<(String, String)>,
}

/// What the program has said, and how it ended.
#[derive(Debug, Clone)]
pub struct Said {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

// === impl Terminal ===

impl Terminal {
    /// One who asks the controller at `url` and shows `token`.
    #[must_use]
    pub fn new(url: &str, token: &str) -> Self {
        let terminal = Self { environment: Vec::new() };
        terminal
            .environment("VESTIBULE_CONTROLLER_URL", url)
            .environment("VESTIBULE_API_TOKEN", token)
    }

    /// One more variable, or another value of one.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the program with these arguments to its end.
    pub async fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Said> {
        let mut command = Command::new(programs::ours("vestibule-controller")?);
        command.env_clear().envs(self.environment.iter().cloned()).args(arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await?;
        Said::of(output.context("cannot run vestibule-controller")?)
    }
}

// === impl Said ===

impl Said {
    fn of(output: Output) -> Result<Self> {
        let code = output.status.code().context("it was killed")?;
        Ok(Self {
            code,
            out: String::from_utf8(output.stdout)?,
            err: String::from_utf8(output.stderr)?,
        })
    }

    /// The same, if it ended with this code.
    pub fn expect(self, code: i32) -> Result<Self> {
        ensure!(self.code == code, "exit code {}: {}{}", self.code, self.out, self.err);
        Ok(self)
    }
}
