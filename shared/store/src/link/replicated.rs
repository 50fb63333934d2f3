//! Calls whose effect shall be on replicas before they are answered.
//!
//! `WAIT` blocks its connection, so these calls never travel on the shared one. A few lanes, each with a
//! connection of its own, take them in turns. Whatever came to a lane while its last `WAIT` was under way
//! travels together and shares the next one, so a replica that is slow, or gone, costs every caller one
//! waiting time, however many callers there are; see also [`Patience`].
//!
//! Too few replicas in time does not mean that the write is lost, only that nobody knows: it is counted, and
//! logged once a second at most, and the answer is given all the same. No pool: it would hold a whole
//! connection for each call.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use redis::{
    Cmd, Pipeline, RedisError, Value, aio::ConnectionLike, aio::MultiplexedConnection,
    make_extension_error,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    failures::{leaves_server, timed_out},
    opener::Opener,
    options::Wait,
    patience::Patience,
};
use crate::error::{CROWDED, STRANGER};

/// A call on one lane does not stall those on the others.
const LANES: usize = 4;
/// Most calls that share a `WAIT`.
const TOGETHER: usize = 256;
/// Most calls that wait for a lane; more are refused.
const QUEUE: usize = 4096;
const LOG_PAUSE: Duration = Duration::from_secs(1);

/// Counts the answers given although too few replicas had what they say.
#[derive(Debug, Default)]
pub(super) struct Shortfalls {
    count: AtomicU64,
    logged: Mutex<Option<Instant>>,
}

/// The connections of one server.
pub(super) struct Lanes {
    lanes: Vec<mpsc::Sender<Job>>,
    next: AtomicUsize,
}

struct Job {
    command: Cmd,
    asking: bool,
    answer: oneshot::Sender<Result<Value, RedisError>>,
}

struct Lane {
    opener: Arc<Opener>,
    /// Longer than usual by the time that `WAIT` may take.
    timeout: Duration,
    wait: Wait,
    patience: Arc<Patience>,
    shortfalls: Arc<Shortfalls>,
    connection: Option<MultiplexedConnection>,
}

// === impl Shortfalls ===

impl Shortfalls {
    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    fn add(&self, answers: u64, found: i64, wait: Wait) {
        self.count.fetch_add(answers, Relaxed);
        let now = Instant::now();
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|at| now >= at + LOG_PAUSE) {
            *logged = Some(now);
            tracing::warn!(
                found,
                wanted = wait.replicas,
                waited_ms = wait.within.as_millis(),
                shortfalls = self.count(),
                "answers were given that too few replicas are known to have"
            );
        }
    }
}

// === impl Lanes ===

impl Lanes {
    /// Starts the lanes' tasks, which end with this value; nothing is connected yet.
    pub(super) fn open(
        opener: &Arc<Opener>,
        timeout: Duration,
        wait: Wait,
        shortfalls: &Arc<Shortfalls>,
    ) -> Self {
        let patience = Arc::<Patience>::default();
        let lane = || {
            let (sender, jobs) = mpsc::channel(QUEUE);
            let lane = Lane {
                opener: Arc::clone(opener),
                timeout: timeout + wait.within,
                wait,
                patience: Arc::clone(&patience),
                shortfalls: Arc::clone(shortfalls),
                connection: None,
            };
            tokio::spawn(lane.run(jobs));
            sender
        };
        Self { lanes: (0..LANES).map(|_| lane()).collect(), next: AtomicUsize::new(0) }
    }

    /// Sends a command on the next lane.
    pub(super) async fn ask(&self, command: &Cmd, asking: bool) -> Result<Value, RedisError> {
        let (answer, answered) = oneshot::channel();
        let lane = &self.lanes[self.next.fetch_add(1, Relaxed) % LANES];
        let job = Job { command: command.clone(), asking, answer };
        lane.try_send(job).map_err(|_| crowded())?;
        answered.await.unwrap_or_else(|_| Err(timed_out("the lane has ended")))
    }
}

/// Too many calls wait for a lane: that is no word of the server.
fn crowded() -> RedisError {
    make_extension_error(CROWDED.to_owned(), Some("too many calls wait for replicas".to_owned()))
}

// === impl Lane ===

impl Lane {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut together = Vec::new();
        while jobs.recv_many(&mut together, TOGETHER).await > 0 {
            // Who has given up in the meantime does not want its command carried out any more.
            together.retain(|job| !job.answer.is_closed());
            let waited = self.patience.lasts(self.wait.within);
            let replies = self.send(&together, waited).await;
            self.answer(std::mem::take(&mut together), replies, waited);
        }
    }

    /// Sends all commands, and `WAIT` for so long behind them.
    async fn send(&mut self, jobs: &[Job], within: Duration) -> Result<Vec<Value>, RedisError> {
        if self.connection.is_none() {
            let mut connection = self.opener.open().await?;
            connection.set_response_timeout(self.timeout);
            self.connection = Some(connection);
        }
        let Some(connection) = &mut self.connection else {
            return Err(timed_out("no connection"));
        };
        let mut pipeline = Pipeline::with_capacity(jobs.len() + 1);
        for job in jobs {
            if job.asking {
                pipeline.cmd("ASKING");
            }
            pipeline.add_command(job.command.clone());
        }
        let waited = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        pipeline.cmd("WAIT").arg(self.wait.replicas.get()).arg(waited);
        let replies = connection.req_packed_commands(&pipeline, 0, pipeline.len()).await;
        if replies.is_err() {
            self.connection = None;
        }
        replies
    }

    fn answer(
        &mut self,
        jobs: Vec<Job>,
        replies: Result<Vec<Value>, RedisError>,
        waited: Duration,
    ) {
        let mut replies = match replies {
            Ok(replies) => replies.into_iter(),
            Err(error) => {
                for job in jobs {
                    let _ = job.answer.send(Err(error.clone()));
                }
                return;
            }
        };
        let found = match replies.next_back() {
            Some(Value::Int(found)) => found,
            _ => 0,
        };
        let mut written = 0;
        for job in jobs {
            if job.asking {
                let _ = replies.next();
            }
            let reply = replies.next().unwrap_or(Value::Nil).extract_error();
            match &reply {
                Ok(_) => written += 1,
                // It may lead to another server still than the shared one, on which this service is heard.
                Err(error) if leaves_server(error) || error.code() == Some(STRANGER) => {
                    self.connection = None;
                }
                Err(_) => {}
            }
            let _ = job.answer.send(reply);
        }
        let enough = found >= i64::from(self.wait.replicas.get());
        self.patience.note(enough, waited == self.wait.within);
        if !enough && written > 0 {
            self.shortfalls.add(written, found, self.wait);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;

    #[test]
    fn where_too_many_wait_for_replicas_the_server_is_not_away() {
        let refused = crowded();
        assert!(!leaves_server(&refused), "the connection is kept");
        assert!(matches!(StoreError::from(refused), StoreError::Overloaded));
    }
}
