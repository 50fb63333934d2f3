//! The command line: `--help` is the manual.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measure how fast the services are, as ratios against a bare axum route on the same machine.
///
/// Starts one admission, one controller and a Redis of its own, for some measures more of them, and
/// ends them all. Every ratio is the median of several short rounds in which the bare route and the
/// measured call take turns, so that whatever else the machine does meets both alike. For figures
/// worth quoting, let the machine do nothing else. The exit code is 0 whenever everything could be
/// measured.
#[derive(Debug, Parser)]
#[command(name = "vestibule-bench", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    /// What else to do than measure.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// What to measure, and how.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What else to do than measure.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Serve the bare axum route that everything is compared with.
    Bare {
        /// Where to listen.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8090")]
        listen: SocketAddr,
    },
    /// Print what crowds need, as the table of docs/sizing.md.
    Sizing {
        /// A run's figures, as `--json` printed them: of join, poll, claim, authorize and memory.
        report: PathBuf,
    },
}

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// The status poll of a waiting visitor.
    Poll,
    /// A newcomer's join.
    Join,
    /// A served visitor's first claim, with its token.
    Claim,
    /// An AWS-style private call whose signature is checked.
    SignedCall,
    /// What a gateway asks about a visitor inside, and about a newcomer who enters.
    Authorize,
    /// The same about visitors inside whose sessions are bound to their network and browser.
    AuthorizeBound,
    /// What the authorizer adds to a request through nginx.
    ThroughNginx,
    /// Redis's memory per waiting visitor.
    Memory,
    /// The slowest calls of every script while very many wait.
    LongLine,
    /// The slowest calls of every script in rooms as large as they get, and with very many rooms.
    Scripts,
    /// What rooms cost in which nothing happens: scripts per second, by name.
    IdleRooms,
    /// What rooms cost in which somebody comes every few seconds, and whether they are ticked in time.
    BusyRooms,
    /// What is lost, and how long nobody can join, when the primary of a Redis with Sentinels is killed.
    Promotion,
    /// The join of a newcomer that waits for a replica, as a ratio to one that does not.
    Replicas,
    /// A visitor's place in a draw.
    Draw,
}

/// What to measure, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Rounds of each measure; figures are medians over them.
    #[arg(long, value_name = "COUNT", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,

    /// Seconds that either side of a round takes.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = parse_seconds)]
    pub(crate) seconds: f64,

    /// Keep-alive connections, each with one request under way.
    #[arg(long, value_name = "COUNT", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: u32,

    /// Visitors who wait while Redis's memory, the scripts of a long line, and those of large rooms are measured.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) visitors: u32,

    /// Rooms in which nothing happens, for the measure of idle rooms, or something all the time, for that of busy rooms.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rooms: u32,

    /// Newcomers who come each second while a replica is promoted, whether or not those before them were answered.
    #[arg(long, value_name = "COUNT", default_value_t = 5_000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) joins_per_second: u32,

    /// Measure only this; may be given more than once.
    #[arg(long, value_name = "MEASURE")]
    pub(crate) only: Vec<Measure>,

    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Where vestibule-admission and vestibule-controller are. Without it they are built and taken
    /// from beside this program.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) programs: Option<PathBuf>,
}

// === impl Options ===

impl Options {
    /// How long either side of a round takes.
    pub(crate) fn round(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Whether `measure` is wanted.
    pub(crate) fn wants(&self, measure: Measure) -> bool {
        self.only.is_empty() || self.only.contains(&measure)
    }
}

fn parse_seconds(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3_600.0).contains(seconds));
    seconds.ok_or("a round takes 0.1 to 3600 seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_measured_unless_something_is_named() {
        let all = Cli::try_parse_from(["bench"]).unwrap().options;
        assert!(all.wants(Measure::Poll) && all.wants(Measure::Memory));
        let some = ["bench", "--only", "join", "--only", "claim"];
        let some = Cli::try_parse_from(some).unwrap().options;
        assert!(some.wants(Measure::Join) && some.wants(Measure::Claim));
        assert!(!some.wants(Measure::Poll));
    }

    #[test]
    fn nothing_can_be_measured_in_no_rounds() {
        let wrong = [["--rounds", "0"], ["--seconds", "0"], ["--seconds", "NaN"]];
        for wrong in wrong.into_iter().chain([["--connections", "0"]]) {
            assert!(Cli::try_parse_from([&["bench"], &wrong[..]].concat()).is_err(), "{wrong:?}");
        }
    }
}
