//! A closed loop: every connection sends its next request when the last one was answered.
//!
//! The driver uses half of the processors, with one thread and its share of the connections on
//! each. The service may use all of them.

use std::{
    net::SocketAddr,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use tokio::{task::JoinSet, time::timeout};

use super::{Answer, Caller, connection::Connection};
use crate::machine;

/// How long the last answers may take after the time of a load is over.
const LAST_ANSWERS: Duration = Duration::from_secs(30);
/// The number of bytes of an unexpected answer that are quoted.
const QUOTED_BYTES: usize = 500;

/// When callers stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// After this time.
    Elapsed(Duration),
    /// When they have no request left; at most this time.
    Done(Duration),
}

/// The result of a load.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Requests answered, all as expected.
    pub(crate) requests: u64,
    /// The time from the first request to the last answer.
    pub(crate) elapsed: Duration,
    /// The callers, to be used again.
    pub(crate) callers: Vec<Caller>,
}

/// Runs `callers` against the service at `address`, each over a connection of its own.
///
/// # Errors
/// The first answer that its caller did not expect.
pub(crate) async fn run(address: SocketAddr, callers: Vec<Caller>, until: Until) -> Result<Done> {
    let run = tokio::task::spawn_blocking(move || run_threads(address, callers, until));
    run.await.context("the driver panicked")?
}

// === impl Until ===

impl Until {
    fn limit(self) -> Duration {
        match self {
            Self::Elapsed(duration) | Self::Done(duration) => duration,
        }
    }
}

fn run_threads(address: SocketAddr, callers: Vec<Caller>, until: Until) -> Result<Done> {
    let count = (machine::cores() / 2).clamp(1, callers.len().max(1));
    let start = Barrier::new(count);
    thread::scope(|scope| {
        let run = |share| scope.spawn(|| run_thread(address, share, until, &start));
        let threads: Vec<_> = shares(callers, count).into_iter().map(run).collect();
        let mut all = Done::default();
        for thread in threads {
            let one = thread.join().map_err(|_| anyhow!("the driver panicked"))??;
            all.requests += one.requests;
            all.elapsed = all.elapsed.max(one.elapsed);
            all.callers.extend(one.callers);
        }
        Ok(all)
    })
}

fn shares<T: Clone>(callers: Vec<T>, count: usize) -> Vec<Vec<T>> {
    let mut shares = vec![Vec::new(); count];
    for (nth, caller) in callers.into_iter().enumerate() {
        shares[nth % count].push(caller);
    }
    shares
}

fn run_thread(
    address: SocketAddr,
    callers: Vec<Caller>,
    until: Until,
    start: &Barrier,
) -> Result<Done> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let connected = runtime.context("no runtime").and_then(|runtime| {
        let connected = runtime.block_on(connect(address, callers))?;
        Ok((runtime, connected))
    });
    // This runs after a failure too, because the other threads wait for all.
    start.wait();
    let (runtime, connected) = connected?;
    runtime.block_on(call_all(connected, until))
}

async fn connect(address: SocketAddr, callers: Vec<Caller>) -> Result<Vec<(Connection, Caller)>> {
    let mut connected = Vec::with_capacity(callers.len());
    for caller in callers {
        connected.push((Connection::open(address).await?, caller));
    }
    Ok(connected)
}

async fn call_all(connected: Vec<(Connection, Caller)>, until: Until) -> Result<Done> {
    let start = Instant::now();
    let deadline = matches!(until, Until::Elapsed(_)).then(|| start + until.limit());
    let mut calling = JoinSet::new();
    for (connection, caller) in connected {
        calling.spawn(call(connection, caller, deadline));
    }
    let mut done = Done::default();
    let gather = async {
        while let Some(called) = calling.join_next().await {
            let (requests, caller) = called.context("the driver panicked")??;
            done.requests += requests;
            done.callers.push(caller);
        }
        Ok::<_, anyhow::Error>(())
    };
    timeout(until.limit() + LAST_ANSWERS, gather).await.context("the service is stuck")??;
    done.elapsed = start.elapsed();
    Ok(done)
}

async fn call(
    mut connection: Connection,
    mut caller: Caller,
    deadline: Option<Instant>,
) -> Result<(u64, Caller)> {
    let mut request = Vec::with_capacity(512);
    let mut answered = 0;
    while deadline.is_none_or(|deadline| Instant::now() < deadline) {
        request.clear();
        if !caller.ask(&mut request) {
            break;
        }
        let answer = connection.exchange(&request).await?;
        if !caller.receive(&answer) {
            return unexpected(&request, &answer);
        }
        answered += 1;
    }
    Ok((answered, caller))
}

fn unexpected<T>(request: &[u8], answer: &Answer<'_>) -> Result<T> {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let body = &answer.body[..answer.body.len().min(QUOTED_BYTES)];
    bail!("{} was answered {} {}", line.escape_ascii(), answer.status, body.escape_ascii())
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;
    use crate::driver::Caller;

    /// Answers every request with `answer`, in two pieces.
    async fn service(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut request = [0; 1024];
                    while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                        let (first, second) = answer.as_bytes().split_at(20);
                        stream.write_all(first).await.unwrap();
                        tokio::task::yield_now().await;
                        stream.write_all(second).await.unwrap();
                    }
                });
            }
        });
        address
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_connection_calls_until_the_time_is_over() {
        let address = service("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        let until = Until::Elapsed(Duration::from_millis(200));
        let done = run(address, vec![Caller::same("GET", "/"); 5], until).await.unwrap();
        assert!(done.requests >= 5, "{}", done.requests);
        assert!(done.elapsed >= Duration::from_millis(200));
        assert_eq!(done.callers.len(), 5);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_unexpected_answer_is_quoted() {
        let address = service("HTTP/1.1 503 Busy\r\ncontent-length: 5\r\n\r\nlater").await;
        let until = Until::Elapsed(Duration::from_secs(5));
        let error =
            run(address, vec![Caller::same("GET", "/")], until).await.unwrap_err().to_string();
        assert_eq!(error, "GET / HTTP/1.1 was answered 503 later");
    }

    #[test]
    fn shares_are_even() {
        let shares = shares((0..7).collect(), 3);
        assert_eq!(shares, [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }
}
