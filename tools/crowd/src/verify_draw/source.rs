//! Where the record comes from: a file, stdin, or an admission service.

use std::{io::Read, path::Path, time::Duration};

use anyhow::{Context, bail};
use reqwest::Url;
use vestibule_domain::{RoomId, draw::DrawRecord};

use super::VerifyDrawOptions;
use crate::http;

/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// Reads the record that the options name.
///
/// # Errors
/// When it cannot be had, or is none.
pub(super) async fn read(options: &VerifyDrawOptions) -> anyhow::Result<DrawRecord> {
    let text = match (&options.file, &options.admission, &options.room) {
        (Some(path), ..) => from_file(path)?,
        (None, Some(base), Some(room)) => fetch(base, room).await?,
        _ => bail!("give --file, or --admission with --room"),
    };
    serde_json::from_slice(&text).context("this is no record of a draw")
}

fn from_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).context("cannot read stdin")?;
        return Ok(text);
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

async fn fetch(base: &Url, room: &RoomId) -> anyhow::Result<Vec<u8>> {
    let address = format!("{}/draw", http::room_at(base, room.as_str()));
    http::exchange(http::client(CALL_TIMEOUT)?.get(address)).await
}
