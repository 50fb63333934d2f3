//! The command line: `--help` is the manual. It knows the programs and their options; what an
//! option means is theirs.

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

use crate::{
    check_history::{self, CheckHistoryOptions},
    crowd::Company,
    rehearse::{self, RunOptions},
    simulate::{self, SimulateOptions},
    verify_draw::{self, VerifyDrawOptions},
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
        vestibule-crowd --visitors 50000 --arrive 0 --abandon 0.3 --json > report.json\n  \
        vestibule-crowd --visitors 3000 --arrive 20s --ceiling 200 --stay 5s --create \\\n      \
        --controller http://127.0.0.1:8081 --ghosts 0.9 --replayers 20 --idlers 0.3",
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
    #[command(visible_alias = "rehearse")]
    Run(Box<RunOptions>),
    /// Check a published draw, and compute places from it
    VerifyDraw(Box<VerifyDrawOptions>),
    /// Check what the services of a real run wrote down: whether every promise was kept
    CheckHistory(Box<CheckHistoryOptions>),
    /// Simulate a crowd, or many nights with faults, on both services in virtual time
    #[command(after_long_help = "EXAMPLES\n  \
        vestibule-crowd simulate --visitors 1000000 --arrive 2h --arrivals burst \\\n      \
        --ceiling 20000 --stay 3m --stay-spread exponential --abandon 0.1 --plot sale.svg\n  \
        vestibule-crowd simulate --visitors 6000 --arrive 5m --ceiling 1200 --rate 1200 \\\n      \
        --regions eu=0.6,us=0.3,ap=0.1 --shift-at 2m --shift-to ap\n  \
        vestibule-crowd simulate --experiment cloudflare-2021 --out pictures\n  \
        vestibule-crowd simulate --experiment one-network\n  \
        vestibule-crowd simulate --seeds 1000 --faults kill,freeze,away")]
    Simulate(Box<SimulateOptions>),
}

/// Reads the command line and the environment.
///
/// # Errors
/// The exit code to end with at once, after help, the version or a complaint was printed.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, ExitCode> {
    let command = Cli::try_parse_from(args)
        .map(|cli| cli.command.unwrap_or(Command::Run(Box::new(cli.run))))
        .and_then(Command::checked);
    match command {
        Ok(command) => Ok(command),
        Err(error) => {
            // Help that cannot be printed (a closed pipe) has nobody left to tell.
            let _ = error.print();
            Err(ExitCode::from(exit_code(&error)))
        }
    }
}

// === impl Command ===

impl Command {
    /// Checks what options say together.
    fn checked(self) -> Result<Self, clap::Error> {
        let company = match &self {
            Self::Run(options) => Company::new(&options.company, &options.crowd),
            Self::Simulate(options) => Company::new(&options.company, &options.crowd),
            Self::VerifyDraw(_) | Self::CheckHistory(_) => return Ok(self),
        };
        let nonsense = |what| Cli::command().error(ErrorKind::ValueValidation, what);
        company.map(|_| self).map_err(nonsense)
    }
}

/// Help and the version come as errors too, but are none.
fn exit_code(error: &clap::Error) -> u8 {
    if error.use_stderr() { EXIT_USAGE } else { 0 }
}

/// Does what was asked for. Code 0 if nothing was wrong, else 1.
pub(crate) async fn run(command: Command) -> ExitCode {
    let done = match command {
        Command::Run(options) => rehearse::run(&options).await,
        Command::VerifyDraw(options) => verify_draw::run(&options).await,
        Command::CheckHistory(options) => check_history::run(&options),
        Command::Simulate(options) => simulate::run(&options).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("vestibule-crowd: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::*;

    fn options(args: &[&str]) -> RunOptions {
        let args = ["vestibule-crowd"].iter().chain(args).map(OsString::from);
        match parse(args) {
            Ok(Command::Run(options)) => *options,
            other => panic!("these options are fine: {other:?}"),
        }
    }

    #[test]
    fn run_is_the_default() {
        for args in [&["--visitors", "7", "--room", "a"][..], &["run", "--visitors", "7"]] {
            assert_eq!(options(args).crowd.visitors, 7);
        }
        assert_eq!(options(&[]).at.room.as_str(), "demo");
    }

    #[test]
    fn takes_several_admission_services() {
        let options =
            options(&["--admission", "http://a:1/", "--admission", "http://b:2,http://c"]);
        let seen: Vec<_> = options.at.admission.iter().filter_map(Url::host_str).collect();
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
            &["--ghosts", "1.0"],
            &["--idlers", "1"],
            &["--replayers", "0.5"],
            &["--visitors", "4000000000", "--ghosts", "0.9"],
            &["simulate", "--seeds", "3", "--ghosts", "5"],
            &["simulate", "--seeds", "3", "--hoarders", "5"],
            &["simulate", "--experiment", "cloudflare-2021", "--idlers", "0.1"],
        ] {
            let args = ["vestibule-crowd"].iter().chain(args).map(OsString::from);
            let error = parse(args).expect_err("must be refused");
            assert_eq!(error, ExitCode::from(EXIT_USAGE));
        }
        let help = Cli::try_parse_from(["vestibule-crowd", "--help"]);
        assert_eq!(exit_code(&help.expect_err("help ends the program")), 0);
    }

    #[test]
    fn hostile_company_comes_when_it_is_asked_for() {
        let company = |args: &[&str]| {
            let options = options(args);
            Company::new(&options.company, &options.crowd).unwrap()
        };
        assert!(company(&["--visitors", "7"]).is_empty());
        let all = ["rehearse", "--visitors", "700", "--ghosts", "0.9", "--replayers", "4"];
        let expected = Company { ghosts: 6300, replayers: 4, idlers: 300, ..Company::default() };
        assert_eq!(company(&[&all[..], &["--idlers", "0.3"]].concat()), expected);
    }

    #[test]
    fn a_simulation_has_defaults_of_its_own() {
        let args = ["vestibule-crowd", "simulate"].map(OsString::from);
        let Ok(Command::Simulate(options)) = parse(args) else { panic!("this is fine") };
        let (arrive, stay) = (options.crowd.arrive.as_secs(), options.crowd.stay.as_secs());
        assert_eq!((options.crowd.visitors, arrive, stay), (10_000, 1800, 60));
        let args = ["vestibule-crowd", "simulate", "--visitors", "5"].map(OsString::from);
        let Ok(Command::Simulate(options)) = parse(args) else { panic!("this is fine") };
        assert_eq!(options.crowd.visitors, 5);
    }
}
