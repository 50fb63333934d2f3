//! `run`: a rehearsal from beginning to end, with real visitors over HTTP: prepare, let the crowd
//! loose, report. The parts are in the files beside this one; this is the order they come in.

mod answer;
mod client;
mod controller;
mod options;
mod senders;
#[cfg(test)]
mod tests;

use std::{fs, sync::Arc, time::Duration};

use anyhow::Context;
use secrecy::SecretString;
use tokio::time::{Instant, interval};

pub(crate) use self::options::RunOptions;
use self::{
    client::Client,
    controller::{Controller, RoomLimits},
};
use crate::{
    charts,
    crowd::{self, Company, RoomOptions, Senders, Setting, number::natural},
    progress::{Progress, REFRESH},
    record::{GhostLog, RunRecord},
    report::Report,
    visits::{self, Ground, HouseRules, Recorder, company},
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
    options.pictures.check_folders()?;
    let run = rehearse(options).await?;
    let report = Report::new(&run, options.expect_outages);
    report.print(options.json)?;
    charts::write(&options.pictures, &run)?;
    Ok(report.ok)
}

async fn rehearse(options: &RunOptions) -> anyhow::Result<RunRecord> {
    let company = Company::new(&options.company, &options.crowd).map_err(anyhow::Error::msg)?;
    let company = company.with(options.hoarding);
    let controller = controller(options)?;
    let limits = limits(options, company.has_networks(), controller.as_ref()).await?;
    let setting = Setting { company, ..setting(options, &limits) };
    send(options, setting, controller).await
}

fn controller(options: &RunOptions) -> anyhow::Result<Option<Controller>> {
    let Some(base) = &options.at.controller else { return Ok(None) };
    let from_file = |path| fs::read_to_string(path).context("reading the API token's file");
    let read = options.at.api_token_file.as_ref().map(from_file).transpose()?;
    let token = options.at.api_token.clone().or(read.map(SecretString::from));
    Controller::new(base, options.at.room.as_str(), token).map(Some)
}

/// What the options say, else what the controller says.
async fn limits(
    options: &RunOptions,
    has_networks: bool,
    controller: Option<&Controller>,
) -> anyhow::Result<RoomLimits> {
    let RoomOptions { ceiling, rate, session, method } = options.limits;
    let session = session.map(|session| natural(session.as_secs_f64().ceil()));
    let asked = RoomLimits {
        total_active_users: ceiling,
        new_users_per_minute: rate,
        session_duration_seconds: session.and_then(|s| u32::try_from(s).ok()),
        queueing_method: method,
    };
    let Some(controller) = controller else { return Ok(asked) };
    if options.create {
        controller.create(&asked, has_networks).await?;
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
        ..Setting::new(options.at.room.as_str(), &options.crowd)
    }
}

async fn send(
    options: &RunOptions,
    setting: Setting,
    controller: Option<Controller>,
) -> anyhow::Result<RunRecord> {
    let plans = crowd::draw_up(&options.crowd, setting.seed);
    let connections = connections(options, &setting.company);
    let hostile = setting.company.draw_up(&options.crowd, setting.seed);
    let (at, room) = (&options.at.admission, options.at.room.as_str());
    let new_client = |senders| Client::new(at, room, connections, senders).map(Arc::new);
    let (visitors, company) = if setting.company.has_networks() {
        (Senders::Visitors, Senders::company(&hostile))
    } else {
        (Senders::Untold, Senders::Untold)
    };
    // Company has connections of its own, so that no visitor waits for one because of it.
    let (client, besiegers) = (new_client(visitors)?, new_client(company)?);
    if options.create {
        client.await_room(ROOM_HEARD_WITHIN).await;
    }
    let ghosts = ghosts(options, &setting, connections, &besiegers).await;
    let recorder = Arc::new(Recorder::new(plans.len(), Instant::now()));
    recorder.write(|book| book.company.ghosts = ghosts);
    let mut hostile = company::send(&besiegers, &recorder, hostile);
    let rules = HouseRules::new(&setting);
    let ground = Arc::new(Ground { way: client, recorder: Arc::clone(&recorder), rules });
    let shown = tokio::spawn(show_progress(recorder.clone()));
    let sampled = controller.map(|controller| {
        let recorder = recorder.clone();
        tokio::spawn(async move { controller.sample(&recorder).await })
    });
    let interrupted = async {
        // Where the system tells of no interrupts, there are none.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let over = visits::run(&ground, plans, options.timeout, interrupted).await;
    hostile.shutdown().await;
    let run = recorder.close(Instant::now());
    for task in [Some(shown), sampled].into_iter().flatten() {
        task.abort();
        // It was told to end: how it does says nothing.
        let _ = task.await;
    }
    Ok(RunRecord { setting, over, ..run })
}

/// Takes the ghosts' numbers, with as many calls at a time as there are connections.
async fn ghosts(
    options: &RunOptions,
    setting: &Setting,
    connections: usize,
    way: &Arc<Client>,
) -> GhostLog {
    let count = setting.company.ghosts;
    if count > 0 {
        eprintln!("taking the numbers of {count} ghosts");
    }
    let at_a_time = u32::try_from(connections * options.at.admission.len()).unwrap_or(u32::MAX);
    company::take_numbers(way, count, at_a_time, setting.seed).await
}

/// Shows progress for as long as it is polled.
async fn show_progress(recorder: Arc<Recorder>) {
    let (mut progress, mut ticks) = (Progress::new(), interval(REFRESH));
    loop {
        ticks.tick().await;
        progress.show(|| {
            let (tally, errors) = recorder.tally();
            let seconds = recorder.since_start(Instant::now());
            let sentence = format!("{seconds:.0} s: {}, {errors} errors", tally.sentence());
            (tally.progress(), sentence)
        });
    }
}

/// As many connections per service as asked for, unless the open-file limit forbids it.
fn connections(options: &RunOptions, company: &Company) -> usize {
    let asked = usize::try_from(options.connections).unwrap_or(usize::MAX);
    let Some(files) = open_file_limit() else { return asked };
    let clients = if company.is_empty() { 1 } else { 2 };
    let services = options.at.admission.len() * clients;
    let most = (files.saturating_sub(FILES_KEPT_FREE) / services).max(1);
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
