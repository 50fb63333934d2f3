//! Runs the command that the options name, and returns the exit code.

use std::{error::Error, process::ExitCode};

use vestibule_runtime::{
    ErrorChain, Exit, Signals,
    cli::{print_document, usage_error},
    healthcheck,
};
use vestibule_store::Store;

use crate::{
    backup,
    cli::{Cli, Command},
    config::{Config, open_store},
    openapi, router,
    service::Service,
    terminal::{self, Task},
};

/// Runs the command of the command line to its end.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    match &cli.command {
        Some(Command::Openapi) => print_document(&(openapi::text(&router::document()) + "\n")),
        Some(Command::Schema) => print_document(&(openapi::schema_text() + "\n")),
        Some(Command::Apply(options)) => terminal::run(&Task::Apply(options)),
        Some(Command::Export(options)) => terminal::run(&Task::Export(options)),
        Some(Command::Room(command)) => terminal::run(&Task::Room(command)),
        Some(Command::Healthcheck) => healthcheck(cli.admin_listen),
        Some(Command::Backup(options)) => at_redis(cli, "backed up", |store| async move {
            let signals = Signals::of_process()?;
            backup::save(&store, options, signals).await.map_err(Into::into)
        }),
        Some(Command::Restore(options)) => at_redis(cli, "restored", |store| async move {
            let signals = Signals::of_process()?;
            let restored = backup::restore(&store, options, signals).await?;
            if let Some(caution) = restored.caution() {
                eprintln!("{caution}");
            }
            Ok(restored.rooms)
        }),
        None => serve(cli),
    }
}

/// Does something with the rooms in Redis, and says how many `done`. Standard output stays free.
fn at_redis<F>(cli: &Cli, done: &str, act: impl FnOnce(Store) -> F) -> ExitCode
where
    F: Future<Output = Result<usize, Box<dyn Error>>>,
{
    let store = match open_store(&cli.common.redis) {
        Ok(store) => store,
        Err(error) => return usage_error(&error),
    };
    let acted = tokio::runtime::Runtime::new().map_err(Into::into);
    match acted.and_then(|runtime| runtime.block_on(act(store))) {
        Ok(rooms) => {
            eprintln!("rooms {done}: {rooms}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}", ErrorChain(&*error));
            ExitCode::FAILURE
        }
    }
}

fn serve(cli: &Cli) -> ExitCode {
    let mut config = match Config::read(cli) {
        Ok(config) => config,
        Err(error) => return usage_error(&error),
    };
    if let Err(error) = cli.common.log.init() {
        return usage_error(&error);
    }
    let history = match cli.common.open_history("controller") {
        Ok(history) => history,
        Err(error) => return usage_error(&error),
    };
    if let Some(history) = &history {
        config.store = config.store.recorded(history.name(), history.recorder());
    }
    let served = serve_until_stopped(config);
    if let Some(history) = history {
        history.close();
    }
    match served {
        Ok(exit) => exit.into(),
        Err(error) => {
            tracing::error!(error = %ErrorChain(&*error), "cannot start");
            ExitCode::FAILURE
        }
    }
}

fn serve_until_stopped(config: Config) -> Result<Exit, Box<dyn Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let signals = Signals::of_process()?;
        let service = Service::start(config).await?;
        Ok(service.run(signals).await)
    })
}
