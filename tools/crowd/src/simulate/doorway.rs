//! The crowd's way into the simulated services: each call goes to an admission of the visitor's region,
//! and its answer is what the visitor's browser makes of it.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rand::{Rng, rngs::SmallRng};
use reqwest::StatusCode;
use tokio::time::Instant;
use vestibule_simulation::{
    self as simulation, CallError, Carried, Client, Door, Failure, Habit, Network, NewTicket, Seed,
    Status,
};

use crate::{
    crowd::{Call, Senders, number::real64},
    visits::{Answer, Outcome, Reply, Standing, Way},
};

/// A moment by the crowd's clock, and by the network's in ms.
pub(super) type Moment = (Instant, u64);

/// Who finds the services busy asks again after this, in seconds.
const BUSY_SECONDS: f64 = 1.0;

/// The way in.
#[derive(Debug)]
pub(super) struct Doorway {
    /// The way to the admissions.
    pub(super) door: Door,
    /// The network that has the time.
    pub(super) network: Network,
    /// The room.
    pub(super) room: &'static str,
    /// From where they call.
    pub(super) senders: Senders,
    /// From which region each visitor comes, and how it polls.
    pub(super) visitors: Vec<(u8, Habit)>,
    /// Decides which admission gets a call.
    pub(super) seed: Seed,
    /// Moments of visitors: calls, and ends of visits.
    pub(super) moments: AtomicU64,
}

// === impl Doorway ===

impl Doorway {
    /// Makes a visitor's call.
    pub(super) async fn ask(
        &self,
        visitor: usize,
        call: Call,
        carried: Option<Carried>,
    ) -> Result<simulation::Answer, Failure> {
        let (region, _) = self.visitors[visitor];
        let number = self.moments.fetch_add(1, Ordering::Relaxed) + 1;
        let (room, mut chance) = (self.room, self.seed.chance("call", number));
        let client = self.client(visitor);
        let asking = self.door.visit_from(region.into(), &mut chance, async |admission| {
            let admission = admission.called_by(client);
            let ticket = carried.ok_or(CallError::InvalidTicket);
            match call {
                Call::Join => admission.join(room, carried).await,
                Call::Status => admission.status(room, ticket?).await,
                Call::Claim => admission.claim(room, ticket?).await,
                Call::Leave => admission.leave(room, ticket?).await,
            }
        });
        asking.await
    }

    /// Who calls, as far as anybody says.
    fn client(&self, visitor: usize) -> Option<Client> {
        let (address, _) = self.senders.sender(visitor)?;
        Some(Client { address, agent: visitor as u64 })
    }

    /// The answer as the visitor's browser hears it. Its session lasts from `sent_ms`.
    fn heard(&self, habit: Habit, answer: &simulation::Answer, sent_ms: u64) -> Answer {
        let status = &answer.status;
        let told_seconds = status.next_check_in_seconds;
        let waits = status.status == Status::Waiting;
        let seat = carried(answer).and_then(|carried| carried.ticket.seat());
        // A session lives through the whole second in which its token expires.
        let over_ms = seat.map(|seat| seat.expires_at * 1000 + 1000);
        let gone_ms = self.network.now_ms() - sent_ms;
        let left = over_ms.map(|ms| (ms + gone_ms).saturating_sub(self.network.true_ms()));
        Answer {
            status: standing(status.status),
            request_id: status.request_id.clone(),
            queue_number: Some(status.queue_number),
            position: status.position,
            people_ahead: status.people_ahead.map(real64),
            wait_seconds: status.wait_seconds.map(real64),
            wait_seconds_p25: status.wait_seconds_p25.map(real64),
            wait_seconds_p50: status.wait_seconds_p50.map(real64),
            wait_seconds_p75: status.wait_seconds_p75.map(real64),
            next_check_in_seconds: Some(if waits {
                habit.after(told_seconds)
            } else {
                told_seconds
            }),
            expires_in: left.map(|ms| real64(ms) / 1000.0).or(status.expires_in.map(real64)),
            // Only what comes over HTTP has tokens; nobody in here goes by them.
            access_token: None,
        }
    }

    /// What the visitor makes of the answer to a call that was sent then.
    pub(super) fn reply(
        &self,
        (visitor, call): (usize, Call),
        answer: &Result<simulation::Answer, Failure>,
        (sent, sent_ms): Moment,
    ) -> Reply<Carried> {
        let (_, habit) = self.visitors[visitor];
        let ticket = answer.as_ref().ok().and_then(carried);
        let outcome = match answer {
            Ok(_) if call == Call::Leave => Outcome::Left,
            Ok(answer) => Outcome::Answer(Box::new(self.heard(habit, answer, sent_ms))),
            Err(failure) => outcome(failure),
        };
        Reply { outcome, ticket, sent, latency: None, queued: Duration::ZERO }
    }

    /// Now, by the crowd's clock and by the network's.
    pub(super) fn now(&self) -> Moment {
        (Instant::now(), self.network.now_ms())
    }
}

impl Way for Doorway {
    type Ticket = Carried;

    async fn call(
        &self,
        visitor: usize,
        call: Call,
        ticket: Option<Carried>,
        _: &mut SmallRng,
    ) -> Reply<Carried> {
        let sent = self.now();
        let answer = self.ask(visitor, call, ticket).await;
        self.reply((visitor, call), &answer, sent)
    }

    async fn take_number(&self, rng: &mut SmallRng) -> Result<(), String> {
        let (room, mut chance) = (self.room, self.seed.chance("number", rng.random()));
        let asking =
            self.door.visit(&mut chance, async |admission| admission.assign_queue_num(room).await);
        let failed = |failure| outcome(&failure).error().unwrap_or_default();
        asking.await.map(drop).map_err(failed)
    }
}

fn carried(answer: &simulation::Answer) -> Option<Carried> {
    match answer.ticket {
        NewTicket::Carry(ticket) => Some(ticket),
        NewTicket::Keep | NewTicket::Drop(_) => None,
    }
}

fn standing(status: Status) -> Standing {
    match status {
        Status::Waiting => Standing::Waiting,
        Status::YourTurn => Standing::YourTurn,
        Status::Admitted => Standing::Admitted,
        Status::Expired => Standing::Expired,
        Status::Closed => Standing::Closed,
    }
}

/// What a failure is over HTTP.
fn outcome(failure: &Failure) -> Outcome {
    match failure {
        Failure::NobodyThere => Outcome::Broken("connect"),
        Failure::Lost => Outcome::Broken("timeout"),
        Failure::Refused(CallError::Busy(_)) => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Outcome::Shed { status, retry_after: BUSY_SECONDS }
        }
        Failure::Refused(CallError::OverLimit { wait_s, .. }) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            Outcome::Shed { status, retry_after: f64::from(*wait_s) }
        }
        Failure::Refused(CallError::NoRoom) => Outcome::Refused(StatusCode::NOT_FOUND),
        Failure::Refused(CallError::InvalidTicket) => Outcome::Refused(StatusCode::BAD_REQUEST),
        Failure::Refused(CallError::Internal(_)) => {
            Outcome::Refused(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}
