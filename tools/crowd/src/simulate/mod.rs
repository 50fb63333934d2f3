//! `simulate`: a sale in virtual time. The room is real, in a real Redis, with the real scripts, and
//! its rules are the services' own; only the visitors and the clock are made up, so that hours pass
//! in minutes. What is not simulated: HTTP, tickets and tokens, several services, failures.

mod agenda;
mod book;
mod crowd;
mod experiment;
mod meter;
mod regions;
mod spare;
mod stop;
mod traffic;
mod visitor;
mod world;

use std::process::ExitCode;

use vestibule_domain::RoomSettings;

pub(crate) use self::{book::Simulation, regions::RegionMix};
use self::{
    crowd::{Crowd, Shape},
    regions::Origins,
    stop::Stop,
    visitor::Habits,
    world::World,
};
use crate::{
    cli::SimulateOptions,
    crowd::Over,
    house::HouseRules,
    plan::{self, CrowdShape},
    plot,
    record::RunRecord,
    report::{Report, Setting},
};

/// Runs a simulation, or an experiment, and prints its report.
pub(crate) async fn simulate(options: SimulateOptions) -> ExitCode {
    let done = match options.experiment {
        Some(_) => experiment::run(&options).await,
        None => one(&options).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("vestibule-crowd: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing was wrong.
async fn one(options: &SimulateOptions) -> anyhow::Result<bool> {
    let done = run(options).await?;
    plot::write(&options.pictures, &done.record, &done.setting)?;
    print!("{}", if options.json { done.report.json()? + "\n" } else { done.report.text() });
    Ok(done.report.ok())
}

/// A simulation that has ended.
#[derive(Debug)]
struct Done {
    setting: Setting,
    record: RunRecord,
    report: Report,
}

async fn run(options: &SimulateOptions) -> anyhow::Result<Done> {
    let setting = setting(options);
    let plans = plan::draw_up(&shape(options), setting.seed);
    let origins =
        Origins::new(options.regions.clone(), options.shift_at.zip(options.shift_to.as_deref()))?;
    let settings = room_settings(options)?;
    let opens = if options.spoofed_arrivals { options.arrive } else { std::time::Duration::ZERO };
    // Before the room is there: it must not stay behind.
    let mut stop = Stop::listen()?;
    let world = World::create(&options.redis, settings.clone(), !opens.is_zero()).await?;
    let mut crowd = Crowd::new(
        world,
        &settings,
        &plans,
        Shape {
            rules: HouseRules::of(&setting),
            habits: Habits { hidden: options.hidden, impatient: options.impatient },
            origins,
            opens,
            tick: options.tick,
            timeout: options.timeout,
            seed: setting.seed,
        },
    );
    drop(plans);
    let over = tokio::select! {
        over = crowd.run() => over,
        () = stop.asked() => Ok(Over::Interrupted),
    };
    // Also when something went wrong.
    let ended = crowd.end().await;
    let (over, (record, simulation)) = (over?, ended?);
    let report = Report::of_simulation(setting.clone(), &record, over, simulation);
    Ok(Done { setting, record, report })
}

fn shape(options: &SimulateOptions) -> CrowdShape {
    CrowdShape {
        visitors: options.visitors,
        arrive: options.arrive,
        arrivals: options.arrivals,
        stay: options.stay,
        stay_spread: options.stay_spread,
        abandon: options.abandon,
    }
}

fn setting(options: &SimulateOptions) -> Setting {
    Setting {
        room: "simulated".to_owned(),
        visitors: options.visitors,
        arrive_seconds: options.arrive.as_secs_f64(),
        stay_seconds: options.stay.as_secs_f64(),
        abandon: options.abandon,
        leave_silently: false,
        seed: options.seed.unwrap_or_else(plan::fresh_seed),
        ceiling: options.ceiling,
        rate_per_minute: options.rate,
        session_seconds: Some(options.session.as_secs_f64()),
        method: Some(options.method),
        simulated: true,
        held_while_arriving: options.spoofed_arrivals,
    }
}

fn room_settings(options: &SimulateOptions) -> anyhow::Result<RoomSettings> {
    let default = RoomSettings::default();
    let method = serde_json::to_value(options.method)?;
    Ok(RoomSettings {
        queueing_method: serde_json::from_value(method)?,
        total_active_users: options.ceiling.map(u64::from),
        new_users_per_minute: options.rate.map(u64::from),
        session_duration_seconds: options.session.as_secs().max(1),
        poll_budget_per_second: options.poll_budget.unwrap_or(default.poll_budget_per_second),
        ..default
    })
}
