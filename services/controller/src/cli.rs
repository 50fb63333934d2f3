//! The options of the controller. `--help` is the manual.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{
    Parser, Subcommand,
    builder::{BoolishValueParser, NonEmptyStringValueParser},
};
use secrecy::{ExposeSecret, SecretString};
use vestibule_runtime::{
    options::CommonOptions,
    secret::{SecretError, SecretSource},
    tls::ClientTlsOptions,
};
use vestibule_token::{KeyAlgorithm, SnsCertificate};

use crate::{
    backup::{BackupOptions, RestoreOptions},
    sns::{GivenCertificatesError, read_given},
    terminal::{ApplyOptions, ExportOptions, RoomCommand},
    tokens::{GivenSigner, GivenSignerError, GivenToken, GivenTokenError, MIN_TOKEN_BYTES},
};

/// Fewest bytes of `VESTIBULE_API_TOKEN`.
pub const MIN_API_TOKEN_BYTES: usize = MIN_TOKEN_BYTES;

/// Vestibule's controller: lets the line advance, and answers operators.
///
/// Run two or three: they share out the rooms, and when one is gone the others take over its rooms within a few
/// seconds. They need Redis (or Valkey), and the same secret as the vestibule-admission instances beside them.
#[derive(Debug, Parser)]
#[command(name = "vestibule-controller", version, max_term_width = 100)]
pub struct Cli {
    /// What else to do than serve.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The options of both services.
    #[command(flatten)]
    pub common: CommonOptions,

    /// Which clients are spoken to.
    #[command(flatten)]
    pub client_tls: ClientTlsOptions,

    /// Address for operators. Only this machine reaches the default; in a container, or for operators
    /// elsewhere, name an address of a private network, or `0.0.0.0:8081` behind a firewall.
    #[arg(
        long,
        env = "VESTIBULE_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8081"
    )]
    pub listen: SocketAddr,

    /// Address for /livez, /readyz and /metrics. Keep it private.
    #[arg(
        long,
        env = "VESTIBULE_ADMIN_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9081"
    )]
    pub admin_listen: SocketAddr,

    /// The issuer of tokens generated here, where neither the call nor the room names another; the
    /// listening address if not given.
    #[arg(long, env = "VESTIBULE_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,

    /// What new signing keys sign with: RS256 or ES256. ES256 takes a small part of the processor time, and makes shorter
    /// tokens; gateways that verify by themselves must know it.
    ///
    /// It is for keys that are made from now on: `POST /v1/keys/rotate` makes one. Choose ES256 when no service of a
    /// release before it runs any more: until then such a key is refused.
    #[arg(long, env = "VESTIBULE_SIGNING_ALGORITHM", value_name = "ALGORITHM", default_value_t)]
    pub signing_algorithm: KeyAlgorithm,

    /// What operators show as `Authorization: Bearer …`, at least 16 bytes.
    ///
    /// Give it in the environment or as a file rather than as an argument, which others can see.
    #[arg(long, env = "VESTIBULE_API_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub api_token: Option<SecretString>,

    /// File that holds the API token; a final newline does not count.
    #[arg(long, env = "VESTIBULE_API_TOKEN_FILE", value_name = "FILE")]
    pub api_token_file: Option<PathBuf>,

    /// Further tokens, for others than the one who may do everything: `name:role:token`, or
    /// `name:role:room,room:token` for some rooms alone; one a line or separated by `;`. The role is `viewer`,
    /// `operator` or `admin`; a room may be a pattern such as `sale-*`.
    ///
    /// Others can be made and revoked by calls while the controllers run: `POST /v1/tokens`.
    #[arg(long, env = "VESTIBULE_API_TOKENS", hide_env_values = true, value_name = "TEXT")]
    pub api_tokens: Option<SecretString>,

    /// File that holds them; lines that begin with `#` do not count.
    #[arg(long, env = "VESTIBULE_API_TOKENS_FILE", value_name = "FILE")]
    pub api_tokens_file: Option<PathBuf>,

    /// Keys by which clients of the AWS-style private calls may sign their requests (AWS Signature Version 4), instead of
    /// showing a token: `KEYID:SECRET`, separated by commas. Each is for these calls of all rooms.
    ///
    /// Others, for some rooms, can be made and revoked by calls while the controllers run: `POST /v1/sigv4-keys`.
    #[arg(long, env = "VESTIBULE_SIGV4_KEYS", hide_env_values = true, value_name = "TEXT")]
    pub sigv4_keys: Option<SecretString>,

    /// File that holds them, separated by commas or one a line; lines that begin with `#` do not count.
    #[arg(long, env = "VESTIBULE_SIGV4_KEYS_FILE", value_name = "FILE")]
    pub sigv4_keys_file: Option<PathBuf>,

    /// The region for which such requests are signed.
    #[arg(
        long,
        env = "VESTIBULE_SIGV4_REGION",
        value_name = "REGION",
        default_value = "us-east-1",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub sigv4_region: String,

    /// Folder with certificates that Amazon SNS signs its messages by, for controllers that cannot reach SNS.
    ///
    /// Each file is named as at SNS, such as `SimpleNotificationService-0123456789abcdef0123456789abcdef.pem`, and is
    /// trusted as it is; every other certificate is fetched from SNS when a message names it. They are read at the start.
    #[arg(long, env = "VESTIBULE_SNS_CERTIFICATES", value_name = "FOLDER")]
    pub sns_certificates: Option<PathBuf>,

    /// Also ask beacons of draws that are in private networks. Whoever may set up an event can then have the controllers
    /// send a request to any service there.
    #[arg(long, env = "VESTIBULE_PRIVATE_BEACONS", value_parser = BoolishValueParser::new())]
    pub private_beacons: bool,

    /// Days for which the audit log is kept, which tells who has changed what: `GET /v1/audit`.
    #[arg(
        long,
        env = "VESTIBULE_AUDIT_RETENTION_DAYS",
        value_name = "DAYS",
        default_value_t = 90,
        value_parser = clap::value_parser!(u32).range(1..=3_650)
    )]
    pub audit_retention_days: u32,
}

/// What else to do than serve.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Print the OpenAPI document and exit.
    Openapi,
    /// Print the JSON schema of files of rooms, for editors, and exit.
    Schema,
    /// Make rooms what files say, by way of a running controller: their settings, events and pages.
    ///
    /// A file is the whole truth of each room in it: what it leaves out has its default, and events that it does not
    /// have are deleted. Rooms that are in no file stay as they are, unless --prune picks them. Lines, counters and
    /// people stay as they are. Everything is checked before anything is changed, and what is wrong is told with its
    /// line. The token needs the role `operator`, `admin` to create or delete rooms, and `viewer` for a dry run.
    ///
    /// Exit codes: 0 done, or nothing to do; 1 failed, 64 wrong options; with --dry-run --exit-code 2 if something would
    /// change.
    Apply(ApplyOptions),
    /// Write rooms as one document, which `apply` reads: with their events and pages, and without what has its default.
    ///
    /// Applying it again changes nothing.
    Export(ExportOptions),
    /// List, show, pause, resume and watch rooms, by way of a running controller.
    #[command(subcommand)]
    Room(RoomCommand),
    /// Ask the running service whether it is ready: exit code 0 if so (for container probes).
    Healthcheck,
    /// Write all rooms to a file, while people wait: for `restore`, into another Redis.
    ///
    /// Reads the Redis of `VESTIBULE_REDIS_URL`. The file has settings, events and pages, the line and the seats, history,
    /// and the keys, which stay sealed by `VESTIBULE_SECRET`. It has the request ids of those inside: keep it safe.
    Backup(BackupOptions),
    /// Put the rooms of a backup into an empty Redis, before services are started on it.
    ///
    /// Writes to the Redis of `VESTIBULE_REDIS_URL`. Services that are started on it, with the same `VESTIBULE_SECRET`,
    /// serve the same people: tickets, request ids and tokens stay valid. Whatever is wrong is said before anything is
    /// changed.
    Restore(RestoreOptions),
}

// === impl Cli ===

impl Cli {
    /// Reads the operators' token, from wherever it was given.
    ///
    /// # Errors
    /// If it is missing, given twice, unreadable or shorter than [`MIN_API_TOKEN_BYTES`].
    pub fn read_api_token(&self) -> Result<SecretString, SecretError> {
        let source = SecretSource {
            variable: "VESTIBULE_API_TOKEN",
            value: self.api_token.as_ref(),
            file: self.api_token_file.as_deref(),
            min_bytes: MIN_API_TOKEN_BYTES,
        };
        source.read()
    }

    /// The tokens of all options, of which only hashes are kept.
    ///
    /// # Errors
    /// If one is missing, given twice, unreadable or not as it must be.
    pub(crate) fn read_tokens(&self) -> Result<Vec<GivenToken>, GivenTokenError> {
        let source = SecretSource {
            variable: "VESTIBULE_API_TOKENS",
            value: self.api_tokens.as_ref(),
            file: self.api_tokens_file.as_deref(),
            min_bytes: 0,
        };
        let others = source.read_any()?;
        let others = others.as_ref().map_or("", |text| text.expose_secret());
        GivenToken::all(&self.read_api_token()?, others)
    }

    /// The keys of the option by which requests are signed; `tokens` are those of all options.
    ///
    /// # Errors
    /// If they are given twice, unreadable or not as they must be.
    pub(crate) fn read_signers(
        &self,
        tokens: &[GivenToken],
    ) -> Result<Vec<GivenSigner>, GivenSignerError> {
        let source = SecretSource {
            variable: "VESTIBULE_SIGV4_KEYS",
            value: self.sigv4_keys.as_ref(),
            file: self.sigv4_keys_file.as_deref(),
            min_bytes: 0,
        };
        let text = source.read_any()?;
        let text = text.as_ref().map_or("", |text| text.expose_secret());
        GivenSigner::read_all(text, tokens)
    }

    /// The certificates of Amazon SNS that an option gives, by the names of their files.
    ///
    /// # Errors
    /// If the folder or one of its files cannot be read.
    pub(crate) fn read_sns_certificates(
        &self,
    ) -> Result<BTreeMap<String, SnsCertificate>, GivenCertificatesError> {
        self.sns_certificates.as_deref().map_or(Ok(BTreeMap::new()), read_given)
    }

    /// For how long the audit log is kept.
    pub(crate) fn audit_retention(&self) -> Duration {
        Duration::from_secs(u64::from(self.audit_retention_days) * 24 * 60 * 60)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_option_is_an_environment_variable() {
        let command = Cli::command();
        for argument in command.get_arguments() {
            let Some(name) = argument.get_long().filter(|name| *name != "version") else {
                continue;
            };
            let variable = argument.get_env().unwrap().to_str().unwrap();
            assert_eq!(variable, format!("VESTIBULE_{}", name.to_uppercase().replace('-', "_")));
        }
        command.debug_assert();
    }

    #[test]
    fn operators_are_listened_to_on_this_machine_alone_unless_said() {
        let cli = Cli::parse_from(["test"]);
        assert!(cli.listen.ip().is_loopback(), "{}", cli.listen);
        assert!(cli.admin_listen.ip().is_loopback(), "{}", cli.admin_listen);
    }

    #[test]
    fn keys_sign_with_rs256_unless_said() {
        let algorithm = |arguments: &[&str]| {
            Cli::try_parse_from(arguments).map(|cli| cli.signing_algorithm.to_string())
        };
        assert_eq!(algorithm(&["test"]).unwrap(), "RS256");
        assert_eq!(algorithm(&["test", "--signing-algorithm", "ES256"]).unwrap(), "ES256");
        let wrong = algorithm(&["test", "--signing-algorithm", "HS256"]).unwrap_err();
        assert!(wrong.to_string().contains("must be RS256 or ES256"), "{wrong}");
    }

    #[test]
    fn a_short_api_token_is_refused_and_none_is_printed() {
        let parse = |token: &str| Cli::parse_from(["test", "--api-token", token]);
        assert!(matches!(
            parse("fifteen bytes!!").read_api_token(),
            Err(SecretError::TooShort { .. })
        ));
        let good = parse("sixteen bytes!!!");
        assert!(good.read_api_token().is_ok());
        assert!(!format!("{good:?}").contains("sixteen"));
        let none = Cli::parse_from(["test"]).read_api_token();
        assert!(matches!(none, Err(SecretError::Missing { .. })));
    }
}
