//! Services that write their history through a small sale with everything in it, and the check that
//! finds nothing in it; and the same histories, doctored, in which it does.

use std::{fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use vestibule_tests::{Deployment, Exited, Process, Service, claims_of, ours};

use crate::crowd::{self, Manner, all_of, enter_all, stay_and_leave};

const SOON: Duration = Duration::from_secs(30);
const INSTANCES: [(Service, usize); 4] = [
    (Service::Admission, 0),
    (Service::Admission, 1),
    (Service::Controller, 0),
    (Service::Controller, 1),
];

/// Three seats and a crowd, of whom one leaves and one is sent away; more seats; a reset; and an end.
async fn sale(deployment: &Deployment) -> Result<()> {
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({ "total_active_users": 3 })).await?;
    let guests = crowd::join(deployment, "sale", 12).await?;
    let leave = |inside| stay_and_leave(inside, Duration::from_millis(300));
    all_of(enter_all(guests, Manner::Hammering, leave)).await?;

    let mut sent_away = deployment.visitor("sale");
    sent_away.join().await?.expect(200)?;
    let token = sent_away.claims(SOON).await?.text_of("access_token")?;
    let path = format!("/v1/rooms/sale/sessions/{}", claims_of(&token)?.sub);
    operator.call(Method::DELETE, &path, None).await?.expect(204)?;
    sent_away.sees("closed", SOON).await?;
    operator.patch_room("sale", &json!({ "total_active_users": 5 })).await?.expect(200)?;
    crowd::join(deployment, "sale", 7).await?;

    operator.call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    let fresh = deployment.visitor("sale").join().await?.expect(200)?;
    assert_eq!(fresh.number("queue_number")?, 1, "{}", fresh.text);
    operator.call(Method::DELETE, "/v1/rooms/sale?people=1", None).await?.expect(204)?;
    Ok(())
}

/// Runs the sale; gives the folder of what the services wrote. Each of them stopped in order.
async fn written() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().to_str().context("a name")?;
    let builder = Deployment::builder().admissions(2).controllers(2);
    let mut deployment = builder.environment("VESTIBULE_HISTORY", path).start().await?;
    sale(&deployment).await?;
    for (service, index) in INSTANCES {
        deployment.process_mut(service, index).terminate()?;
    }
    for (service, index) in INSTANCES {
        let ended = deployment.process_mut(service, index).ended(SOON).await?;
        ensure!(ended == Exited::Code(0), "{ended:?}");
    }
    for secret in deployment.secrets() {
        for file in fs::read_dir(folder.path())? {
            ensure!(!fs::read_to_string(file?.path())?.contains(secret), "a secret is in it");
        }
    }
    Ok(folder)
}

/// What the check says of the histories in `folder`.
async fn check(folder: &Path, ends: Exited) -> Result<Value> {
    let log = tempfile::tempdir()?;
    let mut command = Command::new(ours("vestibule-crowd")?);
    command.env_clear().arg("check-history").arg(folder).arg("--json");
    let mut check = Process::start(&mut command, &log.path().join("check"))?;
    let ended = check.ended(Duration::from_mins(1)).await?;
    ensure!(ended == ends, "{ended:?}: {}{}", check.stdout(), check.log_end());
    serde_json::from_str(&check.stdout()).context("no JSON")
}

/// Writes every line of the histories anew; returns how many have changed.
fn doctor(folder: &Path, change: impl Fn(&str) -> String) -> Result<usize> {
    let mut changed = 0;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let before = fs::read_to_string(&path)?;
        let after: Vec<String> = before.lines().map(&change).collect();
        changed += before.lines().zip(&after).filter(|(before, after)| before != after).count();
        fs::write(&path, after.join("\n") + "\n")?;
    }
    Ok(changed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_services_write_down_contradicts_nothing_until_it_is_doctored() -> Result<()> {
    let folder = written().await?;
    let report = check(folder.path(), Exited::Code(0)).await?;
    let figure = |name: &str| report["figures"][name].as_u64().context(name.to_owned());
    assert_eq!(figure("numbers")?, 12 + 1 + 7 + 1, "{report}");
    ensure!(figure("entries")? >= 14 && figure("ended")? >= 13, "{report}");
    assert_eq!(figure("unknown")?, 0, "{report}");

    // As if the operator had never allowed more than two.
    let fewer = |line: &str| {
        line.replace(r#""ceiling":3"#, r#""ceiling":2"#).replace(r#""ceiling":5"#, r#""ceiling":2"#)
    };
    ensure!(doctor(folder.path(), fewer)? > 0, "nothing was written about the ceiling");
    let report = check(folder.path(), Exited::Code(1)).await?;
    let found = report["violations"].as_array().context("violations")?;
    ensure!(!found.is_empty(), "{report}");
    for violation in found {
        assert_eq!(violation["invariant"], "ceiling", "{violation}");
        ensure!(violation["evidence"].as_array().is_some_and(|e| e.len() == 2), "{violation}");
    }
    Ok(())
}
