//! Visitors of many rooms, who come, wait for their turn, enter, stay for a moment, leave, and come again as somebody
//! new. As many as there are seats are inside, and the others wait, so something happens in every room all the time.

use std::{
    mem,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{Answer, Ticket, connection::Connection, running::Running};

/// Who is told to come again, or not answered, comes again after so long.
const AGAIN: Duration = Duration::from_secs(1);
/// After how long nobody waits for an answer any more: longer than claims are held.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all visitors do alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    /// Visitors of each room.
    pub(crate) of_a_room: u32,
    /// How long they stay, on average; from half of it to half as long again.
    pub(crate) stay: Duration,
    /// How long they are away before they come again.
    pub(crate) away: Duration,
}

/// The visitors, until this is stopped or dropped.
#[derive(Debug)]
pub(crate) struct Visitors {
    seen: Arc<Mutex<Seen>>,
    running: Running,
}

/// What happened to visitors.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How long the answer to each join took.
    pub(crate) joins: Vec<Duration>,
    /// Answers to calls of all kinds.
    pub(crate) answers: u32,
    /// How many entered.
    pub(crate) entered: u32,
    /// How many calls were not answered as they should be, or not at all.
    pub(crate) failed: u32,
}

/// One visitor.
struct Visitor {
    service: SocketAddr,
    room: String,
    habits: Habits,
    seen: Arc<Mutex<Seen>>,
    connection: Option<Connection>,
    /// Its ticket while it waits or is inside.
    ticket: Option<Ticket>,
    /// Another number each time that it comes: short and long stays take turns.
    times: u32,
    request: Vec<u8>,
}

/// What a visitor does next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    Joins,
    /// Asks for its status, after so long.
    Asks(Duration),
    Claims,
    Stays,
}

// === impl Visitors ===

impl Visitors {
    /// Visitors come to all `rooms`, in the course of their average stay.
    pub(crate) fn come(services: [SocketAddr; 2], rooms: &[String], habits: Habits) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (rooms, of_load) = (rooms.to_owned(), Arc::clone(&seen));
        let running = Running::start(move || all_live(services, rooms, habits, of_load));
        Self { seen, running }
    }

    /// What happened since this was asked last.
    pub(crate) fn take(&self) -> Seen {
        mem::take(&mut lock(&self.seen))
    }

    /// Nobody calls any more.
    pub(crate) fn stop(self) -> Result<()> {
        self.running.stop()
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn all_live(
    services: [SocketAddr; 2],
    rooms: Vec<String>,
    habits: Habits,
    seen: Arc<Mutex<Seen>>,
) -> Result<()> {
    let mut living = JoinSet::new();
    let visitors = rooms.iter().cycle().take(rooms.len() * habits.of_a_room as usize);
    for (nth, room) in visitors.enumerate() {
        // By turns, and so that a room's visitors do not all call the same one.
        let service = services[(nth + nth / rooms.len()) % services.len()];
        let visitor = Visitor::new((service, room), habits, u32::try_from(nth)?, &seen);
        living.spawn(visitor.lives());
    }
    match living.join_next().await {
        Some(ended) => Ok(ended?),
        None => bail!("there are no rooms"),
    }
}

/// A part of `duration` that differs from number to number, by a multiple of one prime in another.
fn part(duration: Duration, number: u32) -> Duration {
    duration * (number % 101 * 7 % 101) / 101
}

// === impl Visitor ===

impl Visitor {
    fn new(
        (service, room): (SocketAddr, &str),
        habits: Habits,
        times: u32,
        seen: &Arc<Mutex<Seen>>,
    ) -> Self {
        Self {
            service,
            room: room.to_owned(),
            habits,
            seen: Arc::clone(seen),
            connection: None,
            ticket: None,
            times,
            request: Vec::with_capacity(512),
        }
    }

    async fn lives(mut self) {
        sleep(part(self.habits.stay, self.times)).await;
        let mut next = Next::Joins;
        loop {
            match self.does(next).await {
                Some(after) => next = after,
                None => sleep(AGAIN).await,
            }
        }
    }

    /// Does this, and tells what comes next; `None`: it was not answered as it should be.
    async fn does(&mut self, next: Next) -> Option<Next> {
        match next {
            Next::Joins => self.joins().await,
            Next::Asks(after) => {
                sleep(after).await;
                self.calls("GET", "status").await
            }
            Next::Claims => self.calls("POST", "claim").await,
            Next::Stays => Some(self.stays().await),
        }
    }

    async fn joins(&mut self) -> Option<Next> {
        self.ticket = None;
        self.times = self.times.wrapping_add(1);
        let begun = Instant::now();
        let next = self.calls("POST", "join").await?;
        lock(&self.seen).joins.push(begun.elapsed());
        Some(next)
    }

    async fn stays(&mut self) -> Next {
        let Habits { stay, away, .. } = self.habits;
        lock(&self.seen).entered += 1;
        sleep(stay / 2 + part(stay, self.times)).await;
        // If that is not answered, its session ends by itself.
        self.calls("POST", "leave").await;
        sleep(away).await;
        Next::Joins
    }

    async fn calls(&mut self, method: &str, name: &str) -> Option<Next> {
        let mut connection = self.connection.take();
        let called = timeout(PATIENCE, self.exchange(&mut connection, method, name)).await;
        let next = called.ok().and_then(Result::ok).flatten();
        // One on which an answer may still come cannot be used again.
        self.connection = connection.filter(|_| next.is_some());
        let mut seen = lock(&self.seen);
        seen.answers += u32::from(next.is_some());
        seen.failed += u32::from(next.is_none());
        next
    }

    async fn exchange(
        &mut self,
        connection: &mut Option<Connection>,
        method: &str,
        name: &str,
    ) -> Result<Option<Next>> {
        if connection.is_none() {
            *connection = Some(Connection::open(self.service).await?);
        }
        let Some(connection) = connection else { bail!("no connection") };
        self.writes(method, name);
        let answer = connection.exchange(&self.request).await?;
        if let Some(ticket) = answer.ticket {
            self.ticket = Some(ticket.to_owned());
        }
        Ok(next(&answer))
    }

    fn writes(&mut self, method: &str, name: &str) {
        let ticket =
            self.ticket.as_deref().map(|ticket| [b"Vestibule-Ticket: ", ticket, b"\r\n"].concat());
        let head = format!(
            "{method} /v1/rooms/{}/{name} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n",
            self.room
        );
        self.request.clear();
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(&ticket.unwrap_or_default());
        self.request.extend_from_slice(b"\r\n");
    }
}

/// What a visitor does who is answered like this; `None`: it is to come again.
fn next(answer: &Answer<'_>) -> Option<Next> {
    if answer.status != 200 {
        return None;
    }
    if answer.has_status("waiting") {
        let seconds = answer.member("next_check_in_seconds")?;
        return Duration::try_from_secs_f64(seconds).ok().map(Next::Asks);
    }
    Some(if answer.has_status("your_turn") {
        Next::Claims
    } else if answer.has_status("admitted") {
        Next::Stays
    } else {
        Next::Joins
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, body: &[u8]) -> Option<Next> {
        next(&Answer { status, ticket: None, body })
    }

    #[test]
    fn whoever_waits_asks_when_told_to() {
        let waiting = br#"{"status":"waiting","next_check_in_seconds":1.25}"#;
        assert_eq!(told(200, waiting), Some(Next::Asks(Duration::from_millis(1_250))));
        assert_eq!(told(200, br#"{"status":"your_turn"}"#), Some(Next::Claims));
        assert_eq!(told(200, br#"{"status":"admitted"}"#), Some(Next::Stays));
    }

    #[test]
    fn whose_place_is_over_comes_as_somebody_new() {
        assert_eq!(told(200, br#"{"status":"closed"}"#), Some(Next::Joins));
        assert_eq!(told(200, br#"{"status":"expired"}"#), Some(Next::Joins));
        assert_eq!(told(503, br#"{"status":503}"#), None);
    }

    #[test]
    fn parts_differ_and_are_never_the_whole() {
        let parts = |number| part(Duration::from_secs(101), number).as_secs();
        assert_eq!([0, 1, 2, 15, 101].map(parts), [0, 7, 14, 4, 0]);
        assert!((0..101).all(|number| parts(number) < 101));
    }
}
