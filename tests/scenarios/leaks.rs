//! A search for a seed that nobody has told us: all that is known of it is the hash that was
//! promised.

use anyhow::Result;
use redis::aio::MultiplexedConnection;
use sha2::{Digest, Sha256};

/// Whether the seed that was promised is anywhere in this, as it is or in hexadecimal.
pub(crate) fn reveals(text: &[u8], commitment: &str) -> Result<bool> {
    let commitment = hex::decode(commitment)?;
    let is_seed = |bytes: &[u8]| Sha256::digest(bytes).as_slice() == commitment;
    let words = text.split(|byte| !byte.is_ascii_hexdigit());
    let mut written =
        words.flat_map(|digits| digits.windows(64)).filter_map(|digits| hex::decode(digits).ok());
    Ok(written.any(|bytes| is_seed(&bytes)) || text.windows(32).any(is_seed))
}

#[test]
fn a_seed_is_found_in_any_form() -> Result<()> {
    let seed = [0xA7; 32];
    let commitment = hex::encode(Sha256::digest(seed));
    let text = |middle: &[u8]| [b"before ".as_slice(), middle, b"5 after"].concat();
    assert!(reveals(&text(&seed), &commitment)?);
    assert!(reveals(&text(hex::encode(seed).as_bytes()), &commitment)?);
    assert!(reveals(&text(hex::encode_upper(seed).as_bytes()), &commitment)?);
    assert!(!reveals(&text(commitment.as_bytes()), &commitment)?);
    Ok(())
}

/// All values that Redis holds.
pub(crate) async fn stored(connection: &mut MultiplexedConnection) -> Result<Vec<u8>> {
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(connection).await?;
    let mut all = Vec::new();
    for key in keys {
        let kind: String = redis::cmd("TYPE").arg(&key).query_async(connection).await?;
        let mut command = match kind.as_str() {
            "string" => redis::cmd("MGET"),
            "hash" => redis::cmd("HGETALL"),
            "set" => redis::cmd("SMEMBERS"),
            // It was deleted, or has expired, since the keys were listed.
            "none" => continue,
            _ => redis::cmd("ZRANGE"),
        };
        command.arg(&key);
        if kind == "zset" {
            command.arg(0).arg(-1);
        }
        let values: Vec<Option<Vec<u8>>> = command.query_async(connection).await?;
        values
            .into_iter()
            .flatten()
            .for_each(|value| all.extend([b"\n", value.as_slice()].concat()));
    }
    Ok(all)
}
