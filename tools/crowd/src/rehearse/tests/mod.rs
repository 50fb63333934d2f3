//! Rehearsals against a room that is kept in memory.

mod fake;

use super::*;
use crate::cli;

/// Options as the command line gives them, aimed at these services.
fn options(args: &str, services: &[reqwest::Url]) -> RunOptions {
    let aim = services.iter().map(|base| format!("--admission={base}"));
    let args = format!("crowd --seed 7 {args}");
    let args = args.split_whitespace().map(str::to_owned).chain(aim).map(Into::into);
    let Ok(cli::Command::Run(options)) = cli::parse(args) else {
        panic!("these options are fine");
    };
    *options
}

async fn report(options: &RunOptions) -> serde_json::Value {
    let run = rehearse(options).await.unwrap();
    serde_json::to_value(Report::new(&run, options.expect_outages)).unwrap()
}

#[tokio::test]
async fn a_whole_crowd_goes_through_the_room_in_order() {
    let services = fake::serve(10, 2).await;
    let args = "--visitors 150 --arrive 300ms --stay 200ms --abandon 0.2 --ceiling 10";
    let report = report(&options(args, &services)).await;
    assert_eq!(report["problems"], serde_json::json!([]));
    let count = |path: &str| report.pointer(path).unwrap().as_u64().unwrap();
    let (admitted, abandoned) = (count("/visitors/admitted"), count("/visitors/abandoned"));
    assert_eq!(admitted + abandoned, 150);
    assert!((5..60).contains(&abandoned), "{abandoned} closed the tab");
    assert_eq!(count("/inside/highest"), 10);
    assert_eq!(count("/latency/join/count"), 150);
    assert!(count("/errors/503") > 5, "the service sheds now and then");
    let share = report["inside"]["share_of_ceiling_while_waiting"].as_f64().unwrap();
    assert!((0.3..=1.0).contains(&share), "{share}");
}

#[tokio::test]
async fn a_run_that_is_cut_short_says_so() {
    let services = fake::serve(1, 1).await;
    let args = "--visitors 5 --arrive 0 --stay 60s --timeout 400ms";
    let report = report(&options(args, &services)).await;
    assert_eq!(report["ok"], false);
    assert_eq!(report["visitors"]["unfinished"], 5);
    assert_eq!(report["inside"]["highest"], 1);
}

#[tokio::test]
async fn one_dead_service_of_two_loses_nobody() {
    let mut services = fake::serve(50, 1).await;
    services.push("http://127.0.0.1:1".parse().unwrap());
    let args = "--visitors 30 --arrive 100ms --stay 50ms --expect-outages";
    let report = report(&options(args, &services)).await;
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(report["visitors"]["left"], 30);
    assert!(report["errors"]["connect"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn creates_the_room_and_reports_the_controllers_view() {
    let services = fake::serve(1, 1).await;
    let controller = format!("--controller={}controller --api-token operator", services[0]);
    let args = format!(
        "{controller} --create --ceiling 8 --session 90s --visitors 40 --arrive 0 --stay 600ms"
    );
    let report = report(&options(&args, &services)).await;
    assert_eq!(report["problems"], serde_json::json!([]));
    assert_eq!(report["setting"]["ceiling"], 8);
    assert_eq!(report["setting"]["session_seconds"], 90.0);
    assert_eq!(report["inside"]["highest"], 8);
    assert!(report["inside"]["highest_controller"].as_i64().unwrap() > 0);
    assert!(report["inside"]["share_of_ceiling_while_waiting_controller"].is_f64());
}

#[tokio::test]
async fn a_wrong_token_ends_the_run_before_it_starts() {
    let services = fake::serve(1, 1).await;
    let args = format!("--controller={}controller --api-token thief --create", services[0]);
    let options = options(&args, &services);
    let controller = controller(&options).unwrap();
    let error = limits(&options, false, controller.as_ref()).await.unwrap_err();
    assert!(format!("{error:#}").contains("401"), "{error:#}");
    assert!(!format!("{error:#}").contains("thief"));
}

#[tokio::test]
async fn hostile_company_is_reported_apart_from_the_visitors() {
    let services = fake::serve(30, 2).await;
    let args = "--visitors 100 --arrive 300ms --stay 200ms --ceiling 30 --ghosts 0.5 --replayers 3 \
                --idlers 0.1";
    let report = report(&options(args, &services)).await;
    assert_eq!(report["problems"], serde_json::json!([]));
    let count = |path: &str| report.pointer(path).unwrap().as_u64().unwrap();
    assert_eq!((count("/visitors/left"), count("/latency/join/count")), (100, 100));
    assert_eq!((count("/company/ghosts/taken"), count("/company/replayers/came")), (100, 3));
    assert!(count("/company/ghosts/calls") > 100, "the service sheds now and then");
    assert!(count("/company/idlers/calls/status") > 11, "{report}");
    assert_eq!(count("/company/idlers/calls/claim"), 0);
}

#[tokio::test]
async fn a_rehearsal_without_its_ghosts_is_wrong() {
    let services = fake::serve(10, 1).await;
    let elsewhere = format!("--visitors 5 --arrive 0 --stay 0 --ghosts 3 --room {}", fake::NO_ROOM);
    let report = report(&options(&elsewhere, &services)).await;
    let problem = report["problems"][0].as_str().unwrap();
    assert!(problem.contains("only 0 of 3 ghosts") && problem.contains("400"), "{problem}");
}

#[tokio::test]
async fn hoarders_and_sharers_are_told_apart_from_visitors_and_from_each_other() {
    let services = fake::serve(30, 2).await;
    let args = "--visitors 100 --arrive 300ms --stay 200ms --ceiling 30 --hoarders 3 --sharers 5";
    let report = report(&options(args, &services)).await;
    assert_eq!(report["problems"], serde_json::json!([]));
    let count = |path: &str| report.pointer(path).unwrap().as_u64().unwrap();
    assert_eq!((count("/visitors/left"), count("/latency/join/count")), (100, 100));
    assert_eq!((count("/company/hoarders/came"), count("/company/sharers/came")), (3, 5));
    assert!(count("/company/hoarders/joins") > 3, "{report}");
    assert!(count("/company/hoarders/highest_seats") > 3, "nobody keeps them from it: {report}");
}
