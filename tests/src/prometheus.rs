//! A real Prometheus of a test's own, with the rules of `deploy/prometheus`, that scrapes every second.

use std::{env, fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::{Client, Url};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Process, Reply, eventually, ports, programs};

const START: Duration = Duration::from_secs(30);

/// A running Prometheus.
#[derive(Debug)]
pub struct Prometheus {
    process: Process,
    base: String,
    http: Client,
    _dir: TempDir,
}

// === impl Prometheus ===

impl Prometheus {
    /// Says loudly that the operator of the tests chose to leave it out.
    #[must_use]
    pub fn is_left_out() -> bool {
        let left_out =
            env::var_os("VESTIBULE_TEST_SKIP_PROMETHEUS").is_some_and(|value| value == "1");
        if left_out {
            // Not `eprintln`, which the test runner swallows.
            let warning = "WARNING: VESTIBULE_TEST_SKIP_PROMETHEUS=1: NOT tested with Prometheus\n";
            let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
        }
        left_out
    }

    /// One that scrapes these, each a job's name and an address.
    pub async fn start(targets: &[(&str, String)]) -> Result<Self> {
        let program = programs::on_path("prometheus").context(
            "no prometheus on the PATH: install it (Debian: apt-get install prometheus), or run `make test`, which \
             does; VESTIBULE_TEST_SKIP_PROMETHEUS=1 leaves these tests out",
        )?;
        let (dir, port) = (tempfile::tempdir()?, ports::free());
        let config = dir.path().join("prometheus.yml");
        // JSON is YAML.
        fs::write(&config, configuration(targets)?.to_string())?;
        let mut command = Command::new(program);
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let process = Process::start(&mut command, &dir.path().join("prometheus"))?;
        let base = format!("http://127.0.0.1:{port}");
        let mut started = Self { process, base, http: Client::new(), _dir: dir };
        started.ready().await?;
        Ok(started)
    }

    async fn ready(&mut self) -> Result<()> {
        let (url, http) = (format!("{}/-/ready", self.base), self.http.clone());
        let process = &mut self.process;
        eventually(START, "Prometheus", || {
            let running = process.check_running();
            let asked = Reply::of(http.get(&url));
            async {
                running?;
                asked.await?.expect(200).map(drop)
            }
        })
        .await
    }

    /// What this query gives now: a list of series, each with its labels and its value.
    pub async fn query(&self, query: &str) -> Result<Vec<Value>> {
        let url = format!("{}/api/v1/query", self.base);
        let url = Url::parse_with_params(&url, [("query", query)])?;
        let reply = Reply::of(self.http.get(url)).await?;
        ensure!(reply.body["status"] == "success", "{query}: {}", reply.text);
        let result = reply.body["data"]["result"].as_array();
        Ok(result.with_context(|| format!("{query}: {}", reply.text))?.clone())
    }

    /// All rules, as Prometheus has evaluated them.
    pub async fn rules(&self) -> Result<Vec<Value>> {
        let reply = Reply::of(self.http.get(format!("{}/api/v1/rules", self.base))).await?;
        let groups = reply.body["data"]["groups"].as_array().context("no groups")?;
        let rules = groups.iter().filter_map(|group| group["rules"].as_array());
        Ok(rules.flatten().cloned().collect())
    }
}

fn configuration(targets: &[(&str, String)]) -> Result<Value> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no repository")?;
    let jobs: Vec<_> = targets
        .iter()
        .enumerate()
        .map(|(nth, (job, address))| {
            json!({ "job_name": format!("{job}-{nth}"), "static_configs": [{ "targets": [address] }] })
        })
        .collect();
    Ok(json!({
        "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
        "rule_files": [repository.join("deploy/prometheus/rules/*.yml")],
        "scrape_configs": jobs,
    }))
}
