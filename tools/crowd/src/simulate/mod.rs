//! `simulate`: a sale in virtual time, so that hours pass in minutes. Options become a plan, `engine`
//! makes a record of it, and that is reported like any other. What is not simulated: HTTP, the sealing
//! of tickets, and signatures.

mod doorway;
mod engine;
mod experiment;
mod nights;
mod one_network;
mod options;
mod stop;
mod watched_doorway;

use std::time::Duration;

use anyhow::Context;
use vestibule_domain::RoomSettings;
use vestibule_simulation::{Habits, Origins};

pub(crate) use self::options::SimulateOptions;
use self::{engine::Plan, options::Experiment};
use crate::{
    charts,
    crowd::{Company, RoomOptions, Setting, draw_up},
    record::RunRecord,
    report::Report,
};

/// Runs a simulation, or an experiment, and prints its report. Says whether nothing was wrong.
///
/// # Errors
/// When it cannot be run, or its pictures cannot be written.
pub(crate) async fn run(options: &SimulateOptions) -> anyhow::Result<bool> {
    for note in options.notes() {
        eprintln!("vestibule-crowd: {note}");
    }
    if options.nights.are_asked_for() {
        return nights::run(&options.nights, &options.crowd, options.json).await;
    }
    match options.experiment {
        Some(Experiment::Cloudflare2021) => return experiment::run(options).await,
        Some(Experiment::OneNetwork) => return one_network::run(options).await,
        None => {}
    }
    options.pictures.check_folders()?;
    let run = simulate(options).await?;
    let report = Report::new(&run, false);
    report.print(options.json)?;
    charts::write(&options.pictures, &run)?;
    Ok(report.ok)
}

async fn simulate(options: &SimulateOptions) -> anyhow::Result<RunRecord> {
    let company = Company::new(&options.company, &options.crowd).map_err(anyhow::Error::msg)?;
    let company = company.with(options.hoarding);
    let setting = Setting { company, ..setting(options) };
    let shift = options.shift_at.zip(options.shift_to.as_deref());
    let origins = Origins::new(options.regions.clone(), shift).with_context(|| {
        let name = options.shift_to.as_deref().unwrap_or_default();
        format!("--shift-to {name}: no such region in --regions")
    })?;
    let plan = Plan {
        services: (options.admissions, options.controllers),
        room: room(options),
        visitors: draw_up(&options.crowd, setting.seed),
        hostile: company.draw_up(&options.crowd, setting.seed),
        habits: Habits { hidden: options.hidden, impatient: options.impatient },
        origins,
        opens: if options.spoofed_arrivals { options.crowd.arrive } else { Duration::ZERO },
        timeout: options.timeout,
        setting,
    };
    engine::run(plan).await
}

fn setting(options: &SimulateOptions) -> Setting {
    let RoomOptions { ceiling, rate, session, method } = options.limits;
    Setting {
        ceiling,
        rate_per_minute: rate,
        session_seconds: session.map(|session| session.as_secs_f64()),
        method,
        simulated: true,
        held_while_arriving: options.spoofed_arrivals,
        ..Setting::new("simulated", &options.crowd)
    }
}

fn room(options: &SimulateOptions) -> RoomSettings {
    let (default, limits) = (RoomSettings::default(), &options.limits);
    let session = limits.session.map(|session| session.as_secs().max(1));
    RoomSettings {
        queueing_method: limits.method.unwrap_or(default.queueing_method),
        total_active_users: limits.ceiling.map(u64::from),
        new_users_per_minute: limits.rate.map(u64::from),
        session_duration_seconds: session.unwrap_or(default.session_duration_seconds),
        poll_budget_per_second: options.poll_budget.unwrap_or(default.poll_budget_per_second),
        ..default
    }
}
