//! Runs the command that the options name, and returns the exit code.

use std::{error::Error, process::ExitCode};

use vestibule_runtime::{
    ErrorChain, Exit, Signals,
    cli::{print_document, usage_error},
    healthcheck,
};

use crate::{
    cli::{Cli, Command},
    config::Config,
    openapi, router,
    service::Service,
};

/// Runs the command of the command line to its end.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    match cli.command {
        Some(Command::Openapi) => print_document(&openapi::document(router::routes())),
        Some(Command::Healthcheck) => healthcheck(cli.admin_listen),
        None => serve(cli),
    }
}

fn serve(cli: &Cli) -> ExitCode {
    let mut config = match Config::read(cli) {
        Ok(config) => config,
        Err(error) => return usage_error(&*error),
    };
    if let Err(error) = cli.common.log.init() {
        return usage_error(&error);
    }
    let history = match cli.common.open_history("admission") {
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
