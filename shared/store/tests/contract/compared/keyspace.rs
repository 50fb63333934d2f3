//! Everything that two servers hold, compared.

use std::{collections::BTreeMap, time::Duration};

use redis::{aio::MultiplexedConnection, cmd};
use vestibule_redis_model::{Dump, Dumped};

use super::pair::Mismatch;

/// What a real server holds, each key with the end of its life.
pub(super) type Held = BTreeMap<String, (Dumped, Option<End>)>;

/// When a key expires: after so many ms, and at this time by the server's clock, unix ms.
#[derive(Debug)]
pub(super) struct End {
    left: u64,
    at: u64,
}

/// Everything on the server.
pub(super) async fn read(connection: &mut MultiplexedConnection) -> Held {
    let keys: Vec<String> = cmd("KEYS").arg("*").query_async(connection).await.unwrap();
    let mut held = Held::new();
    for key in keys {
        let left: i64 = cmd("PTTL").arg(&key).query_async(connection).await.unwrap();
        let at: i64 = cmd("PEXPIRETIME").arg(&key).query_async(connection).await.unwrap();
        // It may have expired since.
        if left != -2 && at != -2 {
            let value = value(connection, &key).await;
            let end = u64::try_from(left).ok().zip(u64::try_from(at).ok());
            held.insert(key, (value, end.map(|(left, at)| End { left, at })));
        }
    }
    held
}

async fn value(connection: &mut MultiplexedConnection, key: &str) -> Dumped {
    let kind: String = cmd("TYPE").arg(key).query_async(connection).await.unwrap();
    match kind.as_str() {
        "hash" => Dumped::Hash(cmd("HGETALL").arg(key).query_async(connection).await.unwrap()),
        "set" => Dumped::Set(cmd("SMEMBERS").arg(key).query_async(connection).await.unwrap()),
        "zset" => {
            let mut read = cmd("ZRANGE");
            read.arg(key).arg(0).arg(-1).arg("WITHSCORES");
            Dumped::SortedSet(read.query_async(connection).await.unwrap())
        }
        "stream" => {
            let mut read = cmd("XRANGE");
            Dumped::Stream(read.arg(key).arg("-").arg("+").query_async(connection).await.unwrap())
        }
        _ => Dumped::Text(cmd("GET").arg(key).query_async(connection).await.unwrap()),
    }
}

/// Whether both hold the same. The model's keys expire at a time, and it is `now_ms` there. The two
/// servers' clocks are not alike, and a script names the time, or how long it is until then.
pub(super) fn compare(
    (model, now_ms): (Dump, u64),
    mut real: Held,
    tolerance: Duration,
) -> Result<(), Mismatch> {
    let tolerance = u64::try_from(tolerance.as_millis()).unwrap();
    for (key, (value, expires_at)) in model {
        let Some((real_value, end)) = real.remove(&key) else {
            return Err(Mismatch(format!("{key}: only the model has {value:?}")));
        };
        let alike = match (expires_at, &end) {
            (Some(at), Some(end)) => at == end.at || (at - now_ms).abs_diff(end.left) <= tolerance,
            (at, end) => at.is_none() && end.is_none(),
        };
        if value != real_value || !alike {
            let model = format!(" model: {value:?} until {expires_at:?}, and it is {now_ms}");
            let real = format!("  real: {real_value:?}, {end:?}");
            return Err(Mismatch(format!("left at the end, {key}:\n{model}\n{real}")));
        }
    }
    match real.into_iter().next() {
        Some((key, (value, _))) => Err(Mismatch(format!("{key}: only the server has {value:?}"))),
        None => Ok(()),
    }
}
