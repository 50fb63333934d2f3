//! Gives newcomers their numbers; newcomers of the same moment share one call to Redis.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use vestibule_domain::{Place, RoomId, regions::Taken};
use vestibule_issuance::{KeyError, Keystore};
use vestibule_store::{
    Counters, Feed, Join, JoinMode, Joined, Store, StoreError, TokenRecord,
    batch::{Batcher, KeyedBatcher, Limits},
};

use crate::region::Region;

/// A newcomer with a number.
#[derive(Debug, Clone)]
pub(crate) struct Newcomer {
    /// Its place.
    pub(crate) place: Place,
    /// The reset epoch that its request id is for.
    pub(crate) reset_epoch: u64,
    /// The room's generation.
    pub(crate) generation: u32,
    /// Redis's time, ms.
    pub(crate) now_ms: u64,
    /// Where the serving counter stood.
    pub(crate) serving: u64,
    /// Whether it waits for a draw.
    pub(crate) awaits_draw: bool,
    /// What its token is made of; `None` unless it has entered at once.
    pub(crate) token: Option<TokenRecord>,
}

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
}

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
        let context = Context { store, feed, keys, region, public_url, taken: Arc::clone(&taken) };
        let batchers = KeyedBatcher::new(move |(room, mode): (RoomId, JoinMode)| {
            let context = context.clone();
            Batcher::spawn(Limits::default(), move |newcomers: Vec<()>| {
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
    async fn join(
        &self,
        room: &RoomId,
        mode: JoinMode,
        count: usize,
    ) -> Result<Vec<Newcomer>, StoreError> {
        let known = self.feed.room(room.as_str()).ok_or(StoreError::RoomMissing)?;
        let missing = |error: KeyError| StoreError::Unavailable(error.to_string().into());
        let key = self.keys.current().map_err(missing)?;
        let issuer = known.snapshot().settings.issuer.clone();
        let issuer = issuer.unwrap_or_else(|| self.public_url.clone());
        let watermarks = known.watermarks();
        let join = Join {
            region: self.region.name(),
            count: count as u64,
            mode,
            known_reset_epoch: watermarks.reset_epoch,
            known_queue_counter: watermarks.queue_counter,
            key_id: key.kid(),
            issuer: &issuer,
        };
        let joined = self.store.join(room, &join).await?;
        if joined.reset_epoch > known.snapshot().reset_epoch {
            // The room was reset, and this instance has not heard of it: it would refuse the very tickets
            // that these newcomers are about to get.
            self.feed.catch_up(&known).await?;
        }
        let last = joined.first + join.count - 1;
        self.taken.add(joined.taken);
        known.observe(Counters {
            reset_epoch: joined.reset_epoch,
            queue_counter: last,
            serving_counter: Some(joined.serving_counter),
            admitted: joined.admitted,
        });
        let token = TokenRecord {
            issued_at: joined.issued_at,
            expires_at: joined.expires_at,
            key_id: key.kid().to_owned(),
            issuer: issuer.clone(),
        };
        Ok((0..join.count).map(|nth| self.newcomer(&joined, nth, &token)).collect())
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
