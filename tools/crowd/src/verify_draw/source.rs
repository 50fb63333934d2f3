//! Where the record comes from: a file, stdin, or an admission service.

use std::{io::Read, path::Path, time::Duration};

use anyhow::{Context, bail};
use hyper::Uri;
use tokio::time::timeout;
use vestibule_domain::draw::DrawRecord;

use crate::{cli::VerifyDrawOptions, client};

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

async fn fetch(base: &Uri, room: &str) -> anyhow::Result<Vec<u8>> {
    let base = base.to_string();
    let address = format!("{}/v1/rooms/{room}/draw", base.trim_end_matches('/'));
    let answer = timeout(CALL_TIMEOUT, client::http().get(address.parse()?)).await;
    let response = answer.with_context(|| format!("no answer from {address}"))?;
    let response = response.with_context(|| format!("cannot reach {address}"))?;
    let status = response.status();
    let body = client::read(response.into_body()).await.context("the answer broke off")?;
    if !status.is_success() {
        bail!("{address} answered {status}: {}", String::from_utf8_lossy(&body));
    }
    Ok(body.into())
}
