//! One request after the other over one connection, and how long each took.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use super::{Caller, connection::Connection};

/// How long each of `count` requests of `caller` took.
///
/// # Errors
/// At the first answer that the caller did not expect.
pub(crate) async fn latencies(
    address: SocketAddr,
    caller: &mut impl Caller,
    count: usize,
) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let (mut request, mut took) = (Vec::new(), Vec::with_capacity(count));
    for _ in 0..count {
        request.clear();
        caller.ask(&mut request);
        let begun = Instant::now();
        let answer = connection.exchange(&request).await?;
        took.push(begun.elapsed());
        ensure!(caller.hear(&answer), "{} {}", answer.status, answer.body.escape_ascii());
    }
    Ok(took)
}
