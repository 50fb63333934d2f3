//! The profile `observe`: Prometheus hears every instance, and has taken in the alarms. Grafana's image is not looked at: no
//! package has it; its board is tested where the alarms are (`scripts/alerts.sh`).

use std::{collections::BTreeSet, env};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use vestibule_tests::{Reply, eventually};

use crate::{SOON, project::Project, say};

const SKIP: &str = "VESTIBULE_TEST_SKIP_PROMETHEUS";

/// Brings up Prometheus beside what runs, and waits until it hears all of it.
pub(crate) async fn by_prometheus(project: &Project<'_>) -> Result<()> {
    if env::var_os(SKIP).is_some_and(|value| value == "1") {
        say(&format!("WARNING: {SKIP}=1: Prometheus of docker-compose.yml is NOT tested"));
        return Ok(());
    }
    project.add_prometheus()?;
    eventually(SOON, "Prometheus hears all instances", || async {
        let heard = heard_by(project).await?;
        let all =
            ["admission-1:9080", "admission-2:9080", "controller-1:9081", "controller-2:9081"];
        ensure!(heard == all.map(str::to_owned).into(), "it hears {heard:?}");
        Ok(())
    })
    .await?;
    eventually(SOON, "Prometheus has evaluated every rule", || knows_alarms(project)).await
}

/// The instances that it has asked, and that have answered.
async fn heard_by(project: &Project<'_>) -> Result<BTreeSet<String>> {
    let told = asked(project, "targets?state=active").await?;
    let targets = told["activeTargets"].as_array().context("no targets")?;
    let heard = targets.iter().filter(|target| target["health"] == "up");
    Ok(heard.filter_map(|target| Some(target["labels"]["instance"].as_str()?.to_owned())).collect())
}

async fn knows_alarms(project: &Project<'_>) -> Result<()> {
    let told = asked(project, "rules?type=alert").await?;
    let groups = told["groups"].as_array().context("no groups")?;
    let rules: Vec<&Value> =
        groups.iter().filter_map(|group| group["rules"].as_array()).flatten().collect();
    ensure!(!rules.is_empty(), "it has no alarms: {told}");
    let unwell: Vec<_> = rules.iter().filter(|rule| rule["health"] != "ok").collect();
    ensure!(unwell.is_empty(), "these cannot be evaluated: {unwell:?}");
    Ok(())
}

async fn asked(project: &Project<'_>, what: &str) -> Result<Value> {
    let address = format!("http://127.0.0.1:{}/api/v1/{what}", project.prometheus);
    let reply = Reply::of(reqwest::Client::builder().no_proxy().build()?.get(address)).await?;
    Ok(reply.expect(200)?.body["data"].clone())
}
