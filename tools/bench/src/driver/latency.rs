//! Measures the latencies of requests sent one after the other over one connection.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use super::{Caller, connection::Connection};

/// The latencies of `count` requests of `caller`.
///
/// # Errors
/// The first answer that the caller did not expect.
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
        ensure!(caller.receive(&answer), "{} {}", answer.status, answer.body.escape_ascii());
    }
    Ok(took)
}
