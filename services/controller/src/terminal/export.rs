//! `export`: writes rooms as one document, which `apply` reads.

use std::{fs, io::Write, path::PathBuf, process::ExitCode};

use clap::Args;
use hyper::{Method, body::Bytes};
use vestibule_domain::{LabelSelector, RoomId};

use super::{ConnectOptions, client::ControllerClient, error::TerminalError, files::FileError};
use crate::openapi::SCHEMA_PATH;

/// What is written, and where to.
#[derive(Debug, Clone, Args)]
pub struct ExportOptions {
    /// Rooms that are written; all that the token is for, if none is named.
    #[arg(value_name = "ROOM")]
    pub rooms: Vec<RoomId>,

    /// Only rooms that have these labels: `managed-by=git`, or several separated by commas.
    #[arg(long, value_name = "LABELS")]
    pub labels: Option<LabelSelector>,

    /// Write also what has its default.
    #[arg(long)]
    pub full: bool,

    /// Write JSON instead of YAML.
    #[arg(long)]
    pub json: bool,

    /// File to write instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Which controller.
    #[command(flatten)]
    pub connect: ConnectOptions,
}

/// Writes the rooms.
///
/// # Errors
/// [`TerminalError`].
pub(super) async fn export(
    client: &ControllerClient,
    options: &ExportOptions,
) -> Result<ExitCode, TerminalError> {
    let accept = if options.json { "application/json" } else { "application/yaml" };
    let answer = client.call(Method::GET, &path(options), accept, Bytes::new()).await?;
    let mut text = Vec::new();
    if options.json {
        let document: serde_json::Value = client.parse(&answer.body)?;
        writeln!(text, "{document:#}")?;
    } else {
        let schema = format!("{}{SCHEMA_PATH}", client.base());
        writeln!(text, "# yaml-language-server: $schema={schema}")?;
        text.extend_from_slice(&answer.body);
    }
    match &options.output {
        None => std::io::stdout().lock().write_all(&text)?,
        Some(path) => {
            let file = path.display().to_string();
            fs::write(path, text).map_err(|source| FileError::Unwritable { file, source })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn path(options: &ExportOptions) -> String {
    let rooms: Vec<_> = options.rooms.iter().map(RoomId::as_str).collect();
    let rooms =
        if rooms.is_empty() { String::new() } else { format!("&rooms={}", rooms.join("%2C")) };
    let labels = options.labels.as_ref().map(|selector| format!("&labels={}", encoded(selector)));
    format!("/v1/config?full={}{rooms}{}", options.full, labels.unwrap_or_default())
}

/// Labels as a parameter: letters, digits and marks that a query may have, but for the equals sign and the comma.
pub(super) fn encoded(selector: &LabelSelector) -> String {
    selector.to_string().replace('=', "%3D").replace(',', "%2C")
}
