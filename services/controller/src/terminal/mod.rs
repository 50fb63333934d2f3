//! What the program does for an operator at a terminal, or for CI: it applies and writes documents of rooms, and shows and
//! pauses rooms. It is a client of the controllers' API like any other, so roles, rooms and the audit log hold; what a
//! document means is decided by the controller that is asked ([`crate::declare`]).

mod apply;
mod client;
mod connect;
mod error;
mod export;
mod figures;
mod files;
mod room;
mod shown;
mod sparkline;
mod table;
mod watch;

use std::process::ExitCode;

use vestibule_runtime::{ErrorChain, cli::usage_error};

pub use self::{
    apply::ApplyOptions,
    connect::ConnectOptions,
    export::ExportOptions,
    room::{ListOptions, RoomCommand, RoomOptions},
    watch::WatchOptions,
};
use self::{client::ControllerClient, error::TerminalError};

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Task<'a> {
    /// Make rooms what files say.
    Apply(&'a ApplyOptions),
    /// Write rooms as one document.
    Export(&'a ExportOptions),
    /// Look at rooms, or pause one.
    Room(&'a RoomCommand),
}

/// Does it, and returns the exit code. Errors are told on standard error.
pub(crate) fn run(task: &Task<'_>) -> ExitCode {
    let connect = match task {
        Task::Apply(options) => &options.connect,
        Task::Export(options) => &options.connect,
        Task::Room(command) => command.connect(),
    };
    let client = match ControllerClient::new(connect) {
        Ok(client) => client,
        Err(error) => return usage_error(&error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(TerminalError::from).and_then(|runtime| {
        runtime.block_on(async {
            match task {
                Task::Apply(options) => apply::apply(&client, options).await,
                Task::Export(options) => export::export(&client, options).await,
                Task::Room(command) => room::run(&client, command).await,
            }
        })
    });
    match done {
        Ok(code) => code,
        // Whoever read the output has gone.
        Err(TerminalError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}", ErrorChain(&error));
            ExitCode::FAILURE
        }
    }
}
