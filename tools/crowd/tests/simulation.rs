//! `vestibule-crowd simulate` as a user runs it, over a real Redis: what a simulated room must keep,
//! on a small scale. Time is virtual, so that no test waits for it.

use std::{fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;
use vestibule_tests::{Exited, Flavor, Process, Redis, eventually};

const PATIENCE: Duration = Duration::from_mins(3);

/// A Redis of a test's own, and a folder.
struct Ground {
    redis: Redis,
    dir: TempDir,
}

// === impl Ground ===

impl Ground {
    async fn new() -> Result<Self> {
        Ok(Self { redis: Redis::start(Flavor::Redis7).await?, dir: tempfile::tempdir()? })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn start(&self, arguments: &str) -> Result<Process> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vestibule-crowd"));
        command.env_clear().current_dir(self.path()).arg("simulate").arg("--json");
        command.arg("--redis").arg(self.redis.url()).args(arguments.split_whitespace());
        Process::start(&mut command, &self.path().join("simulation"))
    }

    /// Runs a simulation to its end; gives its report. Nothing of it may stay in Redis.
    async fn simulate(&self, arguments: &str) -> Result<Report> {
        let mut crowd = self.start(arguments)?;
        let ended = crowd.ended(PATIENCE).await?;
        ensure!(ended == Exited::Code(0), "{ended:?}: {}", crowd.log_end());
        assert_eq!(self.redis.keys().await?, 0, "the room stayed behind");
        Ok(Report(serde_json::from_str(&crowd.stdout()).context("the report is no JSON")?))
    }
}

/// A simulation's report.
struct Report(Value);

// === impl Report ===

impl Report {
    fn number(&self, path: &str) -> Result<f64> {
        self.0.pointer(path).and_then(Value::as_f64).with_context(|| format!("{path}: {}", self.0))
    }

    fn is_at_most(&self, path: &str, most: f64) -> Result<()> {
        let seen = self.number(path)?;
        ensure!(seen <= most, "{path} is {seen}, not at most {most}");
        Ok(())
    }

    fn is_at_least(&self, path: &str, least: f64) -> Result<()> {
        let seen = self.number(path)?;
        ensure!(seen >= least, "{path} is {seen}, not at least {least}");
        Ok(())
    }
}

/// Everyone present at once: 2,000 visitors for 200 seats.
const ALL_PRESENT: &str = "--visitors 2000 --ceiling 200 --arrive 1m --spoofed-arrivals --stay 20s \
                           --stay-spread exponential --seed 11";

fn kept_its_ceiling(report: &Report) -> Result<()> {
    report.is_at_most("/inside/highest", 200.0)?;
    report.is_at_most("/inside/highest_controller", 200.0)?;
    report.is_at_least("/inside/share_of_ceiling_while_waiting", 0.99)?;
    report.is_at_least("/visitors/left", 2000.0)?;
    report.is_at_most("/identities/duplicate_queue_numbers", 0.0)
}

#[tokio::test]
async fn in_fifo_those_who_came_first_enter_first() -> Result<()> {
    let ground = Ground::new().await?;
    let report = ground
        .simulate(&format!("{ALL_PRESENT} --plot a.svg --scatter b.svg --heat-map c.svg"))
        .await?;
    kept_its_ceiling(&report)?;
    report.is_at_least("/waiting/correlation_with_arrival", 0.99)?;
    for file in ["a.svg", "b.svg", "c.svg"] {
        let picture = fs::read_to_string(ground.path().join(file))?;
        ensure!(picture.contains("</svg>") && picture.len() < 1_000_000, "{file}");
    }
    Ok(())
}

#[tokio::test]
async fn in_random_the_time_of_arrival_does_not_matter() -> Result<()> {
    let ground = Ground::new().await?;
    let report = ground.simulate(&format!("{ALL_PRESENT} --method random")).await?;
    kept_its_ceiling(&report)?;
    // Three standard deviations of 2,000 independent pairs.
    report.is_at_most("/waiting/correlation_with_arrival", 0.067)?;
    report.is_at_least("/waiting/correlation_with_arrival", -0.067)?;
    let told = report.number("/estimates/all/calibration/judged")?;
    ensure!(told > 1000.0, "only {told} answers told quartiles");
    Ok(())
}

#[tokio::test]
async fn wherever_people_come_from_nobody_waits_for_a_free_slot() -> Result<()> {
    let ground = Ground::new().await?;
    let arguments = "--visitors 6000 --arrive 5m --ceiling 1200 --rate 1200 --stay 1m \
                     --stay-spread exponential --regions eu=0.6,us=0.3,ap=0.1 --shift-at 2m \
                     --shift-to ap --seed 5";
    let report = ground.simulate(arguments).await?;
    report.is_at_most("/simulation/queued_while_a_slot_was_free", 0.0)?;
    report.is_at_most("/inside/highest", 1200.0)?;
    report.is_at_most("/admissions/highest_in_a_minute", 1200.0)?;
    report.is_at_most("/admissions/highest_in_a_minute_controller", 1200.0)?;
    report.is_at_least("/simulation/regions/ap/arrived", 3000.0)?;
    report.is_at_least("/simulation/regions/ap/anywhere_slots", 1.0)
}

#[tokio::test]
async fn hidden_tabs_get_in_and_the_impatient_gain_nothing() -> Result<()> {
    let ground = Ground::new().await?;
    let arguments = "--visitors 1500 --arrive 30s --ceiling 200 --stay 20s --abandon 0.2 \
                     --stay-spread exponential --hidden 0.2 --impatient 0.1 --seed 6";
    let report = ground.simulate(arguments).await?;
    report.is_at_most("/inside/highest", 200.0)?;
    report.is_at_most("/visitors/never_admitted", 0.0)?;
    report.is_at_least("/visitors/abandoned", 150.0)
}

#[tokio::test]
async fn an_interrupted_simulation_leaves_nothing_behind() -> Result<()> {
    let ground = Ground::new().await?;
    let mut crowd = ground.start("--visitors 5000 --arrive 10h --ceiling 1")?;
    eventually(PATIENCE, "a room", || async {
        let keys = ground.redis.keys().await?;
        ensure!(keys > 2, "{keys} keys");
        Ok(())
    })
    .await?;
    crowd.terminate()?;
    let ended = crowd.ended(PATIENCE).await?;
    ensure!(ended == Exited::Code(1), "{ended:?}: {}", crowd.log_end());
    assert_eq!(ground.redis.keys().await?, 0);
    ensure!(crowd.stdout().contains("interrupted after"), "{}", crowd.log_end());
    Ok(())
}

#[tokio::test]
async fn a_redis_with_a_leader_is_left_alone() -> Result<()> {
    let ground = Ground::new().await?;
    let mut connection = ground.redis.connection().await?;
    redis::cmd("SET")
        .arg("vestibule:{deployment}:lease")
        .arg("some")
        .exec_async(&mut connection)
        .await?;
    let mut crowd = ground.start("--visitors 5 --ceiling 1")?;
    assert_eq!(crowd.ended(PATIENCE).await?, Exited::Code(1));
    ensure!(crowd.log_end().contains("a controller leads"), "{}", crowd.log_end());
    assert_eq!(ground.redis.keys().await?, 1);
    Ok(())
}
