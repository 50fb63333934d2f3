//! A crowd on its way, in real time or in virtual time: one small task per visitor, started when its time
//! comes, asleep on a timer for most of its life. What a visitor decides is in `journey`; what is written
//! down, in `record`. How calls get to the services is for those who send the crowd.

mod answer;
pub(crate) mod company;
mod journey;
mod pauses;
mod recorder;

use std::{sync::Arc, time::Duration};

use rand::rngs::SmallRng;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use self::journey::{Journey, Step};
pub(crate) use self::{
    answer::{Answer, Outcome, Standing},
    journey::HouseRules,
    recorder::Recorder,
};
use crate::{
    crowd::{Call, VisitorPlan},
    record::{Ending, Over},
};

/// The way to the services.
pub(crate) trait Way: Send + Sync + 'static {
    /// What a visitor carries from one call to the next.
    type Ticket: Clone + Send;

    /// Makes one call of a visitor; every failure is an outcome.
    fn call(
        &self,
        visitor: usize,
        call: Call,
        ticket: Option<Self::Ticket>,
        rng: &mut SmallRng,
    ) -> impl Future<Output = Reply<Self::Ticket>> + Send;

    /// Takes a number with the AWS-style call.
    ///
    /// # Errors
    /// How the call failed.
    fn take_number(&self, rng: &mut SmallRng) -> impl Future<Output = Result<(), String>> + Send;

    /// A visit is over.
    fn over(&self, _: Ending) {}
}

/// A call's outcome with what there is to know about it.
#[derive(Debug, Clone)]
pub(crate) struct Reply<T> {
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// The newest ticket, when one came along.
    pub(crate) ticket: Option<T>,
    /// When the request went out.
    pub(crate) sent: Instant,
    /// From then to the whole answer, if that says anything.
    pub(crate) latency: Option<Duration>,
    /// How long the call waited for a free connection before.
    pub(crate) queued: Duration,
}

/// What every visitor's task needs.
#[derive(Debug)]
pub(crate) struct Ground<W> {
    /// The way to the services.
    pub(crate) way: Arc<W>,
    /// Where everything is written down.
    pub(crate) recorder: Arc<Recorder>,
    /// What all visitors have in common.
    pub(crate) rules: HouseRules,
}

/// Sends the whole crowd and waits until the last visit is over, the time is up, or it is
/// `interrupted`. Visitors still on their way then just stop.
pub(crate) async fn run<W: Way>(
    ground: &Arc<Ground<W>>,
    crowd: Vec<VisitorPlan>,
    timeout: Duration,
    interrupted: impl Future<Output = ()>,
) -> Over {
    let mut visits = JoinSet::new();
    let deadline = ground.recorder.start() + timeout;
    let over = tokio::select! {
        biased;
        () = send(ground, crowd, &mut visits) => Over::Finished,
        () = sleep_until(deadline) => Over::TimedOut,
        () = interrupted => Over::Interrupted,
    };
    visits.shutdown().await;
    over
}

async fn send<W: Way>(ground: &Arc<Ground<W>>, crowd: Vec<VisitorPlan>, visits: &mut JoinSet<()>) {
    for (visitor, plan) in crowd.into_iter().enumerate() {
        sleep_until(ground.recorder.start() + plan.arrives).await;
        visits.spawn(visit(ground.clone(), visitor, plan));
        while visits.try_join_next().is_some() {}
    }
    while visits.join_next().await.is_some() {}
}

async fn visit<W: Way>(ground: Arc<Ground<W>>, visitor: usize, plan: VisitorPlan) {
    let recorder = &ground.recorder;
    let mut journey = Journey::new(&plan, ground.rules);
    let mut step = Step::Call(Call::Join, Duration::ZERO);
    let arrived = recorder.since_start(Instant::now());
    recorder.write(|book| book.write(visitor, |v| v.arrived = Some(arrived)));
    loop {
        match step {
            Step::Call(call, after) => {
                pause(after).await;
                // Boxed, so that a sleeping visitor does not carry the room for a call around.
                step = Box::pin(call_once(&ground, visitor, call, &mut journey)).await;
            }
            Step::End(ending, after) => {
                pause(after).await;
                let now = recorder.since_start(Instant::now());
                recorder.write(|book| book.write(visitor, |v| v.ended = Some((now, ending))));
                return ground.way.over(ending);
            }
        }
    }
}

async fn pause(after: Duration) {
    if !after.is_zero() {
        sleep(after).await;
    }
}

/// Makes a call; the journey says what comes next.
async fn call_once<W: Way>(
    ground: &Ground<W>,
    visitor: usize,
    call: Call,
    journey: &mut Journey<W::Ticket>,
) -> Step {
    let (ticket, recorder) = (journey.ticket(), &ground.recorder);
    let reply = ground.way.call(visitor, call, ticket, journey.rng()).await;
    recorder.note_call(call, &reply);
    let times = (recorder.since_start(reply.sent), recorder.since_start(Instant::now()));
    recorder.write(|book| book.write(visitor, |record| journey.next(call, reply, times, record)))
}

#[cfg(test)]
mod tests {
    use vestibule_simulation::Carried;

    use super::*;

    struct Nowhere;

    impl Way for Nowhere {
        type Ticket = Carried;

        async fn call(
            &self,
            _: usize,
            _: Call,
            _: Option<Carried>,
            _: &mut SmallRng,
        ) -> Reply<Carried> {
            std::future::pending().await
        }

        async fn take_number(&self, _: &mut SmallRng) -> Result<(), String> {
            std::future::pending().await
        }
    }

    fn size<A, B, C, F: Future>(_: fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_million_visitors_need_little_memory() {
        let bytes = size(visit::<Nowhere>);
        assert!(bytes <= 640, "{bytes}");
    }
}
