//! A watch over a room's invariants while a crowd is in it: asks Redis itself, some hundred times
//! a second, because a promise that holds only when someone asks politely is none.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redis::{Script, aio::MultiplexedConnection};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep},
};
use vestibule_tests::Deployment;

const PAUSE: Duration = Duration::from_millis(3);

/// Live sessions and counters at one moment of Redis's own clock.
const LOOK: &str = "
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local line = redis.call('HMGET', KEYS[2], 'queue_counter', 'serving_counter', 'reset_epoch')
    if not line[3] then return {0, 0, 0, 0} end
    return {
        1, redis.call('ZCOUNT', KEYS[1], now, '+inf'), tonumber(line[1]) or 0,
        tonumber(line[2]) or 0,
    }";

/// A watch that is being kept.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Seen>,
}

/// What it saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) looks: u64,
    pub(crate) most_active: u64,
    pub(crate) highest_number: u64,
    pub(crate) highest_serving: i64,
    /// Steps back of the counters: from, to.
    pub(crate) serving_back: Vec<(i64, i64)>,
    pub(crate) numbers_back: Vec<(u64, u64)>,
    /// The longest time between two looks at a room that was there.
    pub(crate) longest_gap: Duration,
}

// === impl Watch ===

impl Watch {
    /// Begins to watch `room`.
    pub(crate) fn keep(deployment: &Deployment, room: &str) -> Result<Self> {
        let client = redis::Client::open(deployment.redis().url())?;
        let key = |part: &str| format!("vestibule:room:{{{room}}}:{part}");
        let keys = [key("sessions"), key("line")];
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut seen = Seen::default();
            tokio::select! {
                () = watch(&client, &keys, &mut seen) => {}
                _ = stopped => {}
            }
            seen
        });
        Ok(Self { stop, task })
    }

    /// Ends the watch.
    pub(crate) async fn end(self) -> Result<Seen> {
        let _ = self.stop.send(());
        let seen = self.task.await?;
        ensure!(seen.looks > 0, "the watch slept");
        Ok(seen)
    }
}

// === impl Seen ===

impl Seen {
    /// Fails if more than `ceiling` were ever inside.
    pub(crate) fn expect_ceiling(&self, ceiling: u64) -> Result<()> {
        ensure!(self.most_active <= ceiling, "{} were inside: {self:?}", self.most_active);
        Ok(())
    }

    /// Fails if a counter ever went back.
    pub(crate) fn expect_no_step_back(&self) -> Result<()> {
        ensure!(self.serving_back.is_empty() && self.numbers_back.is_empty(), "{self:?}");
        Ok(())
    }

    fn look(&mut self, active: u64, number: u64, serving: i64) {
        self.looks += 1;
        self.most_active = self.most_active.max(active);
        if number < self.highest_number {
            self.numbers_back.push((self.highest_number, number));
        }
        if serving < self.highest_serving {
            self.serving_back.push((self.highest_serving, serving));
        }
        self.highest_number = self.highest_number.max(number);
        self.highest_serving = self.highest_serving.max(serving);
    }
}

async fn watch(client: &redis::Client, keys: &[String; 2], seen: &mut Seen) {
    let script = Script::new(LOOK);
    let mut last = Instant::now();
    loop {
        // While Redis is down there is nothing to see.
        if let Ok(mut connection) = client.get_multiplexed_async_connection().await {
            let _ = watch_connected(&mut connection, &script, keys, seen, &mut last).await;
        }
        sleep(PAUSE).await;
    }
}

async fn watch_connected(
    connection: &mut MultiplexedConnection,
    script: &Script,
    keys: &[String; 2],
    seen: &mut Seen,
    last: &mut Instant,
) -> Result<()> {
    loop {
        let look = script.key(&keys[0]).key(&keys[1]).invoke_async(connection).await;
        let (there, active, number, serving): (u8, u64, u64, i64) = look.context("a look")?;
        if there == 1 {
            seen.look(active, number, serving);
            seen.longest_gap = seen.longest_gap.max(last.elapsed());
            *last = Instant::now();
        }
        sleep(PAUSE).await;
    }
}
