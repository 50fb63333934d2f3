//! `run`: a rehearsal from beginning to end, with real visitors over HTTP: prepare, let the crowd
//! loose, report. The parts are in the files beside this one; this is the order they come in.

mod answer;
mod client;
mod controller;
#[cfg(test)]
mod fake;
mod journey;
mod options;
mod recorder;
mod visits;

use std::{fs, sync::Arc, time::Duration};

use anyhow::Context;
use secrecy::SecretString;
use tokio::time::{Instant, interval};

pub(crate) use self::options::RunOptions;
use self::{
    client::Client,
    controller::{Controller, RoomLimits},
    journey::HouseRules,
    recorder::Recorder,
    visits::Ground,
};
use crate::{
    charts,
    crowd::{self, Setting, number::natural},
    progress::{Progress, REFRESH},
    record::RunRecord,
    report::Report,
};

/// Files the process needs besides connections to admission.
const FILES_KEPT_FREE: usize = 64;

/// How long a new room may take to be known everywhere before the crowd comes all the same.
const ROOM_HEARD_WITHIN: Duration = Duration::from_secs(5);

/// Runs a rehearsal and prints its report. Says whether nothing was wrong.
///
/// # Errors
/// When it cannot be begun, or its pictures cannot be written.
pub(crate) async fn run(options: &RunOptions) -> anyhow::Result<bool> {
    let run = rehearse(options).await?;
    let report = Report::new(&run, options.expect_outages);
    charts::write(&options.pictures, &run)?;
    report.print(options.json)?;
    Ok(report.ok())
}

async fn rehearse(options: &RunOptions) -> anyhow::Result<RunRecord> {
    let controller = controller(options)?;
    let limits = limits(options, controller.as_ref()).await?;
    send(options, setting(options, &limits), controller).await
}

fn controller(options: &RunOptions) -> anyhow::Result<Option<Controller>> {
    let Some(base) = &options.controller else { return Ok(None) };
    let from_file = |path| fs::read_to_string(path).context("reading the API token's file");
    let read = options.api_token_file.as_ref().map(from_file).transpose()?;
    let token = options.api_token.clone().or(read.map(SecretString::from));
    Controller::new(base, options.room.as_str(), token).map(Some)
}

/// What the options say, else what the controller says.
async fn limits(
    options: &RunOptions,
    controller: Option<&Controller>,
) -> anyhow::Result<RoomLimits> {
    let session = options.session.map(|session| natural(session.as_secs_f64().ceil()));
    let asked = RoomLimits {
        total_active_users: options.ceiling,
        new_users_per_minute: options.rate,
        session_duration_seconds: session.and_then(|s| u32::try_from(s).ok()),
        queueing_method: options.method,
    };
    let Some(controller) = controller else { return Ok(asked) };
    if options.create {
        controller.create(&asked).await?;
    }
    let said = controller.limits().await?;
    Ok(RoomLimits {
        total_active_users: asked.total_active_users.or(said.total_active_users),
        new_users_per_minute: asked.new_users_per_minute.or(said.new_users_per_minute),
        session_duration_seconds: asked.session_duration_seconds.or(said.session_duration_seconds),
        queueing_method: asked.queueing_method.or(said.queueing_method),
    })
}

fn setting(options: &RunOptions, limits: &RoomLimits) -> Setting {
    Setting {
        leave_silently: options.leave_silently,
        ceiling: limits.total_active_users,
        rate_per_minute: limits.new_users_per_minute,
        session_seconds: limits.session_duration_seconds.map(f64::from),
        method: limits.queueing_method,
        ..Setting::new(options.room.as_str(), &options.crowd)
    }
}

async fn send(
    options: &RunOptions,
    setting: Setting,
    controller: Option<Controller>,
) -> anyhow::Result<RunRecord> {
    let plans = crowd::draw_up(&options.crowd, setting.seed);
    let client = Client::new(&options.admission, options.room.as_str(), connections(options))?;
    if options.create {
        client.await_room(ROOM_HEARD_WITHIN).await;
    }
    let recorder = Recorder::new(plans.len(), Instant::now());
    let ground = Arc::new(Ground { client, recorder, rules: HouseRules::new(&setting) });
    let shown = tokio::spawn(show_progress(ground.clone()));
    let sampled = controller.map(|controller| {
        let ground = ground.clone();
        tokio::spawn(async move { controller.sample(&ground.recorder).await })
    });
    let over = visits::run(ground.clone(), plans, options.timeout).await;
    let run = ground.recorder.close(Instant::now());
    for task in [Some(shown), sampled].into_iter().flatten() {
        task.abort();
        // It was told to end: how it does says nothing.
        let _ = task.await;
    }
    Ok(RunRecord { setting, over, ..run })
}

/// Shows progress for as long as it is polled.
async fn show_progress(ground: Arc<Ground>) {
    let (mut progress, mut ticks) = (Progress::new(), interval(REFRESH));
    loop {
        ticks.tick().await;
        progress.show(|| {
            let (tally, errors) = ground.recorder.tally();
            let seconds = ground.recorder.since_start(Instant::now());
            let sentence = format!("{seconds:.0} s: {}, {errors} errors", tally.sentence());
            (tally.progress(), sentence)
        });
    }
}

/// As many connections per service as asked for, unless the open-file limit forbids it.
fn connections(options: &RunOptions) -> usize {
    let asked = usize::try_from(options.connections).unwrap_or(usize::MAX);
    let Some(files) = open_file_limit() else { return asked };
    let most = (files.saturating_sub(FILES_KEPT_FREE) / options.admission.len()).max(1);
    if asked > most {
        eprintln!("the open-file limit of {files} allows {most} connections per service");
    }
    asked.min(most)
}

/// The soft limit, where the system tells it as a file.
fn open_file_limit() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
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
        let error = limits(&options, controller.as_ref()).await.unwrap_err();
        assert!(format!("{error:#}").contains("401"), "{error:#}");
        assert!(!format!("{error:#}").contains("thief"));
    }
}
