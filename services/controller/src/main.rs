//! Starts the controller: options, runtime, exit code. Everything else is in the library.

use std::process::ExitCode;

use vestibule_controller::{cli, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match vestibule_runtime::cli::parse::<cli::Cli>() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    run(&cli)
}
