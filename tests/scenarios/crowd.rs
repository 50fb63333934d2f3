//! A crowd for the scenarios: visitors who wait politely, and others who hammer on the door.
//!
//! A visitor that is told to come back later, or whose connection breaks, tries again: what is
//! tested is that this is all it takes. That it keeps its number is checked at every answer.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures_util::future::try_join_all;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use vestibule_tests::{Claims, Deployment, Reply, Visitor, claims_of};

/// A visitor that waits longer than this has been forgotten.
const PATIENCE: Duration = Duration::from_mins(2);
const RETRY: Duration = Duration::from_millis(100);

/// How a visitor waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Checks in when it is told to, and claims when it is its turn.
    Polite,
    /// Claims all the time.
    Hammering,
}

/// A visitor that has its place in the line.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) visitor: Visitor,
    pub(crate) number: u64,
    last: Reply,
    /// When it first asked at the door and got no seat,
    at_door: Option<Instant>,
    /// when it was last answered,
    answered: Instant,
    /// and the longest time from an answer at the door to the next request.
    longest_pause: Duration,
}

/// A visitor that is inside.
#[derive(Debug, Clone)]
pub(crate) struct Entered {
    pub(crate) visitor: Visitor,
    pub(crate) number: u64,
    pub(crate) token: String,
    pub(crate) claims: Claims,
    /// Between these moments the seat was given.
    pub(crate) asked: Instant,
    pub(crate) told: Instant,
    /// When it first asked at the door and got no seat, if it had to ask again,
    pub(crate) at_door: Option<Instant>,
    /// and the longest time from an answer at the door to its next request.
    pub(crate) longest_pause: Duration,
}

// === impl Guest ===

impl Guest {
    fn new(visitor: Visitor, number: u64, last: Reply) -> Self {
        let answered = Instant::now();
        Self { visitor, number, last, at_door: None, answered, longest_pause: Duration::ZERO }
    }

    /// Takes a place, whatever it takes.
    pub(crate) async fn join(mut visitor: Visitor) -> Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match visitor.join().await {
                Ok(reply) if reply.status == 200 => {
                    let number = reply.number("queue_number")?;
                    return Ok(Self::new(visitor, number, reply));
                }
                Ok(reply) if reply.status != 503 => bail!("join: {} {}", reply.status, reply.text),
                _ => ensure!(Instant::now() < deadline, "nobody lets it join"),
            }
            sleep(RETRY).await;
        }
    }

    /// One check-in or claim; `None` when it could not be served just now.
    pub(crate) async fn ask(&mut self, claim: bool) -> Result<Option<Reply>> {
        if self.at_door.is_some() {
            self.longest_pause = self.longest_pause.max(self.answered.elapsed());
        }
        let reply = if claim { self.visitor.claim().await } else { self.visitor.status().await };
        match reply {
            Ok(reply) if reply.status == 200 => {
                let number = reply.number("queue_number")?;
                ensure!(number == self.number, "{} became {number}", self.number);
                self.last = reply.clone();
                self.answered = Instant::now();
                if claim && reply.says("your_turn") {
                    self.at_door.get_or_insert(self.answered);
                }
                Ok(Some(reply))
            }
            Ok(reply) if reply.status != 503 => {
                bail!("number {}: {} {}", self.number, reply.status, reply.text)
            }
            _ => Ok(None),
        }
    }

    /// Waits until it is inside.
    pub(crate) async fn enter(mut self, manner: Manner) -> Result<Entered> {
        let deadline = Instant::now() + PATIENCE;
        let mut asked = Instant::now();
        loop {
            if self.last.says("admitted") {
                return self.inside(asked);
            }
            ensure!(Instant::now() < deadline, "forgotten: {}", self.last.text);
            ensure!(!self.last.says("expired"), "passed over: {}", self.last.text);
            let turn = self.last.says("your_turn");
            if manner == Manner::Hammering || !turn {
                sleep(self.pause(manner)).await;
            }
            asked = Instant::now();
            if self.ask(manner == Manner::Hammering || turn).await?.is_none() {
                sleep(RETRY).await;
            } else if turn && self.last.says("your_turn") {
                sleep(self.pause(manner)).await;
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "visitors come at random")]
    fn pause(&self, manner: Manner) -> Duration {
        match manner {
            Manner::Hammering => Duration::from_millis(rand::random_range(10..60)),
            Manner::Polite => {
                let seconds = self.last.body["next_check_in_seconds"].as_f64().unwrap_or(1.0);
                Duration::from_secs_f64(seconds.clamp(0.05, 5.0))
            }
        }
    }

    fn inside(self, asked: Instant) -> Result<Entered> {
        let token = self.last.text_of("access_token")?;
        let claims = claims_of(&token)?;
        ensure!(claims.queue_position == self.number, "{claims:?} is not for {}", self.number);
        let Self { visitor, number, at_door, longest_pause, .. } = self;
        Ok(Entered {
            visitor,
            number,
            token,
            claims,
            asked,
            told: Instant::now(),
            at_door,
            longest_pause,
        })
    }
}

/// So many newcomers, in no particular order. Sorted by number.
pub(crate) async fn join(deployment: &Deployment, room: &str, count: usize) -> Result<Vec<Guest>> {
    let visitors = (0..count).map(|_| Guest::join(deployment.visitor(room)));
    let mut guests = try_join_all(visitors).await?;
    guests.sort_by_key(|guest| guest.number);
    Ok(guests)
}

/// Everyone waits and enters, each in a task of its own, and does `inside` then.
pub(crate) fn enter_all<F>(
    guests: Vec<Guest>,
    manner: Manner,
    inside: impl Fn(Entered) -> F + Clone + Send + Sync + 'static,
) -> Vec<JoinHandle<Result<Entered>>>
where
    F: Future<Output = Result<Entered>> + Send + 'static,
{
    let enter = |guest: Guest| {
        let inside = inside.clone();
        tokio::spawn(async move { inside(guest.enter(manner).await?).await })
    };
    guests.into_iter().map(enter).collect()
}

/// Waits for all of them.
pub(crate) async fn all_of(tasks: Vec<JoinHandle<Result<Entered>>>) -> Result<Vec<Entered>> {
    let mut entered = Vec::with_capacity(tasks.len());
    for task in tasks {
        entered.push(task.await??);
    }
    Ok(entered)
}

/// Stays for a random while up to `longest`, and leaves.
#[expect(clippy::disallowed_methods, reason = "visitors leave at random")]
pub(crate) async fn stay_and_leave(mut inside: Entered, longest: Duration) -> Result<Entered> {
    sleep(longest.mul_f64(rand::random_range(0.2..1.0))).await;
    // Leaving again does no harm, so a call that broke or was refused for now is simply made again.
    let deadline = Instant::now() + PATIENCE;
    while inside.visitor.leave().await.map_or(true, |reply| reply.status == 503) {
        ensure!(Instant::now() < deadline, "cannot leave");
        sleep(RETRY).await;
    }
    Ok(inside)
}
