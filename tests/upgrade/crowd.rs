//! Visitors who come, wait, enter, stay and leave, one after the other, each call at a random admission; and what they
//! see: a place that is lost, a number that two have, a session that ends by itself, more inside than there are seats.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use vestibule_tests::{Deployment, Reply, Visitor, eventually};

use crate::SOON;

/// Pause between two calls of a visitor.
const PAUSE: Duration = Duration::from_millis(100);
/// How often somebody inside asks whether it still is.
const LOOKS: usize = 3;

/// People on their way.
#[derive(Debug)]
pub(crate) struct Crowd {
    seen: Arc<Seen>,
    walks: JoinSet<Result<()>>,
}

/// What all of them saw.
#[derive(Debug, Default)]
struct Seen {
    numbers: Mutex<BTreeSet<u64>>,
    joined: AtomicU64,
    entered: AtomicU64,
    /// Who knows to be inside, and has not yet said that it leaves: never more than there are.
    inside: AtomicU64,
    is_over: AtomicBool,
}

// === impl Crowd ===

impl Crowd {
    /// So many at a time are in `room`, which has so many seats.
    pub(crate) fn come(deployment: &Deployment, room: &str, people: usize, seats: u64) -> Self {
        let (seen, mut walks) = (Arc::new(Seen::default()), JoinSet::new());
        for _ in 0..people {
            let (newcomer, seen) = (deployment.visitor(room), Arc::clone(&seen));
            walks.spawn(async move {
                while !seen.is_over.load(SeqCst) {
                    visit(newcomer.clone(), &seen, seats).await?;
                }
                Ok(())
            });
        }
        Self { seen, walks }
    }

    /// Waits until so many more have come and so many more have entered; fails as soon as somebody saw something wrong.
    pub(crate) async fn goes_on(&mut self, more: u64) -> Result<()> {
        self.goes_on_within(SOON, more).await
    }

    /// As [`Self::goes_on`], within this time.
    pub(crate) async fn goes_on_within(&mut self, limit: Duration, more: u64) -> Result<()> {
        let counts = || (self.seen.joined.load(SeqCst), self.seen.entered.load(SeqCst));
        let (joined, entered) = counts();
        let goes_on = eventually(limit, "a sale that goes on", || {
            let now = counts();
            async move {
                ensure!(now.0 >= joined + more, "{} came", now.0 - joined);
                ensure!(now.1 >= entered + more, "{} entered", now.1 - entered);
                Ok(())
            }
        });
        tokio::select! {
            waited = goes_on => waited,
            Some(walked) = self.walks.join_next() => {
                walked??;
                bail!("somebody has stopped coming")
            }
        }
    }

    /// Nobody comes any more, and everybody who is there is served.
    pub(crate) async fn end(mut self) -> Result<()> {
        self.seen.is_over.store(true, SeqCst);
        let all = async {
            while let Some(walked) = self.walks.join_next().await {
                walked??;
            }
            Ok(())
        };
        timeout(SOON, all).await.context("somebody is not served")?
    }
}

// === impl Seen ===

impl Seen {
    /// Somebody has got this number.
    fn number(&self, number: u64) -> Result<()> {
        let is_new = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        ensure!(is_new, "two hold the number {number}");
        self.joined.fetch_add(1, SeqCst);
        Ok(())
    }

    /// Somebody is inside a room with so many seats.
    fn enter(&self, seats: u64) -> Result<()> {
        let inside = self.inside.fetch_add(1, SeqCst) + 1;
        ensure!(inside <= seats, "{inside} are inside, of at most {seats}");
        self.entered.fetch_add(1, SeqCst);
        Ok(())
    }
}

/// From joining to leaving.
async fn visit(mut visitor: Visitor, seen: &Seen, seats: u64) -> Result<()> {
    let mut reply = loop {
        // Without an answer it has no ticket, and the number is nobody's.
        if let Some(joined) = answer(visitor.join().await)? {
            break joined;
        }
        sleep(PAUSE).await;
    };
    let number = reply.number("queue_number")?;
    seen.number(number)?;
    while !reply.says("admitted") {
        let told = reply.body["status"].as_str().unwrap_or_default();
        ensure!(matches!(told, "waiting" | "your_turn"), "{number} lost its place: {}", reply.text);
        let claims = told == "your_turn";
        sleep(PAUSE).await;
        let call = if claims { visitor.claim().await } else { visitor.status().await };
        reply = answer(call)?.unwrap_or(reply);
        ensure!(reply.number("queue_number")? == number, "{number} got another: {}", reply.text);
    }
    seen.enter(seats)?;
    stay(&mut visitor, number).await?;
    seen.inside.fetch_sub(1, SeqCst);
    while answer(visitor.leave().await)?.is_none_or(|reply| !reply.says("closed")) {
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn stay(visitor: &mut Visitor, number: u64) -> Result<()> {
    for _ in 0..LOOKS {
        sleep(PAUSE).await;
        if let Some(reply) = answer(visitor.status().await)? {
            ensure!(reply.says("admitted"), "{number} is not inside any more: {}", reply.text);
        }
    }
    Ok(())
}

/// `None`: there is no answer, because the instance stopped, or it asks to come again.
fn answer(reply: Result<Reply>) -> Result<Option<Reply>> {
    let Ok(reply) = reply else { return Ok(None) };
    if reply.status == 200 {
        return Ok(Some(reply));
    }
    reply.expect_retry_later()?;
    Ok(None)
}
