//! Measures the latencies of requests sent one after the other over one connection.

use std::{net::SocketAddr, time::Instant};

use anyhow::{Result, ensure};
use hdrhistogram::Histogram;

use super::{Caller, connection::Connection};

/// Significant digits that are kept.
const DIGITS: u8 = 4;

/// The latencies of `count` requests of `caller`, in nanoseconds.
///
/// # Errors
/// The first answer that the caller did not expect.
pub(crate) async fn latencies(
    address: SocketAddr,
    caller: &mut Caller,
    count: usize,
) -> Result<Histogram<u64>> {
    let mut connection = Connection::open(address).await?;
    let (mut request, mut took) = (Vec::new(), Histogram::new(DIGITS)?);
    for _ in 0..count {
        request.clear();
        caller.ask(&mut request);
        let begun = Instant::now();
        let answer = connection.exchange(&request).await?;
        took.record(u64::try_from(begun.elapsed().as_nanos())?)?;
        ensure!(caller.receive(&answer), "{} {}", answer.status, answer.body.escape_ascii());
    }
    Ok(took)
}

/// The median of nanoseconds, in microseconds.
#[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 ns")]
pub(crate) fn median(nanos: &Histogram<u64>) -> f64 {
    nanos.value_at_quantile(0.5) as f64 / 1e3
}
