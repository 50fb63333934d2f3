//! `vestibule-bench`: how fast the services are, as ratios against a bare axum route.
//!
//! It measures the programs that users run, over HTTP, with a Redis of its own, and prints each
//! figure with its target. A missed target is printed; it is not an error.
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

mod bare;
mod cli;
mod deployment;
mod driver;
mod machine;
mod measures;
mod programs;
mod redis_statistics;
mod report;
mod run;
mod sizing;
mod statistics;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let done = match &cli.command {
        Some(cli::Command::Bare { listen }) => bare::serve(*listen),
        Some(cli::Command::Sizing { report }) => {
            sizing::table(report).map(|table| print!("{table}"))
        }
        None => run::run(&cli.options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vestibule-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
