//! Hostile company on its way, in real time or in virtual time: a task for each who goes on calling,
//! beside the visitors' own. What each kind decides is in the files beside this one. Nothing here is
//! written into a visitor's record, and nothing here is polite.

mod ghosts;
mod hoarder;
mod idler;
mod replayer;
mod sharers;

use std::{sync::Arc, time::Duration};

use rand::{SeedableRng, rngs::SmallRng};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

pub(crate) use self::ghosts::take_numbers;
use self::{hoarder::Hoarder, idler::Idler, replayer::Replayer, sharers::Sharers};
use super::{Recorder, Reply, Way, pause};
use crate::{
    crowd::{Call, Hostile, HostilePlan},
    record::HostileLog,
};

/// What a hostile visitor does next.
#[derive(Debug, Clone, PartialEq)]
enum Act<T> {
    /// Makes a call with this ticket, after a pause.
    Call(Call, Option<T>, Duration),
    /// Is heard of no more.
    Gone,
}

/// What came of a call, with the seconds since the run's start at which it was sent and answered.
#[derive(Debug)]
struct Heard<T> {
    call: Call,
    reply: Reply<T>,
    sent: f64,
    now: f64,
}

/// A hostile visitor: it is told what came of a call, and says what it does next.
trait Mischief<T>: Send {
    /// Decides, and writes down what only it knows.
    fn next(&mut self, heard: Heard<T>, rng: &mut SmallRng, log: &mut HostileLog) -> Act<T>;

    /// Which of its further clients makes the next call, counted from 0; `None`: the first one, who is the only
    /// one of most.
    fn further_client(&self) -> Option<usize> {
        None
    }
}

/// Sends those who go on calling. They stop when what is given back is dropped.
pub(crate) fn send<W: Way>(
    way: &Arc<W>,
    recorder: &Arc<Recorder>,
    plans: Vec<HostilePlan>,
) -> JoinSet<()> {
    let (mut tasks, mut clients) = (JoinSet::new(), plans.len());
    for (nth, plan) in plans.into_iter().enumerate() {
        // Further clients have the numbers behind those of the first ones.
        tasks.spawn(misbehave(way.clone(), recorder.clone(), (nth, clients), plan));
        clients += usize::try_from(plan.clients - 1).unwrap_or(usize::MAX);
    }
    tasks
}

async fn misbehave<W: Way>(
    way: Arc<W>,
    recorder: Arc<Recorder>,
    (first, further): (usize, usize),
    plan: HostilePlan,
) {
    sleep_until(recorder.start() + plan.visitor.arrives).await;
    recorder.write(|book| book.company.of(plan.kind).came += u64::from(plan.clients));
    let mut rng = SmallRng::seed_from_u64(plan.visitor.seed);
    let mut who: Box<dyn Mischief<W::Ticket>> = match plan.kind {
        Hostile::Replayer => Box::new(Replayer::new(&mut rng)),
        Hostile::Idler => Box::new(Idler::new(plan.visitor.stay)),
        Hostile::Hoarder => Box::new(Hoarder::new()),
        Hostile::Sharers => Box::new(Sharers::new(plan.clients, plan.visitor.stay)),
    };
    let mut act = Act::Call(Call::Join, None, Duration::ZERO);
    while let Act::Call(call, ticket, after) = act {
        pause(after).await;
        // Boxed, so that somebody who sleeps does not carry the room for a call around.
        let client = who.further_client().map_or(first, |nth| further + nth);
        let reply = Box::pin(way.call(client, call, ticket, &mut rng)).await;
        let sent = recorder.since_start(reply.sent);
        let heard = Heard { call, reply, sent, now: recorder.since_start(Instant::now()) };
        act = recorder.write(|book| {
            let log = book.company.of(plan.kind);
            log.note(call, heard.reply.outcome.error());
            who.next(heard, &mut rng, log)
        });
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::*;
    use crate::visits::Outcome;

    /// Somebody hostile, and what is known of it.
    pub(super) struct Watched<M> {
        pub(super) who: M,
        pub(super) log: HostileLog,
        pub(super) rng: SmallRng,
        now: f64,
    }

    impl<M: Mischief<u32>> Watched<M> {
        pub(super) fn new(make: impl FnOnce(&mut SmallRng) -> M) -> Self {
            let mut rng = SmallRng::seed_from_u64(1);
            Self { who: make(&mut rng), log: HostileLog::default(), rng, now: 0.0 }
        }

        /// One second after what it heard last: the call was sent half a second before.
        pub(super) fn hears(
            &mut self,
            call: Call,
            outcome: Outcome,
            ticket: Option<u32>,
        ) -> Act<u32> {
            self.now += 1.0;
            let queued = Duration::ZERO;
            let reply = Reply { outcome, ticket, sent: Instant::now(), latency: None, queued };
            let heard = Heard { call, reply, sent: self.now - 0.5, now: self.now };
            self.who.next(heard, &mut self.rng, &mut self.log)
        }

        pub(super) fn told(&mut self, call: Call, status: &str, ticket: u32) -> Act<u32> {
            let inside =
                if status == "admitted" { r#","access_token":"t","expires_in":30"# } else { "" };
            let body = format!(r#"{{"status":"{status}","next_check_in_seconds":3{inside}}}"#);
            let answer = Outcome::Answer(serde_json::from_str(&body).unwrap());
            self.hears(call, answer, Some(ticket))
        }

        pub(super) fn shed(&mut self, call: Call, status: u16, retry_after: f64) -> Act<u32> {
            let status = StatusCode::from_u16(status).unwrap();
            self.hears(call, Outcome::Shed { status, retry_after }, None)
        }

        pub(super) fn refused(&mut self, call: Call, status: u16) -> Act<u32> {
            let status = StatusCode::from_u16(status).unwrap();
            self.hears(call, Outcome::Refused(status), None)
        }
    }
}
