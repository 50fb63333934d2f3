//! Runs the measurements and prints the report. Everything started has ended when this returns,
//! after errors and Ctrl-C too.

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    cli::{Measure, Options},
    deployment::Deployment,
    machine::Machine,
    measures::{self, Bench},
    report::{Figures, Report},
};

/// Runs the measurements of `options`, and prints the report.
#[tokio::main]
pub(crate) async fn run(options: &Options) -> Result<()> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let report = tokio::select! {
        report = measure(options) => report?,
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    };
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report).context("no JSON")?);
    } else {
        print!("{report}");
    }
    Ok(())
}

async fn measure(options: &Options) -> Result<Report> {
    let mut bench = Bench::new(Deployment::start(options).await?, options.clone());
    let machine = Machine::current(bench.deployment.redis.version().await?);
    let mut figures = Vec::new();
    for measure in Measure::value_variants().iter().copied() {
        if options.wants(measure) {
            eprintln!("measuring: {measure:?} …");
            figures.extend(one(&mut bench, measure).await?.all);
        }
    }
    Ok(Report::new(machine, options, figures))
}

async fn one(bench: &mut Bench, measure: Measure) -> Result<Figures> {
    match measure {
        Measure::Poll => measures::poll(bench).await.context("the status poll"),
        Measure::Join => measures::join(bench).await.context("the join"),
        Measure::Claim => measures::claim(bench).await.context("the claim"),
        Measure::Authorize => measures::authorize(bench).await.context("the authorizer"),
        Measure::AuthorizeBound => {
            measures::authorize_bound(bench).await.context("the authorizer, bound sessions")
        }
        Measure::ThroughNginx => measures::through_nginx(bench).await.context("through nginx"),
        Measure::Memory => measures::memory(bench).await.context("memory"),
        Measure::LongLine => measures::long_line(bench).await.context("a long line"),
        Measure::Scripts => measures::scripts(bench).await.context("scripts in large rooms"),
        Measure::IdleRooms => measures::idle_rooms(bench).await.context("idle rooms"),
        Measure::BusyRooms => measures::busy_rooms(bench).await.context("busy rooms"),
        Measure::Promotion => measures::promotion(bench).await.context("a promotion"),
        Measure::Replicas => measures::replicas(bench).await.context("waiting for a replica"),
        Measure::SignedCall => measures::signed_call(bench).await.context("the signed call"),
        Measure::Draw => Ok(measures::draw(bench)),
    }
}
