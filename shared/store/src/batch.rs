//! Batching: the requests of many callers are sent to Redis as one script call.
//!
//! While one batch is under way, later requests wait for the next one. So a quiet service answers at
//! once, and under load the batches grow instead of the number of calls. Where a call costs much whatever it
//! carries, requests are gathered for a moment, but only as long as several come at a time.
//!
//! When Redis hangs and does not answer a batch, whoever waits behind it is told so as well: all wait for one time-out
//! together, and not each batch for one of its own. Theirs was never sent, so it did not happen.

use std::{
    fmt,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep},
};
use vestibule_traces::{KeyValue, Span, SpanBuilder, current, shared, spanned};

use crate::StoreError;

/// So many share a call by default: no script is long that looks at each of them.
pub const TOGETHER: usize = 100;
/// A call that fails after so long was not answered; one that fails sooner says nothing of the next. Shorter than
/// time-outs are.
const HANGS: Duration = Duration::from_millis(100);

/// The limits of a batcher.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Requests per batch.
    pub batch: usize,
    /// Requests that may wait; further ones are refused at once.
    pub queue: usize,
    /// For how long more are gathered after a batch of several. Zero: as long as a batch is under way.
    pub gather: Duration,
    /// Whether a request is dropped that is still in the queue when its caller hangs up.
    pub only_while_awaited: bool,
}

/// A shared call: many `Request`s, each answered with a `Response`.
#[derive(Debug)]
pub struct Batcher<Request, Response> {
    queue: mpsc::Sender<Waiting<Request, Response>>,
}

/// A batcher for each `Key` (a room, as a rule), started when it is first called.
pub struct KeyedBatcher<Key, Request, Response> {
    started: Mutex<Started<Key, Request, Response>>,
    start: Box<dyn Fn(Key) -> Batcher<Request, Response> + Send + Sync>,
}

type Started<Key, Request, Response> = FxHashMap<Key, Batcher<Request, Response>>;

struct Waiting<Request, Response> {
    request: Request,
    answer: oneshot::Sender<Result<Response, StoreError>>,
    /// The caller's span, if it is recorded.
    span: Option<Span>,
    /// Here it is in the queue: the caller may hang up. See [`Batcher::is_idle`].
    batcher: Batcher<Request, Response>,
}

// === impl Limits ===

impl Default for Limits {
    fn default() -> Self {
        Self { batch: TOGETHER, queue: 16_384, gather: Duration::ZERO, only_while_awaited: false }
    }
}

// === impl Batcher ===

impl<Request, Response> Clone for Batcher<Request, Response> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

impl<Request: Send + 'static, Response: Send + 'static> Batcher<Request, Response> {
    /// Starts the task that gathers and sends; it ends with the last clone of the batcher, when all that is in
    /// the queue was sent.
    ///
    /// `send` answers every request of a batch, in order.
    pub fn spawn<Send_, Sent>(limits: Limits, send: Send_) -> Self
    where
        Send_: Fn(Vec<Request>) -> Sent + Send + Sync + 'static,
        Sent: Future<Output = Result<Vec<Response>, StoreError>> + Send + 'static,
    {
        let (queue, waiting) = mpsc::channel(limits.queue);
        tokio::spawn(gather(limits, waiting, send));
        Self { queue }
    }

    /// Sends `request` with the next batch.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] at once when too many wait; otherwise the error of the batch.
    pub async fn call(&self, request: Request) -> Result<Response, StoreError> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { request, answer, span: current(), batcher: self.clone() };
        self.queue.try_send(waiting).map_err(|_| StoreError::Overloaded)?;
        answered.await.unwrap_or(Err(StoreError::Overloaded))
    }

    /// Whether nobody has a clone of it: no caller, no request in the queue, no batch under way.
    fn is_idle(&self) -> bool {
        self.queue.strong_count() == 1
    }
}

// === impl KeyedBatcher ===

impl<Key, Request, Response> KeyedBatcher<Key, Request, Response>
where
    Key: Clone + Eq + Hash,
    Request: Send + 'static,
    Response: Send + 'static,
{
    /// No batchers yet; `start` makes each.
    pub fn new(start: impl Fn(Key) -> Batcher<Request, Response> + Send + Sync + 'static) -> Self {
        Self { started: Mutex::default(), start: Box::new(start) }
    }

    /// Sends `request` with the next batch of `key`.
    ///
    /// # Errors
    /// As [`Batcher::call`].
    pub async fn call(&self, key: &Key, request: Request) -> Result<Response, StoreError> {
        self.get_or_start(key).call(request).await
    }

    /// Drops the batchers of which nothing is in the queue or under way; each is started again when it is called. Without
    /// that, those would stay for ever whose key does not come again: of deleted rooms, and of what was before a reset.
    pub fn drop_idle(&self) {
        self.lock().retain(|_, batcher| !batcher.is_idle());
    }

    fn get_or_start(&self, key: &Key) -> Batcher<Request, Response> {
        let mut started = self.lock();
        if let Some(batcher) = started.get(key) {
            return batcher.clone();
        }
        let batcher = (self.start)(key.clone());
        started.insert(key.clone(), batcher.clone());
        batcher
    }

    fn lock(&self) -> MutexGuard<'_, Started<Key, Request, Response>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Key, Request, Response> fmt::Debug for KeyedBatcher<Key, Request, Response> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedBatcher")
    }
}

async fn gather<Request, Response, Send_, Sent>(
    limits: Limits,
    mut waiting: mpsc::Receiver<Waiting<Request, Response>>,
    send: Send_,
) where
    Response: Send + 'static,
    Send_: Fn(Vec<Request>) -> Sent,
    Sent: Future<Output = Result<Vec<Response>, StoreError>> + Send + 'static,
{
    let mut several_come = false;
    loop {
        let mut batch = next_batch(&limits, &mut waiting, several_come).await;
        if batch.is_empty() {
            return;
        }
        batch.retain(|one| !limits.only_while_awaited || !one.answer.is_closed());
        if batch.is_empty() {
            continue;
        }
        several_come = batch.len() > 1;
        // Until the batch is answered, the batcher is not idle.
        let _under_way = batch.first().map(|waiting| waiting.batcher.clone());
        // Requests that come meanwhile join the next.
        deliver(batch, &mut waiting, &send).await;
    }
}

/// The requests that wait, once there are some; none, if there will never be any.
async fn next_batch<T>(
    limits: &Limits,
    waiting: &mut mpsc::Receiver<T>,
    several_come: bool,
) -> Vec<T> {
    let mut batch = Vec::new();
    waiting.recv_many(&mut batch, limits.batch).await;
    if several_come && !limits.gather.is_zero() && !batch.is_empty() {
        sleep(limits.gather).await;
        while batch.len() < limits.batch
            && let Ok(more) = waiting.try_recv()
        {
            batch.push(more);
        }
    }
    batch
}

async fn deliver<Request, Response, Send_, Sent>(
    batch: Vec<Waiting<Request, Response>>,
    waiting: &mut mpsc::Receiver<Waiting<Request, Response>>,
    send: &Send_,
) where
    Response: Send + 'static,
    Send_: Fn(Vec<Request>) -> Sent,
    Sent: Future<Output = Result<Vec<Response>, StoreError>> + Send + 'static,
{
    let span = span_of(&batch);
    let (requests, mut answers): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|waiting| (waiting.request, waiting.answer)).unzip();
    let begun = Instant::now();
    // A task of its own: if it panics, its callers hear of it, and the next batch is sent.
    let Ok(answered) = tokio::spawn(spanned(span, send(requests))).await else { return };
    match answered {
        Ok(responses) => {
            // Sending fails only if the caller has gone away.
            for (answer, response) in answers.into_iter().zip(responses) {
                let _ = answer.send(Ok(response));
            }
        }
        Err(error) => {
            if matches!(error, StoreError::Unavailable(_)) && begun.elapsed() >= HANGS {
                // Before anybody is answered: who then asks again is not meant.
                answers
                    .extend(std::iter::from_fn(|| waiting.try_recv().ok()).map(|one| one.answer));
            }
            for answer in answers {
                let _ = answer.send(Err(error.clone()));
            }
        }
    }
}

/// The span of a batch, if any of its requests is recorded.
fn span_of<Request, Response>(batch: &[Waiting<Request, Response>]) -> Option<Span> {
    let carried: Vec<_> = batch.iter().filter_map(|waiting| waiting.span.as_ref()).collect();
    shared(&carried, || {
        let size = i64::try_from(batch.len()).unwrap_or(i64::MAX);
        SpanBuilder::from_name("batch")
            .with_attributes([KeyValue::new("vestibule.batch.size", size)])
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A batcher that takes a second for each request, and adds those that it has sent to `sent`. Its task holds `sent`
    /// until it ends.
    fn slow(sent: &Arc<AtomicUsize>) -> Batcher<u64, u64> {
        slow_within(Limits::default(), sent)
    }

    fn slow_within(limits: Limits, sent: &Arc<AtomicUsize>) -> Batcher<u64, u64> {
        let (limits, sent) = (Limits { batch: 1, ..limits }, Arc::clone(sent));
        Batcher::spawn(limits, move |numbers: Vec<u64>| {
            let sent = Arc::clone(&sent);
            async move {
                sleep(SECOND).await;
                sent.fetch_add(numbers.len(), Ordering::SeqCst);
                Ok(numbers)
            }
        })
    }

    /// Batchers like that, and what each of their tasks holds.
    fn slow_ones() -> (Arc<AtomicUsize>, KeyedBatcher<u64, u64, u64>) {
        let sent = Arc::new(AtomicUsize::new(0));
        let held = Arc::downgrade(&sent);
        (sent, KeyedBatcher::new(move |_| slow(&held.upgrade().unwrap())))
    }

    #[tokio::test]
    async fn many_callers_share_few_calls_and_each_gets_its_own_answer() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let batcher = Batcher::spawn(Limits::default(), move |numbers: Vec<u64>| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move {
                tokio::task::yield_now().await;
                Ok(numbers.into_iter().map(|number| number * 2).collect())
            }
        });
        let callers: Vec<_> = (0..500_u64)
            .map(|number| {
                let batcher = batcher.clone();
                tokio::spawn(async move { (number, batcher.call(number).await.unwrap()) })
            })
            .collect();
        for caller in callers {
            let (number, answer) = caller.await.unwrap();
            assert_eq!(answer, number * 2);
        }
        assert!(calls.load(Ordering::SeqCst) < 100, "{calls:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_awaits_any_more_is_sent_unless_it_should_not_be() {
        for (only_while_awaited, are_sent) in [(false, 3), (true, 2)] {
            let sent = Arc::new(AtomicUsize::new(0));
            let batcher = slow_within(Limits { only_while_awaited, ..Limits::default() }, &sent);
            let (_, hung_up) = tokio::join!(batcher.call(1), timeout(SECOND / 2, batcher.call(2)));
            assert!(hung_up.is_err());
            assert_eq!(batcher.call(3).await.unwrap(), 3);
            assert_eq!(sent.load(Ordering::SeqCst), are_sent);
        }
    }

    #[tokio::test(start_paused = true, flavor = "current_thread")]
    async fn requests_are_gathered_only_while_several_come() {
        let gather = Duration::from_millis(3);
        let limits = Limits { gather, ..Limits::default() };
        let batcher =
            Batcher::spawn(
                limits,
                |batch: Vec<()>| async move { Ok(vec![batch.len(); batch.len()]) },
            );
        let start = tokio::time::Instant::now();
        assert_eq!(batcher.call(()).await.unwrap(), 1);
        let (two, _) = tokio::join!(batcher.call(()), batcher.call(()));
        assert_eq!((two.unwrap(), start.elapsed()), (2, Duration::ZERO), "at once");
        let late = async {
            sleep(gather / 2).await;
            batcher.call(()).await.unwrap()
        };
        let (first, late) = tokio::join!(batcher.call(()), late);
        assert_eq!((first.unwrap(), late, start.elapsed()), (2, 2, gather));
        assert_eq!(batcher.call(()).await.unwrap(), 1);
        assert_eq!(start.elapsed(), 2 * gather);
        assert_eq!(batcher.call(()).await.unwrap(), 1);
        assert_eq!(start.elapsed(), 2 * gather, "one at a time is not kept waiting");
    }

    /// Twenty come at once, and every call fails with `error` after so long: how many are told it, after how long, and
    /// how many calls were made.
    async fn all_fail(error: StoreError, answer_ms: u64) -> (usize, Duration, usize) {
        let answer = Duration::from_millis(answer_ms);
        let (sent, limits) =
            (Arc::new(AtomicUsize::new(0)), Limits { batch: 5, ..Limits::default() });
        let (counted, told) = (Arc::clone(&sent), error.clone());
        let batcher = Batcher::spawn(limits, move |_: Vec<u64>| {
            counted.fetch_add(1, Ordering::SeqCst);
            let told = told.clone();
            async move {
                sleep(answer).await;
                Err::<Vec<u64>, _>(told)
            }
        });
        let start = Instant::now();
        let answers = join_all((0..20).map(|one| batcher.call(one))).await;
        let is_told = |answer: &Result<u64, StoreError>| {
            answer.as_ref().is_err_and(|told| told.kind() == error.kind())
        };
        let (told, after) = (answers.iter().filter(|one| is_told(one)).count(), start.elapsed());
        // Who comes later is not meant.
        let _ = batcher.call(20).await;
        assert_eq!(start.elapsed(), after + answer);
        (told, after, sent.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_while_redis_hangs_wait_together_and_not_in_turn() {
        let hangs = StoreError::Unavailable("it hangs".into());
        assert_eq!(all_fail(hangs, 1_000).await, (20, Duration::from_secs(1), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn what_redis_refuses_is_not_refused_to_who_waits_behind() {
        assert_eq!(all_fail(StoreError::Rewound, 1_000).await, (20, Duration::from_secs(4), 5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_breaks_says_nothing_of_who_waits_behind() {
        let broken = StoreError::Unavailable("broken pipe".into());
        assert_eq!(all_fail(broken, 10).await, (20, Duration::from_millis(40), 5));
    }

    #[tokio::test]
    async fn a_batch_that_breaks_takes_no_later_one_along() {
        let batcher = Batcher::spawn(Limits::default(), |numbers: Vec<u64>| async move {
            assert_ne!(numbers, [0], "on purpose");
            Ok(numbers)
        });
        assert!(matches!(batcher.call(0).await, Err(StoreError::Overloaded)));
        assert_eq!(batcher.call(1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn an_error_reaches_every_caller_and_a_full_queue_refuses() {
        let limits = Limits { queue: 1, batch: 1, ..Limits::default() };
        let batcher = Batcher::spawn(limits, |_: Vec<u64>| async {
            Err::<Vec<u64>, _>(StoreError::RoomMissing)
        });
        assert!(matches!(batcher.call(1).await, Err(StoreError::RoomMissing)));
        let (first, second, third) =
            tokio::join!(batcher.call(1), batcher.call(2), batcher.call(3));
        let refused = [first, second, third]
            .iter()
            .filter(|answer| matches!(answer, Err(StoreError::Overloaded)))
            .count();
        assert!(refused >= 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_batcher_is_dropped_when_it_is_idle_and_its_task_ends() {
        let (sent, batchers) = slow_ones();
        assert!(timeout(SECOND / 2, batchers.call(&1, 7)).await.is_err(), "it hangs up");
        batchers.drop_idle();
        assert_eq!(batchers.lock().len(), 1, "its batch is under way");
        sleep(SECOND).await;
        batchers.drop_idle();
        assert!(batchers.lock().is_empty());
        sleep(SECOND).await;
        assert_eq!((sent.load(Ordering::SeqCst), Arc::strong_count(&sent)), (1, 1));
        assert_eq!(batchers.call(&1, 8).await.unwrap(), 8, "one is started again");
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_key_one_batch_at_a_time_is_under_way_whenever_idle_ones_are_dropped() {
        let (_sent, batchers) = slow_ones();
        let start = Instant::now();
        let call = async |number: u32| {
            sleep(SECOND / 4 * number).await;
            batchers.drop_idle();
            batchers.call(&1, number.into()).await.unwrap();
            start.elapsed()
        };
        let (first, second, third) = tokio::join!(call(0), call(1), call(2));
        assert_eq!([first, second, third], [SECOND, 2 * SECOND, 3 * SECOND]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_in_the_queue_is_sent_though_the_batcher_is_dropped() {
        let sent = Arc::new(AtomicUsize::new(0));
        let batcher = slow(&sent);
        let calls = join_all((0..3).map(|number| batcher.call(number)));
        assert!(timeout(SECOND / 2, calls).await.is_err(), "they hang up");
        drop(batcher);
        sleep(4 * SECOND).await;
        assert_eq!((sent.load(Ordering::SeqCst), Arc::strong_count(&sent)), (3, 1));
    }
}
