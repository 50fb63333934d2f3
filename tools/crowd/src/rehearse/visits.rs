//! Lets the crowd loose: one small task per visitor, started when its time comes, asleep on a timer
//! for most of its life. What a visitor decides is in `journey`; what is written down, in `record`.

use std::{sync::Arc, time::Duration};

use rand::rngs::SmallRng;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use super::{
    client::{Client, Reply},
    journey::{HouseRules, Journey, Step},
    recorder::Recorder,
};
use crate::{
    crowd::{Call, VisitorPlan},
    record::Over,
};

/// What every visitor's task needs.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The way to the admission services.
    pub(crate) client: Client,
    /// Where everything is written down.
    pub(crate) recorder: Recorder,
    /// What all visitors have in common.
    pub(crate) rules: HouseRules,
}

/// Sends the whole crowd and waits until the last visit is over, the time is up, or the operator
/// has had enough. Visitors still on their way then just stop.
pub(crate) async fn run(ground: Arc<Ground>, crowd: Vec<VisitorPlan>, timeout: Duration) -> Over {
    let deadline = ground.recorder.start() + timeout;
    tokio::select! {
        () = send(ground, crowd) => Over::Finished,
        () = sleep_until(deadline) => Over::TimedOut,
        Ok(()) = tokio::signal::ctrl_c() => Over::Interrupted,
    }
}

async fn send(ground: Arc<Ground>, crowd: Vec<VisitorPlan>) {
    let mut visits = JoinSet::new();
    for (visitor, plan) in crowd.into_iter().enumerate() {
        sleep_until(ground.recorder.start() + plan.arrives).await;
        visits.spawn(visit(ground.clone(), visitor, plan));
        while visits.try_join_next().is_some() {}
    }
    while visits.join_next().await.is_some() {}
}

async fn visit(ground: Arc<Ground>, visitor: usize, plan: VisitorPlan) {
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
                let reply = Box::pin(call_once(&ground, call, &mut journey)).await;
                step = take_in(recorder, visitor, &mut journey, call, reply);
            }
            Step::End(ending, after) => {
                pause(after).await;
                let now = recorder.since_start(Instant::now());
                return recorder
                    .write(|book| book.write(visitor, |v| v.ended = Some((now, ending))));
            }
        }
    }
}

async fn pause(after: Duration) {
    if !after.is_zero() {
        sleep(after).await;
    }
}

async fn call_once(ground: &Ground, call: Call, journey: &mut Journey) -> Reply {
    let ticket = journey.ticket();
    let rng: &mut SmallRng = journey.rng();
    let reply = ground.client.call(call, ticket, rng).await;
    ground.recorder.note_call(call, &reply);
    reply
}

fn take_in(
    recorder: &Recorder,
    visitor: usize,
    journey: &mut Journey,
    call: Call,
    reply: Reply,
) -> Step {
    let times = (recorder.since_start(reply.sent), recorder.since_start(Instant::now()));
    recorder.write(|book| book.write(visitor, |record| journey.next(call, reply, times, record)))
}
