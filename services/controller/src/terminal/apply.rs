//! `apply`: makes rooms what files say.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use hyper::{Method, body::Bytes};
use vestibule_domain::LabelSelector;

use super::{
    ConnectOptions, client::ControllerClient, error::TerminalError, export::encoded, files::Files,
    shown,
};
use crate::api_types::{People, Plan};

/// The exit code that says that something would change.
const WOULD_CHANGE: u8 = 2;

/// What is applied, and how.
#[derive(Debug, Clone, Args)]
pub struct ApplyOptions {
    /// File with rooms, in YAML or JSON; a folder: all files in it that end in .yaml, .yml or .json; `-`: standard input.
    /// May be given several times; all are one document.
    #[arg(short, long = "file", value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Only tell what would change.
    #[arg(long)]
    pub dry_run: bool,

    /// With --dry-run: exit code 2 if something would change.
    #[arg(long, requires = "dry_run")]
    pub exit_code: bool,

    /// Delete rooms that have these labels and are not in the document, with their lines: `managed-by=git`, or several
    /// separated by commas.
    #[arg(long, value_name = "LABELS")]
    pub prune: Option<LabelSelector>,

    /// With --prune: how many people may be in the rooms that are deleted, at most. They lose their place or their seat.
    #[arg(long, value_name = "PEOPLE", default_value_t = 0, requires = "prune")]
    pub prune_occupied: u64,

    /// Write what has changed as JSON.
    #[arg(long)]
    pub json: bool,

    /// Which controller.
    #[command(flatten)]
    pub connect: ConnectOptions,
}

/// Applies the files, and shows what that changed.
///
/// # Errors
/// [`TerminalError`]; what is wrong in a file with its line.
pub(super) async fn apply(
    client: &ControllerClient,
    options: &ApplyOptions,
) -> Result<ExitCode, TerminalError> {
    let files = Files::read(&options.files)?;
    let body = Bytes::from(files.document().to_string());
    let answer = client.call(Method::PUT, &path(options), "application/json", body).await;
    let answer = answer.map_err(|error| error.in_files(&files))?;
    let plan: Plan = client.parse(&answer.body)?;
    match show(&answer.body, &plan, options) {
        // Whoever read the output has gone; what follows is true all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        shown => shown?,
    }
    if let Some(behind) = answer.behind {
        eprintln!("warning: {behind}");
    }
    warn_of_people(&plan, options);
    let would_change = options.exit_code && !plan.steps.is_empty();
    Ok(if would_change { ExitCode::from(WOULD_CHANGE) } else { ExitCode::SUCCESS })
}

fn show(body: &[u8], plan: &Plan, options: &ApplyOptions) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if options.json {
        out.write_all(body)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", shown::plan(plan))?;
    }
    out.flush()
}

/// Says of a dry run that the real one would be refused.
fn warn_of_people(plan: &Plan, options: &ApplyOptions) {
    let count: u64 = plan.steps.iter().filter_map(|step| step.people).map(People::count).sum();
    if plan.dry_run && count > options.prune_occupied {
        eprintln!(
            "warning: {count} people are in rooms that would be deleted, so this would be refused without \
             --prune-occupied {count}, or more"
        );
    }
}

fn path(options: &ApplyOptions) -> String {
    let prune = options.prune.as_ref().map(|selector| {
        format!("&prune={}&prune_occupied={}", encoded(selector), options.prune_occupied)
    });
    format!("/v1/config?dry_run={}{}", options.dry_run, prune.unwrap_or_default())
}
