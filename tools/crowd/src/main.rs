//! `vestibule-crowd`: a crowd of visitors for rehearsing a sale, for simulating one, and for checking
//! a draw.
//!
//! Every visitor of a rehearsal is a real HTTP client of real admission services: it joins, checks in
//! when told to, claims its seat, stays and leaves, or closes its tab without a word. What comes out
//! is a report on what those visitors lived through. This is not a benchmark of single requests, and
//! a rehearsal knows the services only by their HTTP contract. `simulate` needs none: there they run
//! inside, in virtual time.
//!
//! Imports lead one way: `cli`, then the programs (`rehearse`, `simulate`, `verify_draw`, `check_history`),
//! then a crowd on its way (`visits`) and what is shown of it (`report`, `charts`), then `record`, then
//! `crowd`. `http`, `output` and `progress` are beside them, for the programs.

mod charts;
mod check_history;
mod cli;
mod crowd;
mod http;
mod output;
mod progress;
mod record;
mod rehearse;
mod report;
mod simulate;
mod verify_draw;
mod visits;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Ok(command) => cli::run(command).await,
        Err(code) => code,
    }
}
