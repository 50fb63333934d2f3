//! A rehearsal as an operator makes it: the crowd tool against several instances, and what its
//! report must then say. How well the seats are used is measured elsewhere, without a test's haste.

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Exited, Process, ours};

/// Few enough for a line to form, however slowly the crowd comes in.
const CEILING: u64 = 20;

/// What one network may have, where hoarders come.
const JOINS: u64 = 10;
const PLACES: u64 = 8;
const SEATS: u64 = 4;
/// The part of the ceiling that hoarders, and one who shares its ticket, have then.
const TAKEN: f64 = 5.0 / 20.0;

/// Runs the crowd and gives its report.
async fn rehearse(deployment: &Deployment, room: &str, arguments: &[&str]) -> Result<Value> {
    let dir = tempfile::tempdir()?;
    let (log, plot) = (dir.path().join("report"), dir.path().join("sale.svg"));
    let mut command = Command::new(ours("vestibule-crowd")?);
    command.env_clear().env("VESTIBULE_API_TOKEN", deployment.secrets()[1]);
    command.args(["--json", "--room", room, "--seed", "1"]).args(arguments);
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
        "--create",
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
    let report = rehearse(&deployment, "sale", &arguments).await?;
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
    let mut arguments = vec!["--create", "--visitors", "150", "--arrive", "3s", "--stay", "1s"];
    arguments.extend(["--ceiling", &ceiling, "--session", "20s"]);
    arguments.extend(["--ghosts", "100", "--replayers", "4", "--idlers", "0.1"]);
    let report = rehearse(&deployment, "sale", &arguments).await?;
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

/// A crowd in a room with small limits per network, alone or in company; gives its report.
async fn rehearse_limited(deployment: &Deployment, room: &str, company: &[&str]) -> Result<Value> {
    let limits = json!({
        "total_active_users": CEILING, "session_duration_seconds": 20, "bind_sessions": "network",
        "joins_per_network_per_minute": JOINS, "places_per_network": PLACES, "seats_per_network": SEATS,
    });
    deployment.create_room(room, &limits).await?;
    let crowd = ["--visitors", "300", "--arrive", "3s", "--stay", "1s"];
    rehearse(deployment, room, &[&crowd[..], company].concat()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hoarders_get_what_one_network_may_have_and_everybody_else_the_rest() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let alone = rehearse_limited(&deployment, "quiet", &["--sharers", "2"]).await?;
    let company = ["--hoarders", "40", "--sharers", "9"];
    let report = rehearse_limited(&deployment, "sale", &company).await?;
    let number = |path: &str| report.pointer(path).and_then(Value::as_u64).context(path.to_owned());
    for path in ["/visitors/arrived", "/visitors/admitted", "/visitors/left"] {
        assert_eq!(number(path)?, 300, "{path}: {report}");
    }
    let (joins, away) =
        (number("/company/hoarders/joins")?, number("/company/hoarders/turned_away")?);
    let (places, seats) = (number("/company/hoarders/places")?, number("/company/hoarders/seats")?);
    ensure!(number("/company/hoarders/came")? == 40 && joins > 300, "they hardly tried: {report}");
    ensure!(away > joins * 9 / 10, "{away} of {joins} were turned away: {report}");
    let took = Duration::from_secs_f64(report["duration_seconds"].as_f64().context("a duration")?);
    ensure!(places <= JOINS * (took.as_secs() / 60 + 1), "{places} places: {report}");
    ensure!(places <= PLACES + seats, "{places} places and {seats} seats: {report}");
    let most = number("/company/hoarders/highest_seats")?;
    ensure!((1..=SEATS).contains(&most), "{most} seats at once: {report}");
    // One of the sharers is inside, and eight ask with its ticket.
    let shared = ["/company/sharers/let_in", "/company/sharers/kept_out"];
    assert_eq!([number(shared[0])?, number(shared[1])?], [0, 8], "{report}");

    let used = |report: &Value| report["inside"]["share_of_ceiling_while_waiting"].as_f64();
    let (used, without) = (used(&report).context("with")?, used(&alone).context("without")?);
    ensure!(used > without - TAKEN - 0.1, "visitors had {used} of the seats, and {without} alone");
    Ok(())
}
