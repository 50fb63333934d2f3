//! Solves the built-in challenge, as an app would: by ALTCHA's open format.

use anyhow::{Context, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The solution of a challenge, as it is sent in `Vestibule-Challenge`.
pub fn solve(challenge: &Value) -> Result<String> {
    let text = |name: &str| challenge[name].as_str().with_context(|| format!("no {name}"));
    let (hash, salt) = (hex::decode(text("challenge")?)?, text("salt")?);
    let most = challenge["maxnumber"].as_u64().context("no maxnumber")?;
    let solves = |number: &u64| Sha256::digest(format!("{salt}{number}")).as_slice() == hash;
    let number = (0..=most).find(solves).context("it has no solution")?;
    let solution = json!({
        "algorithm": text("algorithm")?, "challenge": text("challenge")?, "number": number,
        "salt": salt, "signature": text("signature")?,
    });
    Ok(STANDARD.encode(solution.to_string()))
}
