//! The command line: `--help` is the manual. Only reading and checking options happens here;
//! `run` decides what to do with them.

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use hyper::Uri;

use crate::{controller::ApiToken, duration};

/// Exit code for options that make no sense (`EX_USAGE`).
pub(crate) const EXIT_USAGE: u8 = 64;

#[derive(Debug, Parser)]
#[command(
    name = "vestibule-crowd",
    version,
    about = "Rehearse a sale: send a crowd of real visitors to a Vestibule room",
    long_about = "Rehearse a sale: send a crowd of real visitors to a Vestibule room.\n\n\
        Every visitor joins over HTTP, checks in when it is told to, claims its seat, stays and \
        leaves, or closes the tab without a word. At the end a report says what they lived \
        through: how full the site was kept, whether anybody overtook, how long calls took.\n\n\
        `run` is the default: its options work without naming it.",
    after_long_help = "EXIT CODE\n  \
        0  every visitor finished its visit\n  \
        1  something was wrong; the report says what\n  \
        64 the options make no sense\n\n\
        EXAMPLES\n  \
        vestibule-crowd --room demo --visitors 10000 --arrive 30s --stay 20s \\\n      \
        --controller http://127.0.0.1:8081 --create --ceiling 500 --rate 3000 --plot sale.svg\n  \
        vestibule-crowd --visitors 50000 --arrive 0 --abandon 0.3 --json > report.json",
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunOptions,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send a crowd to a room and report what it lived through (the default)
    Run(Box<RunOptions>),
}

/// How long visitors stay, around `--stay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StaySpread {
    /// Everyone stays exactly as long
    Fixed,
    /// Many leave early and a few stay much longer; `--stay` is the mean
    Exponential,
}

/// Options of `run`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunOptions {
    /// Room to visit
    #[arg(long, env = "VESTIBULE_ROOM", default_value = "demo", value_parser = room,
          help_heading = "Where")]
    pub(crate) room: String,

    /// Admission service to visit, as http://host:port; give several to spread the crowd
    #[arg(long, env = "VESTIBULE_ADMISSION", value_delimiter = ',', value_name = "URL",
          default_value = "http://127.0.0.1:8080", value_parser = base_url, help_heading = "Where")]
    pub(crate) admission: Vec<Uri>,

    /// Controller to read the room's limits and live figures from, as http://host:port
    #[arg(long, env = "VESTIBULE_CONTROLLER", value_name = "URL", value_parser = base_url,
          help_heading = "Where")]
    pub(crate) controller: Option<Uri>,

    /// The controller's API token
    #[arg(
        long,
        env = "VESTIBULE_API_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN",
        help_heading = "Where"
    )]
    pub(crate) api_token: Option<ApiToken>,

    /// File that holds the controller's API token
    #[arg(
        long,
        env = "VESTIBULE_API_TOKEN_FILE",
        value_name = "FILE",
        conflicts_with = "api_token",
        help_heading = "Where"
    )]
    pub(crate) api_token_file: Option<PathBuf>,

    /// Create or replace the room first, with the limits given here (needs --controller)
    #[arg(long, env = "VESTIBULE_CREATE", requires = "controller", help_heading = "The room")]
    pub(crate) create: bool,

    /// How many may be inside at once; without it, what the controller says
    #[arg(long, env = "VESTIBULE_CEILING", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) ceiling: Option<u32>,

    /// How many may enter in any minute; without it, what the controller says
    #[arg(long, env = "VESTIBULE_RATE", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The room")]
    pub(crate) rate: Option<u32>,

    /// How long a session lasts; with --create it is set, without it what the controller says
    #[arg(long, env = "VESTIBULE_SESSION", value_name = "DURATION", value_parser = duration::parse,
          help_heading = "The room")]
    pub(crate) session: Option<Duration>,

    /// How many visitors come
    #[arg(long, env = "VESTIBULE_VISITORS", value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "The crowd")]
    pub(crate) visitors: u32,

    /// Over how long they arrive, evenly with jitter; 0 = all at once
    #[arg(long, env = "VESTIBULE_ARRIVE", value_name = "DURATION", default_value = "30s",
          value_parser = duration::parse, help_heading = "The crowd")]
    pub(crate) arrive: Duration,

    /// How long each stays inside before it leaves
    #[arg(long, env = "VESTIBULE_STAY", value_name = "DURATION", default_value = "20s",
          value_parser = duration::parse, help_heading = "The crowd")]
    pub(crate) stay: Duration,

    /// Whether everyone stays exactly that long
    #[arg(long, env = "VESTIBULE_STAY_SPREAD", value_name = "SPREAD", value_enum,
          default_value_t = StaySpread::Fixed, help_heading = "The crowd")]
    pub(crate) stay_spread: StaySpread,

    /// Share who close the tab without a word, at a random moment of their wait (0 to 1)
    #[arg(long, env = "VESTIBULE_ABANDON", value_name = "SHARE", default_value_t = 0.0,
          value_parser = share, help_heading = "The crowd")]
    pub(crate) abandon: f64,

    /// Those inside never say that they leave: their session just runs out
    #[arg(long, env = "VESTIBULE_LEAVE_SILENTLY", help_heading = "The crowd")]
    pub(crate) leave_silently: bool,

    /// Random seed: the same seed plans the same crowd
    #[arg(long, env = "VESTIBULE_SEED", value_name = "N", help_heading = "The crowd")]
    pub(crate) seed: Option<u64>,

    /// Stop after this long, wherever the crowd then is
    #[arg(long, env = "VESTIBULE_TIMEOUT", value_name = "DURATION", default_value = "1h",
          value_parser = duration::parse, help_heading = "The run")]
    pub(crate) timeout: Duration,

    /// Keep-alive connections per admission service; visitors share them
    #[arg(long, env = "VESTIBULE_CONNECTIONS", value_name = "N", default_value_t = 128,
          value_parser = clap::value_parser!(u32).range(1..=60_000), help_heading = "The run")]
    pub(crate) connections: u32,

    /// Broken connections that were made good on another try are expected: do not exit with 1
    #[arg(long, env = "VESTIBULE_EXPECT_OUTAGES", help_heading = "The run")]
    pub(crate) expect_outages: bool,

    /// Report as JSON on stdout, and nothing else there
    #[arg(long, env = "VESTIBULE_JSON", help_heading = "The report")]
    pub(crate) json: bool,

    /// Draw the run over time into this SVG file
    #[arg(long, env = "VESTIBULE_PLOT", value_name = "FILE", help_heading = "The report")]
    pub(crate) plot: Option<PathBuf>,
}

/// Reads the command line and the environment.
///
/// # Errors
/// The exit code to end with at once, after help, the version or a complaint was printed.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, ExitCode> {
    match Cli::try_parse_from(args) {
        Ok(cli) => Ok(cli.command.unwrap_or(Command::Run(Box::new(cli.run)))),
        Err(error) => {
            // Help that cannot be printed (a closed pipe) has nobody left to tell.
            let _ = error.print();
            Err(ExitCode::from(exit_code(&error)))
        }
    }
}

/// Help and the version come as errors too, but are none.
fn exit_code(error: &clap::Error) -> u8 {
    if error.use_stderr() { EXIT_USAGE } else { 0 }
}

fn room(text: &str) -> Result<String, String> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("a room's id is 1 to 64 letters, digits, `_` or `-`".to_owned())
    }
}

fn base_url(text: &str) -> Result<Uri, String> {
    let uri: Uri = text.trim_end_matches('/').parse().map_err(|error| format!("{error}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(_)) if uri.query().is_none() => Ok(uri),
        (Some("https"), _) => {
            Err("this tool speaks plain HTTP: aim it at the services, not at the TLS edge".into())
        }
        _ => Err("expected http://host:port".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a share from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str]) -> RunOptions {
        let args = ["vestibule-crowd"].iter().chain(args).map(OsString::from);
        let Command::Run(options) = parse(args).expect("these options are fine");
        *options
    }

    #[test]
    fn run_is_the_default() {
        for args in [&["--visitors", "7", "--room", "a"][..], &["run", "--visitors", "7"]] {
            assert_eq!(run(args).visitors, 7);
        }
        assert_eq!(run(&[]).room, "demo");
    }

    #[test]
    fn takes_several_admission_services() {
        let options = run(&["--admission", "http://a:1/", "--admission", "http://b:2,http://c"]);
        let seen: Vec<_> = options.admission.iter().filter_map(Uri::host).collect();
        assert_eq!(seen, ["a", "b", "c"]);
    }

    #[test]
    fn nonsense_ends_with_64_and_help_with_0() {
        for args in [
            &["--abandon", "1.5"][..],
            &["--admission", "https://a"],
            &["--room", "a b"],
            &["--visitors", "0"],
            &["--create"],
            &["--no-such-option"],
        ] {
            let args = ["vestibule-crowd"].iter().chain(args);
            let error = Cli::try_parse_from(args).expect_err("must be refused");
            assert_eq!(exit_code(&error), EXIT_USAGE);
        }
        let help = Cli::try_parse_from(["vestibule-crowd", "--help"]);
        assert_eq!(exit_code(&help.expect_err("help ends the program")), 0);
    }
}
