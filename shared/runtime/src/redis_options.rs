//! The options that say where the shared state is and how much of it must survive. What the address means
//! is read where it is used: this crate knows no Redis.

use std::{fs, io, path::PathBuf, time::Duration};

use clap::Args;
use secrecy::SecretString;

use crate::secret::{SecretError, SecretSource};

/// Where the shared state is.
#[derive(Debug, Clone, Args)]
pub struct RedisOptions {
    /// Redis or Valkey, 7 or later, that holds the shared state.
    ///
    /// One server: `redis://[user:password@]host:port[/database]`. A Cluster: several of its nodes,
    /// `redis://[user:password@]host:port,host:port`, or only one of them. A primary that Sentinels watch:
    /// `redis+sentinel://[user:password@]host:port,host:port/name-of-the-master`, with the credentials
    /// of the servers; those of the Sentinels, if they differ, and another database follow as
    /// `?sentinel_user=…&sentinel_password=…&db=…`. With TLS: `rediss://` and `rediss+sentinel://`. In
    /// users, passwords and names, percent-encode whatever has a meaning in a URL.
    ///
    /// It may hold a password, so it is treated as a secret.
    #[arg(
        long = "redis-url",
        env = "VESTIBULE_REDIS_URL",
        hide_env_values = true,
        value_name = "URL",
        default_value = "redis://127.0.0.1:6379"
    )]
    pub redis_url: SecretString,

    /// File that holds the address in its place; a final newline does not count.
    #[arg(
        long,
        env = "VESTIBULE_REDIS_URL_FILE",
        value_name = "FILE",
        conflicts_with = "redis_url"
    )]
    pub redis_url_file: Option<PathBuf>,

    /// How long Redis may take to accept a connection or to answer, in milliseconds: then visitors
    /// are told to come back. A leader that is not answered for 2 s gives way to another.
    #[arg(
        long,
        env = "VESTIBULE_REDIS_TIMEOUT_MS",
        value_name = "MILLISECONDS",
        default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(10..=60_000)
    )]
    pub redis_timeout_ms: u32,

    /// PEM file with the certificate authorities that vouch for the servers, for an address with TLS. They
    /// take the place of the public ones, which are trusted if this is not given.
    #[arg(long, env = "VESTIBULE_REDIS_CA_FILE", value_name = "FILE")]
    pub redis_ca_file: Option<PathBuf>,

    /// How many replicas should have a join, a claim, an end of a session or a reset before it is
    /// answered; 0: none, they follow in their own time.
    ///
    /// A fail-over then loses fewer of them. If too few have it in time, that is counted
    /// (`vestibule_redis_replica_shortfalls_total`) and logged, and the answer is given all the same.
    #[arg(
        long,
        env = "VESTIBULE_REDIS_WAIT_REPLICAS",
        value_name = "COUNT",
        default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=100)
    )]
    pub redis_wait_replicas: u32,

    /// How long to wait for these replicas at most, in milliseconds.
    #[arg(
        long,
        env = "VESTIBULE_REDIS_WAIT_MS",
        value_name = "MILLISECONDS",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=60_000)
    )]
    pub redis_wait_ms: u32,
}

/// The certificate authorities cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("VESTIBULE_REDIS_CA_FILE: cannot read {}", file.display())]
pub struct AuthoritiesError {
    file: PathBuf,
    source: io::Error,
}

// === impl RedisOptions ===

impl RedisOptions {
    /// The address, wherever it is given.
    ///
    /// # Errors
    /// If there is a file, and it cannot be read or is empty.
    pub fn read_address(&self) -> Result<SecretString, SecretError> {
        let file = self.redis_url_file.as_deref();
        let source =
            SecretSource { variable: "VESTIBULE_REDIS_URL", value: None, file, min_bytes: 1 };
        Ok(source.read_any()?.unwrap_or_else(|| self.redis_url.clone()))
    }

    /// How long Redis may take to accept a connection or to answer.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.redis_timeout_ms.into())
    }

    /// How long to wait for replicas at most.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_millis(self.redis_wait_ms.into())
    }

    /// The certificate authorities, as they stand in their file.
    ///
    /// # Errors
    /// If there is a file and it cannot be read.
    pub fn read_authorities(&self) -> Result<Option<Vec<u8>>, AuthoritiesError> {
        let Some(file) = &self.redis_ca_file else { return Ok(None) };
        let read = fs::read(file);
        read.map(Some).map_err(|source| AuthoritiesError { file: file.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use secrecy::ExposeSecret;
    use tempfile::NamedTempFile;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        redis: RedisOptions,
    }

    fn parse(arguments: &[&str]) -> Result<RedisOptions, String> {
        Cli::try_parse_from([&["test"], arguments].concat())
            .map(|cli| cli.redis)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_as_documented() {
        let options = parse(&[]).unwrap();
        assert_eq!(options.read_address().unwrap().expose_secret(), "redis://127.0.0.1:6379");
        assert_eq!(options.timeout(), Duration::from_secs(1));
        assert_eq!((options.redis_wait_replicas, options.wait()), (0, Duration::from_millis(100)));
        assert!(options.read_authorities().unwrap().is_none());
    }

    #[test]
    fn redis_is_waited_for_neither_never_nor_for_ever() {
        assert_eq!(parse(&["--redis-timeout-ms", "10"]).unwrap().redis_timeout_ms, 10);
        for option in ["--redis-timeout-ms", "--redis-wait-ms"] {
            for time in ["0", "60001", "1s"] {
                let error = parse(&[option, time]).unwrap_err();
                assert!(error.contains(option), "{error}");
            }
        }
    }

    #[test]
    fn the_address_may_be_in_a_file() {
        let file = NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        let options = parse(&["--redis-url-file", &path]).unwrap();
        let error = options.read_address().unwrap_err().to_string();
        assert!(error.contains("VESTIBULE_REDIS_URL"), "{error}");
        fs::write(&path, "rediss://me:secret@redis:6380\n").unwrap();
        let address = options.read_address().unwrap();
        assert_eq!(address.expose_secret(), "rediss://me:secret@redis:6380");
        drop(file);
        let error = options.read_address().unwrap_err().to_string();
        assert!(error.contains("VESTIBULE_REDIS_URL_FILE") && error.contains(&path), "{error}");
    }

    #[test]
    fn the_address_is_given_once() {
        let both = parse(&["--redis-url-file", "/run/url", "--redis-url", "redis://me:hush@redis"]);
        let error = both.unwrap_err();
        assert!(error.contains("--redis-url-file") && !error.contains("hush"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let options = parse(&["--redis-ca-file", "/nowhere/ca.pem"]).unwrap();
        let error = options.read_authorities().unwrap_err().to_string();
        assert!(error.contains("VESTIBULE_REDIS_CA_FILE") && error.contains("/nowhere/ca.pem"));
    }
}
