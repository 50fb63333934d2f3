//! The options that both services have, to be flattened into each one's `cli.rs`.
//!
//! Every option is also an environment variable: `VESTIBULE_` and its name in capitals. Addresses
//! to listen on are not here, because their defaults differ. Reading options binds and connects
//! nothing, so a bad value is found before anything starts.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use secrecy::SecretString;

use crate::{
    HistoryClock, HistoryError, HistoryFile, Random, connection_options::ConnectionOptions,
    redis_options::RedisOptions, secret::SecretSource, telemetry::LogOptions, tls::TlsOptions,
    traces::TraceOptions,
};

/// Fewest bytes of `VESTIBULE_SECRET`: as many as the keys derived from it have.
pub const MIN_SECRET_BYTES: usize = 32;

const MAX_REGION_BYTES: usize = 32;

/// The options of both services.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Where the shared state is.
    #[command(flatten)]
    pub redis: RedisOptions,

    /// Whether the public address speaks TLS.
    #[command(flatten)]
    pub tls: TlsOptions,

    /// How many connections there may be.
    #[command(flatten)]
    pub connections: ConnectionOptions,

    /// Secret of the deployment, at least 32 bytes; the same for every instance of both services.
    ///
    /// Request ids, tickets and signing keys are derived from it: anyone who knows it can enter. Give
    /// it in the environment or as a file rather than as an argument, which others can see.
    #[arg(long, env = "VESTIBULE_SECRET", hide_env_values = true, value_name = "TEXT")]
    pub secret: Option<SecretString>,

    /// File that holds the secret; a final newline does not count.
    #[arg(long, env = "VESTIBULE_SECRET_FILE", value_name = "FILE")]
    pub secret_file: Option<PathBuf>,

    /// Other secrets of the deployment, one a line: what they have sealed is opened, too, and nothing is sealed under
    /// them. So the secret can be replaced without a pause: see README, "Replacing the secret".
    #[arg(long, env = "VESTIBULE_SECRET_PREVIOUS", hide_env_values = true, value_name = "TEXT")]
    pub secret_previous: Option<SecretString>,

    /// File that holds them.
    #[arg(long, env = "VESTIBULE_SECRET_PREVIOUS_FILE", value_name = "FILE")]
    pub secret_previous_file: Option<PathBuf>,

    /// Where this instance runs: up to 32 letters, digits, `_` or `-`.
    #[arg(
        long,
        env = "VESTIBULE_REGION",
        value_name = "NAME",
        default_value = "local",
        value_parser = parse_region
    )]
    pub region: String,

    /// Seconds that requests and tasks get to end after the first SIGTERM or SIGINT.
    #[arg(
        long,
        env = "VESTIBULE_SHUTDOWN_GRACE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub shutdown_grace_seconds: u32,

    /// Write down what this instance learns of rooms, numbers and sessions, a line of JSON for each
    /// event, at the end of this file; in a folder (with a `/` at its end it is made), into a file of its
    /// own. `vestibule-crowd check-history` tells from the histories of all instances whether every promise
    /// was kept.
    ///
    /// It has numbers and times, names of rooms, regions and keys, and nothing that lets anybody in.
    /// About 200 bytes for each join, claim and renewal, and up to 5 KB a second and room.
    #[arg(long, env = "VESTIBULE_HISTORY", value_name = "FILE")]
    pub history: Option<PathBuf>,

    /// Whose time a history is written in. Redis's, which instances on many machines share; or this
    /// machine's, where all instances run on one and Redis's clock may be set while they do.
    #[arg(long, env = "VESTIBULE_HISTORY_CLOCK", value_name = "CLOCK", default_value = "redis")]
    pub history_clock: HistoryClock,

    /// What is logged, and how.
    #[command(flatten)]
    pub log: LogOptions,

    /// Where traces are sent, and which.
    #[command(flatten)]
    pub traces: TraceOptions,
}

// === impl CommonOptions ===

impl CommonOptions {
    /// Where the secret of the deployment is.
    #[must_use]
    pub fn secret_source(&self) -> SecretSource<'_> {
        SecretSource {
            variable: "VESTIBULE_SECRET",
            value: self.secret.as_ref(),
            file: self.secret_file.as_deref(),
            min_bytes: MIN_SECRET_BYTES,
        }
    }

    /// Where the other secrets of the deployment are; usually nowhere.
    #[must_use]
    pub fn secret_previous_source(&self) -> SecretSource<'_> {
        SecretSource {
            variable: "VESTIBULE_SECRET_PREVIOUS",
            value: self.secret_previous.as_ref(),
            file: self.secret_previous_file.as_deref(),
            min_bytes: MIN_SECRET_BYTES,
        }
    }

    /// Begins the history, if one is asked for, as an instance of `service`.
    ///
    /// # Errors
    /// If its file cannot be opened.
    pub fn open_history(&self, service: &str) -> Result<Option<HistoryFile>, HistoryError> {
        let Some(path) = &self.history else { return Ok(None) };
        let nonce = Random::of_system().number() >> 32;
        let name = format!("{service}-{}-{nonce:08x}", self.region);
        HistoryFile::open(path, name, self.history_clock).map(Some)
    }

    /// How long requests and tasks may take to end.
    #[must_use]
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace_seconds.into())
    }
}

fn parse_region(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=MAX_REGION_BYTES).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("a region has 1 to 32 letters, digits, `_` or `-`")
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use secrecy::ExposeSecret;

    use super::*;
    use crate::telemetry::LogFormat;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        common: CommonOptions,
    }

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn parse(arguments: &[&str]) -> Result<CommonOptions, String> {
        Cli::try_parse_from([&["test"], arguments].concat())
            .map(|cli| cli.common)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_as_documented() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.region, "local");
        assert_eq!(options.shutdown_grace(), Duration::from_secs(10));
        assert_eq!(options.log.log_format, LogFormat::Text);
        assert_eq!(options.log.log, "info");
        assert!(matches!(
            options.secret_source().read(),
            Err(crate::secret::SecretError::Missing { .. })
        ));
    }

    #[test]
    fn every_option_is_an_environment_variable() {
        let command = Cli::command();
        for argument in command.get_arguments() {
            let name = argument.get_long().unwrap().to_uppercase().replace('-', "_");
            let variable = argument.get_env().unwrap().to_str().unwrap();
            assert_eq!(variable, format!("VESTIBULE_{name}"));
        }
        assert!(command.get_arguments().count() >= 8);
    }

    #[test]
    fn secrets_are_never_printed() {
        let options =
            parse(&["--secret", SECRET, "--redis-url", "redis://:hunter2@db:6379"]).unwrap();
        assert_eq!(options.secret_source().read().unwrap().expose_secret(), SECRET);
        let printed = format!("{options:?}");
        assert!(!printed.contains(SECRET) && !printed.contains("hunter2"), "{printed}");
        for argument in Cli::command().get_arguments() {
            let secret = matches!(argument.get_id().as_str(), "secret" | "redis_url");
            assert!(!secret || argument.is_hide_env_values_set(), "{argument}");
        }
    }

    #[test]
    fn regions_are_short_labels() {
        let long = "a".repeat(33);
        for region in ["", "eu west", "eu/west", "é", &long] {
            let error = parse(&["--region", region]).unwrap_err();
            assert!(error.contains("1 to 32") || error.contains("required"), "{error}");
        }
        assert_eq!(parse(&["--region", "eu-West_1"]).unwrap().region, "eu-West_1");
        assert!(parse(&["--region", &"a".repeat(32)]).is_ok());
    }

    #[test]
    fn a_bad_filter_or_format_is_refused() {
        assert!(parse(&["--log", "info,vestibule=loud"]).is_err());
        assert!(parse(&["--log", "warn,vestibule_store=debug"]).is_ok());
        assert!(parse(&["--log-format", "xml"]).is_err());
        assert_eq!(parse(&["--log-format", "json"]).unwrap().log.log_format, LogFormat::Json);
    }
}
