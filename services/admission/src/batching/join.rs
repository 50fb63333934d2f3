//! Gives newcomers their numbers; newcomers of the same moment share one call to Redis.

use std::{
    iter,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};
use vestibule_domain::{Place, RoomId, network_limits::NetworkLimit, regions::Taken};
use vestibule_issuance::{KeyError, Keystore};
use vestibule_store::{
    Admittance, Feed, Join, JoinMode, Joined, KnownRoom, Store, StoreError, TokenRecord,
    batch::{Batcher, KeyedBatcher, Limits},
};
use vestibule_token::Seat;

use super::{
    join_key::{JoinKey, Reach},
    newcomer::Newcomer,
    unanswered::{SentJoin, Spare, Unanswered, When},
};
use crate::{limit_counter::LimitCounter, region::Region};

/// Gives out numbers.
#[derive(Debug)]
pub(crate) struct JoinBatcher {
    batchers: KeyedBatcher<JoinKey, Option<u64>, JoinReply>,
    taken: Arc<SlotsTaken>,
    unanswered: Arc<Unanswered>,
}

/// What became of a newcomer.
#[derive(Debug, Clone)]
pub(crate) enum JoinReply {
    /// It has a place.
    Joined(Newcomer),
    /// Its network has reached a limit.
    OverLimit {
        /// Which.
        limit: NetworkLimit,
        /// When it may try again, seconds.
        wait_s: u32,
    },
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
    limits: LimitCounter,
    unanswered: Arc<Unanswered>,
}

/// Newcomers cost the script little: it counts them. Who has hung up while the room was in question would take a seat that
/// it never hears of.
const LIMITS: Limits =
    Limits { batch: 512, queue: 16_384, gather: Duration::ZERO, only_while_awaited: true };
/// For how long newcomers wait while Redis's state of the room is in question, and between two tries.
const PATIENCE: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(100);
/// A place of a full network is free when one of its visitors enters or leaves: nobody knows when, seconds.
const PLACES_WAIT_S: u32 = 60;

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
        limits: LimitCounter,
    ) -> Self {
        let taken = Arc::new(SlotsTaken::default());
        let unanswered = Arc::new(Unanswered::default());
        let context = Context {
            store,
            feed,
            keys,
            region,
            public_url,
            taken: Arc::clone(&taken),
            limits,
            unanswered: Arc::clone(&unanswered),
        };
        let batchers = KeyedBatcher::new(move |key: JoinKey| {
            let context = context.clone();
            Batcher::spawn(LIMITS, move |newcomers: Vec<Option<u64>>| {
                let (context, key) = (context.clone(), key.clone());
                async move { context.join(&key, newcomers).await }
            })
        });
        Self { batchers, taken, unanswered }
    }

    /// Where the slots of visitors who entered at once came from.
    #[must_use]
    pub(crate) fn taken(&self) -> &SlotsTaken {
        &self.taken
    }

    /// Gives one newcomer its number. `network`: the digest of its network, and which limits hold for that; `None` where
    /// nothing is limited.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] when too many wait; otherwise see [`StoreError`].
    pub(crate) async fn join(
        &self,
        room: &RoomId,
        mode: JoinMode,
        network: Option<(u64, Reach)>,
    ) -> Result<JoinReply, StoreError> {
        let (digest, reach) = network.unzip();
        let reach = reach.unwrap_or(Reach::Unlimited);
        self.batchers.call(&JoinKey { room: room.clone(), mode, reach }, digest).await
    }

    /// See [`KeyedBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.batchers.drop_idle();
    }

    /// Forgets what is left of lost answers in rooms that are not there.
    pub(crate) fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        self.unanswered.retain_rooms(is_there);
    }
}

// === impl Context ===

impl Context {
    /// Numbers for newcomers of these networks: those of lost answers first.
    async fn join(
        &self,
        key: &JoinKey,
        newcomers: Vec<Option<u64>>,
    ) -> Result<Vec<JoinReply>, StoreError> {
        let known = self.feed.room(key.room.as_str()).ok_or(StoreError::RoomMissing)?;
        let now = (known.snapshot().reset_epoch, known.now_ms());
        if let Some((sent, when)) = self.unanswered.take(key, now) {
            let networks = sent.networks.clone();
            let replies = self.send(&known, key, (sent, when), true).await?;
            self.unanswered.spare(key, joined(replies, &networks));
        }
        let given = self.unanswered.give(key, &newcomers, now);
        let with_given = newcomers.iter().zip(&given);
        let others: Vec<_> =
            with_given.filter(|(_, one)| one.is_none()).map(|(network, _)| *network).collect();
        let replies = self.join_anew(&known, key, &others, now).await;
        match replies {
            Ok(replies) => {
                let mut replies = replies.into_iter();
                let reply =
                    |one: Option<Newcomer>| one.map(JoinReply::Joined).or_else(|| replies.next());
                Ok(given.into_iter().filter_map(reply).collect())
            }
            Err(error) => {
                let spare = newcomers.into_iter().zip(given);
                let spare = spare.filter_map(|(network, one)| Some((network, one?))).collect();
                self.unanswered.spare(key, spare);
                Err(error)
            }
        }
    }

    /// New numbers for newcomers of these networks.
    async fn join_anew(
        &self,
        known: &KnownRoom,
        key: &JoinKey,
        newcomers: &[Option<u64>],
        now: When,
    ) -> Result<Vec<JoinReply>, StoreError> {
        if newcomers.is_empty() {
            return Ok(Vec::new());
        }
        let sent = self.prepare(known, newcomers)?;
        self.send(known, key, (sent, now), false).await
    }

    fn prepare(
        &self,
        known: &KnownRoom,
        newcomers: &[Option<u64>],
    ) -> Result<SentJoin, StoreError> {
        let missing = |error: KeyError| StoreError::Unavailable(error.to_string().into());
        let key_id = self.keys.current().map_err(missing)?.kid().to_owned();
        let issuer = known.snapshot().settings.issuer.clone();
        let issuer = issuer.unwrap_or_else(|| self.public_url.clone());
        let networks = newcomers.iter().flatten().copied().collect();
        let (call, count) = (self.store.call_name(), newcomers.len() as u64);
        Ok(SentJoin { call, count, networks, key_id, issuer })
    }

    /// Sends a call, and again if its outcome is unknown. While Redis's state of the room is in question, it waits for a
    /// moment: newcomers had better wait than be turned away.
    async fn send(
        &self,
        known: &KnownRoom,
        key: &JoinKey,
        (sent, when): (SentJoin, When),
        again: bool,
    ) -> Result<Vec<JoinReply>, StoreError> {
        let limits = key.limits(known);
        let mut join = Join {
            call: &sent.call,
            again,
            region: self.region.name(),
            count: sent.count,
            mode: key.mode,
            key_id: &sent.key_id,
            issuer: &sent.issuer,
            networks: &sent.networks,
            limits,
            max_session_seconds: known.snapshot().settings.max_session_seconds,
        };
        let until = Instant::now() + PATIENCE;
        let outcome = loop {
            match self.store.join(&key.room, &join).await {
                Err(StoreError::Unavailable(_)) if !join.again => join.again = true,
                Err(StoreError::Rewound) if Instant::now() < until => sleep(PAUSE).await,
                answered => break answered,
            }
        };
        let was_sent = join.again;
        let joined = match outcome {
            Ok(joined) => joined,
            Err(error) => {
                // Refused the second time, it may have been done the first time.
                if matches!(error, StoreError::Unavailable(_)) || was_sent {
                    self.unanswered.keep(key, sent, when);
                }
                return Err(error);
            }
        };
        self.taken.add(joined.taken);
        self.limits.count_newcomers(joined.beyond, limits.only_logs);
        let replies = self.replies(&joined, key.mode, sent.count, &joined.token(&join));
        let last = known.snapshot();
        if (joined.reset_epoch, joined.generation) > (last.reset_epoch, last.generation)
            && let Err(error) = self.feed.catch_up(known).await
            && joined.reset_epoch > last.reset_epoch
        {
            // The room was reset, and this instance has not heard of it: it would refuse the very tickets
            // that these newcomers are about to get.
            self.unanswered.spare(key, self::joined(replies, &sent.networks));
            return Err(error);
        }
        Ok(replies)
    }

    /// What became of each of `count` newcomers.
    fn replies(
        &self,
        joined: &Joined,
        mode: JoinMode,
        count: u64,
        token: &TokenRecord,
    ) -> Vec<JoinReply> {
        let place = |nth| JoinReply::Joined(self.newcomer(joined, mode, nth, token));
        if joined.admittances.is_empty() {
            return (0..count).map(place).collect();
        }
        let reply = |one: &Admittance| match *one {
            Admittance::Place(nth) => place(nth),
            Admittance::Over(limit @ NetworkLimit::Joins) => {
                let wait_s = u32::try_from(joined.wait_s).unwrap_or(u32::MAX).max(1);
                JoinReply::OverLimit { limit, wait_s }
            }
            Admittance::Over(limit) => JoinReply::OverLimit { limit, wait_s: PLACES_WAIT_S },
        };
        joined.admittances.iter().map(reply).collect()
    }

    fn newcomer(&self, joined: &Joined, mode: JoinMode, nth: u64, token: &TokenRecord) -> Newcomer {
        let entered = joined.suspended || nth < joined.seated;
        let number = joined.first + nth;
        Newcomer {
            place: Place {
                number,
                entered_at: u32::try_from(joined.now_ms / 1000).unwrap_or(u32::MAX),
                region: Place::marked(
                    self.region.index(),
                    mode == JoinMode::Enter,
                    self.feed.makes_uuids(),
                ),
            },
            reset_epoch: joined.reset_epoch,
            generation: if joined.suspended { Seat::UNCOUNTED } else { joined.generation },
            now_ms: joined.now_ms,
            serving: u64::try_from(joined.serving_counter).unwrap_or(0),
            awaits_draw: joined.pool.is_some(),
            token: entered.then(|| token.clone()),
        }
    }
}

/// The numbers of those who have places, of a call for newcomers of these networks; of none where nothing is limited.
fn joined(replies: Vec<JoinReply>, networks: &[u64]) -> Vec<Spare> {
    let networks = networks.iter().copied().map(Some).chain(iter::repeat(None));
    let spare = |(reply, network)| match reply {
        JoinReply::Joined(newcomer) => Some((network, newcomer)),
        JoinReply::OverLimit { .. } => None,
    };
    replies.into_iter().zip(networks).filter_map(spare).collect()
}
