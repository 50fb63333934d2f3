//! Programs with which AWS's customers sign requests: botocore and `aws_requests_auth` in Python, aws4fetch in JavaScript.
//! `scripts/test-tools.sh` fetches them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::programs;

const HINT: &str = "run `make test`, which fetches it (scripts/test-tools.sh); VESTIBULE_TEST_SKIP_SIGNERS=1 leaves \
                    these tests out";

/// Environment variables, by their names.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// Where the packages are.
#[derive(Debug)]
pub struct Signers {
    python: PathBuf,
    node: PathBuf,
}

// === impl Signers ===

impl Signers {
    /// Says loudly that the operator of the tests chose to leave them out.
    #[must_use]
    pub fn are_left_out() -> bool {
        let left_out = env::var_os("VESTIBULE_TEST_SKIP_SIGNERS").is_some_and(|value| value == "1");
        if left_out {
            // Not `eprintln`, which the test runner swallows.
            let warning = "WARNING: VESTIBULE_TEST_SKIP_SIGNERS=1: NOT tested with signers of AWS's customers\n";
            let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
        }
        left_out
    }

    /// Those that were fetched.
    pub fn find() -> Result<Self> {
        let fetched = programs::fetched().context("no target/tools")?.canonicalize();
        let fetched = fetched.context(HINT)?;
        let python = fetched.join("aws-signers");
        let node = fetched.join("aws4fetch/node_modules");
        for package in ["botocore", "aws_requests_auth", "requests"] {
            ensure!(python.join(package).is_dir(), "no {package}: {HINT}");
        }
        ensure!(node.join("aws4fetch").is_dir(), "no aws4fetch: {HINT}");
        Ok(Self { python, node })
    }

    /// Runs a program in Python with these arguments and variables, and gives what it printed.
    pub fn python(
        &self,
        program: &str,
        arguments: &[&str],
        variables: Variables<'_>,
    ) -> Result<String> {
        let mut command = Command::new(programs::on_path("python3").context("no python3")?);
        command.env("PYTHONPATH", &self.python).env("PYTHONDONTWRITEBYTECODE", "1");
        run(command.args(["-c", program]).args(arguments).envs(variables.iter().copied()))
    }

    /// The same in JavaScript, as a module.
    pub fn node(
        &self,
        program: &str,
        arguments: &[&str],
        variables: Variables<'_>,
    ) -> Result<String> {
        let folder = tempfile::tempdir()?;
        // Modules look for packages in folders above them.
        std::os::unix::fs::symlink(&self.node, folder.path().join("node_modules"))?;
        let file = folder.path().join("program.mjs");
        fs::write(&file, program)?;
        let mut command = Command::new(programs::on_path("node").context("no node")?);
        run(command.arg(Path::new(&file)).args(arguments).envs(variables.iter().copied()))
    }
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{out}\n{err}");
    Ok(out)
}
