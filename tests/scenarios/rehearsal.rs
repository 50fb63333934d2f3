//! A rehearsal as an operator makes it: the crowd tool against several instances, and what its
//! report must then say. How well the seats are used is measured elsewhere, without a test's haste.

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use vestibule_tests::{Deployment, Exited, Process, ours};

/// Few enough for a line to form, however slowly the crowd comes in.
const CEILING: u64 = 20;

/// Runs the crowd and gives its report.
async fn rehearse(deployment: &Deployment, arguments: &[&str]) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let (log, plot) = (dir.path().join("report"), dir.path().join("sale.svg"));
    let mut command = Command::new(ours("vestibule-crowd")?);
    command.env_clear().env("VESTIBULE_API_TOKEN", deployment.secrets()[1]);
    command.args(["--json", "--create", "--room", "sale", "--seed", "1"]).args(arguments);
    for admission in deployment.admissions().each() {
        command.arg("--admission").arg(admission.at("")?);
    }
    command.arg("--controller").arg(deployment.controllers().at("")?);
    command.arg("--plot").arg(&plot);
    let mut crowd = Process::start(&mut command, &log)?;
    let ended = crowd.ended(Duration::from_mins(2)).await?;
    ensure!(ended == Exited::Code(0), "{ended:?}: {}", crowd.log_end());
    ensure!(fs::read_to_string(&plot)?.contains("</svg>"), "no picture");
    serde_json::from_str(&crowd.stdout()).context("the report is no JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_gets_through_and_the_report_says_how() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let ceiling = CEILING.to_string();
    let arguments = [
        "--visitors",
        "300",
        "--arrive",
        "3s",
        "--stay",
        "1s",
        "--abandon",
        "0.2",
        "--ceiling",
        &ceiling,
        "--session",
        "20s",
    ];
    let report = rehearse(&deployment, &arguments).await?;
    let number = |path: &str| report.pointer(path).and_then(Value::as_u64).context(path.to_owned());
    assert_eq!(number("/visitors/arrived")?, 300);
    let (admitted, abandoned) = (number("/visitors/admitted")?, number("/visitors/abandoned")?);
    assert_eq!(admitted + abandoned, 300, "{report}");
    ensure!(abandoned > 0 && number("/waiting/highest")? > 0, "nobody ever waited: {report}");
    let highest = number("/inside/highest")?.max(number("/inside/highest_controller")?);
    ensure!(highest <= CEILING, "{highest} were inside: {report}");
    for path in ["/identities/duplicate_queue_numbers", "/identities/duplicate_request_ids"] {
        assert_eq!(number(path)?, 0, "{path}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_hostile_company_everybody_still_gets_in_and_the_report_tells_them_apart() -> Result<()>
{
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let ceiling = CEILING.to_string();
    let mut arguments = vec!["--visitors", "150", "--arrive", "3s", "--stay", "1s"];
    arguments.extend(["--ceiling", &ceiling, "--session", "20s"]);
    arguments.extend(["--ghosts", "100", "--replayers", "4", "--idlers", "0.1"]);
    let report = rehearse(&deployment, &arguments).await?;
    let number = |path: &str| report.pointer(path).and_then(Value::as_u64).context(path.to_owned());
    for path in ["/visitors/arrived", "/visitors/admitted", "/visitors/left"] {
        assert_eq!(number(path)?, 150, "{path}: {report}");
    }
    let came = ["/company/ghosts/taken", "/company/replayers/came", "/company/idlers/came"];
    assert_eq!([number(came[0])?, number(came[1])?, number(came[2])?], [100, 4, 17], "{report}");
    let replayed = number("/company/replayers/calls/status")?;
    ensure!(replayed > 4 * number("/company/replayers/came")?, "nothing was replayed: {report}");
    assert_eq!(number("/company/idlers/calls/claim")?, 0, "an idler claimed: {report}");
    // Of company no call is among the visitors'.
    assert_eq!(number("/latency/join/count")?, 150, "{report}");
    let inside = ["/company/highest_inside_with_visitors", "/inside/highest_controller"];
    let highest = number(inside[0])?.max(number(inside[1])?);
    ensure!(highest <= CEILING, "{highest} were inside: {report}");
    assert_eq!(number("/identities/duplicate_queue_numbers")?, 0);
    Ok(())
}
