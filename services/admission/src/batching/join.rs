//! Gives newcomers their numbers; newcomers of the same moment share one call to Redis.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};
use vestibule_domain::{Place, RoomId, regions::Taken};
use vestibule_issuance::{KeyError, Keystore};
use vestibule_store::{
    Feed, Join, JoinMode, Joined, KnownRoom, Store, StoreError, TokenRecord,
    batch::{Batcher, KeyedBatcher, Limits},
};

use super::{
    newcomer::Newcomer,
    unanswered::{SentJoin, Unanswered},
};
use crate::region::Region;

/// Gives out numbers.
#[derive(Debug)]
pub(crate) struct JoinBatcher {
    batchers: KeyedBatcher<(RoomId, JoinMode), (), Newcomer>,
    taken: Arc<SlotsTaken>,
}

/// Where the slots of visitors who entered at once came from, counted since the start.
#[derive(Debug, Default)]
pub(crate) struct SlotsTaken {
    /// From this region's own part.
    pub(crate) own: AtomicU64,
    /// From the part that is open to all regions.
    pub(crate) anywhere: AtomicU64,
    /// From what other regions had not used.
    pub(crate) lent: AtomicU64,
}

/// What a batch needs besides the newcomers.
#[derive(Debug, Clone)]
struct Context {
    store: Store,
    feed: Feed,
    keys: Keystore,
    region: Arc<Region>,
    public_url: String,
    taken: Arc<SlotsTaken>,
    unanswered: Arc<Unanswered>,
}

/// Newcomers cost the script little: it counts them.
const LIMITS: Limits = Limits { batch: 512, in_flight: 1, queue: 16_384, gather: Duration::ZERO };
/// For how long newcomers wait while Redis's state of the room is in question, and between two tries.
const PATIENCE: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(100);

// === impl SlotsTaken ===

impl SlotsTaken {
    fn add(&self, taken: Taken) {
        self.own.fetch_add(taken.own, Ordering::Relaxed);
        self.anywhere.fetch_add(taken.anywhere, Ordering::Relaxed);
        self.lent.fetch_add(taken.lent, Ordering::Relaxed);
    }
}

// === impl JoinBatcher ===

impl JoinBatcher {
    /// A batcher of the instance in `region`.
    pub(crate) fn new(
        (store, feed, keys): (Store, Feed, Keystore),
        region: Arc<Region>,
        public_url: String,
    ) -> Self {
        let taken = Arc::new(SlotsTaken::default());
        let context = Context {
            store,
            feed,
            keys,
            region,
            public_url,
            taken: Arc::clone(&taken),
            unanswered: Arc::default(),
        };
        let batchers = KeyedBatcher::new(move |(room, mode): (RoomId, JoinMode)| {
            let context = context.clone();
            Batcher::spawn(LIMITS, move |newcomers: Vec<()>| {
                let (context, room) = (context.clone(), room.clone());
                async move { context.join(&room, mode, newcomers.len()).await }
            })
        });
        Self { batchers, taken }
    }

    /// Where the slots of visitors who entered at once came from.
    #[must_use]
    pub(crate) fn taken(&self) -> &SlotsTaken {
        &self.taken
    }

    /// Gives one newcomer its number.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn join(&self, room: &RoomId, mode: JoinMode) -> Result<Newcomer, StoreError> {
        self.batchers.call(&(room.clone(), mode), ()).await
    }
}

// === impl Context ===

impl Context {
    /// Numbers for so many newcomers: those of lost answers first.
    async fn join(
        &self,
        room: &RoomId,
        mode: JoinMode,
        count: usize,
    ) -> Result<Vec<Newcomer>, StoreError> {
        let known = self.feed.room(room.as_str()).ok_or(StoreError::RoomMissing)?;
        if let Some(sent) = self.unanswered.take(room, mode) {
            let numbers = self.send(&known, mode, sent, true).await?;
            self.unanswered.spare(room, mode, numbers);
        }
        let now = (known.snapshot().reset_epoch, known.now_ms());
        let mut numbers = self.unanswered.give(room, mode, count, now);
        if numbers.len() < count {
            let sent = self.prepare(&known, (count - numbers.len()) as u64)?;
            match self.send(&known, mode, sent, false).await {
                Ok(others) => numbers.extend(others),
                Err(error) => {
                    self.unanswered.spare(room, mode, numbers);
                    return Err(error);
                }
            }
        }
        Ok(numbers)
    }

    fn prepare(&self, known: &KnownRoom, count: u64) -> Result<SentJoin, StoreError> {
        let missing = |error: KeyError| StoreError::Unavailable(error.to_string().into());
        let key_id = self.keys.current().map_err(missing)?.kid().to_owned();
        let issuer = known.snapshot().settings.issuer.clone();
        let issuer = issuer.unwrap_or_else(|| self.public_url.clone());
        Ok(SentJoin { call: self.store.call_name(), count, key_id, issuer })
    }

    /// Sends a call, and again if its outcome is unknown. While Redis's state of the room is in question, it waits for a
    /// moment: newcomers had better wait than be turned away.
    async fn send(
        &self,
        known: &KnownRoom,
        mode: JoinMode,
        sent: SentJoin,
        again: bool,
    ) -> Result<Vec<Newcomer>, StoreError> {
        let room = &known.snapshot().room;
        let mut join = Join {
            call: &sent.call,
            again,
            region: self.region.name(),
            count: sent.count,
            mode,
            key_id: &sent.key_id,
            issuer: &sent.issuer,
            max_session_seconds: known.snapshot().settings.max_session_seconds,
        };
        let until = Instant::now() + PATIENCE;
        let outcome = loop {
            match self.store.join(room, &join).await {
                Err(StoreError::Unavailable(_)) if !join.again => join.again = true,
                Err(StoreError::Rewound) if Instant::now() < until => sleep(PAUSE).await,
                answered => break answered,
            }
        };
        let joined = match outcome {
            Ok(joined) => joined,
            Err(error) => {
                if matches!(error, StoreError::Unavailable(_)) || again {
                    self.unanswered.keep(room, mode, sent);
                }
                return Err(error);
            }
        };
        self.taken.add(joined.taken);
        let token = joined.token(&join);
        let numbers = (0..sent.count).map(|nth| self.newcomer(&joined, nth, &token)).collect();
        let last = known.snapshot();
        if (joined.reset_epoch, joined.generation) > (last.reset_epoch, last.generation)
            && let Err(error) = self.feed.catch_up(known).await
            && joined.reset_epoch > last.reset_epoch
        {
            // The room was reset, and this instance has not heard of it: it would refuse the very tickets
            // that these newcomers are about to get.
            self.unanswered.spare(room, mode, numbers);
            return Err(error);
        }
        Ok(numbers)
    }

    fn newcomer(&self, joined: &Joined, nth: u64, token: &TokenRecord) -> Newcomer {
        let entered = joined.suspended || nth < joined.seated;
        let number = joined.first + nth;
        Newcomer {
            place: Place {
                number,
                entered_at: u32::try_from(joined.now_ms / 1000).unwrap_or(u32::MAX),
                region: self.region.index(),
            },
            reset_epoch: joined.reset_epoch,
            generation: joined.generation,
            now_ms: joined.now_ms,
            serving: u64::try_from(joined.serving_counter).unwrap_or(0),
            awaits_draw: joined.pool.is_some(),
            token: entered.then(|| token.clone()),
        }
    }
}
