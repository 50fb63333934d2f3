//! The command line: `--help` is the manual. Only reading and checking options happens here;
//! `run` decides what to do with them.

mod pictures;
mod run;
mod simulate;
mod verify_draw;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use hyper::Uri;

pub(crate) use self::{
    pictures::Pictures, run::RunOptions, simulate::SimulateOptions, verify_draw::VerifyDrawOptions,
};

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
        --controller http://127.0.0.1:8081 --create --ceiling 500 --rate 500 --plot sale.svg\n  \
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
    /// Check a published draw, and compute places from it
    VerifyDraw(Box<VerifyDrawOptions>),
    /// Simulate a crowd in virtual time, by the real scripts of a real Redis
    #[command(after_long_help = "EXAMPLES\n  \
        vestibule-crowd simulate --visitors 1000000 --arrive 2h --arrivals burst \\\n      \
        --ceiling 20000 --stay 3m --stay-spread exponential --abandon 0.1 --plot sale.svg\n  \
        vestibule-crowd simulate --visitors 6000 --arrive 5m --ceiling 1200 --rate 1200 \\\n      \
        --regions eu=0.6,us=0.3,ap=0.1 --shift-at 2m --shift-to ap\n  \
        vestibule-crowd simulate --experiment cloudflare-2021 --out pictures")]
    Simulate(Box<SimulateOptions>),
}

/// How long visitors stay, around `--stay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StaySpread {
    /// Everyone stays exactly as long
    Fixed,
    /// Many leave early and a few stay much longer; `--stay` is the mean
    Exponential,
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
        match parse(args) {
            Ok(Command::Run(options)) => *options,
            other => panic!("these options are fine: {other:?}"),
        }
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
