//! An open loop: newcomers of a room come at a pace of their own, whether or not those before them have been
//! answered. So a pause of the services keeps nobody from coming, and is seen in what becomes of each.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use tokio::{
    task::JoinSet,
    time::{sleep_until, timeout},
};

use super::{Answer, Caller, Ticket, connection::Connection, running::Running};

/// Connections to each service. Only if all of them wait for answers somebody cannot come in time.
const CONNECTIONS: usize = 1_000;
/// Who would come so much later than due is left out.
const LATE: Duration = Duration::from_millis(200);
/// After how long nobody waits for an answer any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Those who come, until this is stopped or dropped.
#[derive(Debug)]
pub(crate) struct Newcomers {
    shared: Arc<Shared>,
    running: Running,
}

/// What became of one of them.
#[derive(Debug, Clone)]
pub(crate) struct Newcomer {
    /// Which service was asked.
    pub(crate) service: usize,
    /// When.
    pub(crate) sent: Instant,
    /// When it was answered, or given up.
    pub(crate) answered: Instant,
    /// The place that the newcomer was given; `None`: it was told to come again, or not answered.
    pub(crate) place: Option<Place>,
}

/// A place in the line, as its visitor was told.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The visitor's ticket.
    pub(crate) ticket: Ticket,
    /// The queue number.
    pub(crate) number: u64,
}

#[derive(Debug)]
struct Shared {
    services: Vec<SocketAddr>,
    room: String,
    per_second: u32,
    begun: Instant,
    next: AtomicU32,
    left_out: AtomicUsize,
    came: Mutex<Vec<Newcomer>>,
}

// === impl Newcomers ===

impl Newcomers {
    /// So many come to `room` every second, by turns to each of the services.
    pub(crate) fn come(services: Vec<SocketAddr>, room: &str, per_second: u32) -> Self {
        let shared = Arc::new(Shared {
            services,
            room: room.to_owned(),
            per_second,
            begun: Instant::now(),
            next: AtomicU32::new(0),
            left_out: AtomicUsize::new(0),
            came: Mutex::default(),
        });
        let of_load = Arc::clone(&shared);
        Self { shared, running: Running::start(move || all_come(of_load)) }
    }

    /// Whether somebody has come so far who is as `wanted`; the latest are looked at first.
    pub(crate) fn any(&self, wanted: impl FnMut(&Newcomer) -> bool) -> bool {
        self.shared.came().iter().rev().any(wanted)
    }

    /// Nobody comes any more. What became of everybody, in the order of the answers; and how many were left out because
    /// all connections were taken.
    pub(crate) fn stop(self) -> Result<(Vec<Newcomer>, usize)> {
        self.running.stop()?;
        let came = std::mem::take(&mut *self.shared.came());
        Ok((came, self.shared.left_out.load(Relaxed)))
    }
}

// === impl Shared ===

impl Shared {
    /// When the next one is due.
    fn next(&self) -> Instant {
        let nth = self.next.fetch_add(1, Relaxed);
        self.begun + Duration::from_secs(1) * nth / self.per_second
    }

    fn came(&self) -> MutexGuard<'_, Vec<Newcomer>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn all_come(shared: Arc<Shared>) -> Result<()> {
    let mut coming = JoinSet::new();
    for nth in 0..CONNECTIONS * shared.services.len() {
        coming.spawn(some_come(Arc::clone(&shared), nth % shared.services.len()));
    }
    match coming.join_next().await {
        Some(ended) => ended?,
        None => bail!("no service to come to"),
    }
}

/// Those of one connection. One that breaks is opened again by the next.
async fn some_come(shared: Arc<Shared>, service: usize) -> Result<()> {
    let (mut caller, mut request) = (Caller::joining(&shared.room), Vec::new());
    caller.ask(&mut request);
    let mut connection = None;
    loop {
        let due = shared.next();
        if due.elapsed() > LATE {
            shared.left_out.fetch_add(1, Relaxed);
            continue;
        }
        sleep_until(due.into()).await;
        let sent = Instant::now();
        let asked = ask(&mut connection, shared.services[service], &request);
        let place = timeout(PATIENCE, asked).await.ok().and_then(Result::ok);
        if place.is_none() {
            connection = None;
        }
        let newcomer = Newcomer { service, sent, answered: Instant::now(), place: place.flatten() };
        shared.came().push(newcomer);
    }
}

async fn ask(
    connection: &mut Option<Connection>,
    service: SocketAddr,
    request: &[u8],
) -> Result<Option<Place>> {
    if connection.is_none() {
        *connection = Some(Connection::open(service).await?);
    }
    match connection {
        Some(connection) => Ok(place(&connection.exchange(request).await?)),
        None => Ok(None),
    }
}

/// The place that the answer gives.
fn place(answer: &Answer<'_>) -> Option<Place> {
    let waits = answer.status == 200 && answer.has_status("waiting");
    let ticket = answer.ticket.filter(|_| waits)?.to_owned();
    Some(Place { ticket, number: answer.member("queue_number")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_waits_has_a_place() {
        let answer = |status, body| Answer { status, ticket: Some(b"t"), body };
        let waiting: &[u8] = br#"{"status":"waiting","queue_number":4711,"position":3}"#;
        let given = place(&answer(200, waiting)).unwrap();
        assert_eq!((given.ticket.as_slice(), given.number), (&b"t"[..], 4_711));
        assert!(place(&answer(503, waiting)).is_none());
        assert!(place(&Answer { ticket: None, ..answer(200, waiting) }).is_none());
        assert!(place(&answer(200, br#"{"status":"admitted","queue_number":4711}"#)).is_none());
    }
}
