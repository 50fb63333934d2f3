//! `vestibule-crowd`: a crowd of visitors for rehearsing a sale.
//!
//! Every visitor here is a real HTTP client of real admission services: it joins, checks in when
//! told to, claims its seat, stays and leaves, or closes its tab without a word. What comes out is
//! a report on what those visitors lived through. This is not a benchmark of single requests, and
//! nothing of the services is linked into it: it knows them only by their HTTP contract. Except in
//! `simulate`, where there are no services: there the rules and the store themselves are asked, in
//! virtual time.

mod answer;
mod cli;
mod client;
mod controller;
mod crowd;
mod duration;
#[cfg(test)]
mod fake;
mod house;
mod method;
mod number;
mod plan;
mod plot;
mod progress;
mod record;
mod report;
mod run;
mod simulate;
mod verify_draw;
mod visitor;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Ok(cli::Command::Run(options)) => run::run(*options).await,
        Ok(cli::Command::VerifyDraw(options)) => verify_draw::run(*options).await,
        Ok(cli::Command::Simulate(options)) => simulate::simulate(*options).await,
        Err(code) => code,
    }
}
