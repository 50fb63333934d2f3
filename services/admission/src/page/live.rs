//! Live updates for the page: a stream that tells when what the visitor would see has changed. An
//! upgrade of polls, not their replacement: nothing here counts as a check-in or asks Redis, and
//! a page that gets no stream goes on asking.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    http::HeaderMap,
    response::sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use vestibule_page::PageContent;
use vestibule_token::Ticket;

use super::{Address, glimpse};
use crate::{
    state::Admission,
    visitor::{Carrier, RoomContext, VisitorResponder},
};

/// A stream ends after so long, and the page asks for another one: by then another instance may
/// have more room.
const LONGEST: Duration = Duration::from_mins(5);
/// How often someone near the binding, and someone far from it, is looked after, in seconds.
const PAUSE_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;
/// A comment now and then keeps proxies from hanging up.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// When a page whose stream ended asks for another one.
const RETRY: Duration = Duration::from_secs(3);

/// How many pages get live updates here, and may.
#[derive(Debug)]
pub(crate) struct LiveStreams {
    max: usize,
    open: AtomicUsize,
    /// Whether the service stops.
    stops: watch::Sender<bool>,
}

/// One page that gets live updates.
#[derive(Debug)]
pub(crate) struct Watcher {
    admission: Arc<Admission>,
    context: RoomContext,
    ticket: (Ticket, String),
    headers: HeaderMap,
    query: String,
    until: Instant,
    stops: watch::Receiver<bool>,
    /// What the page shows, without what changes merely because time passes.
    told: Option<PageContent>,
    pause: Duration,
}

// === impl LiveStreams ===

impl LiveStreams {
    /// Room for so many pages at once.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, open: AtomicUsize::new(0), stops: watch::Sender::new(false) }
    }

    /// How many pages get live updates now.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Ends every stream: the pages find another instance.
    pub(crate) fn close(&self) {
        self.stops.send_replace(true);
    }

    fn enter(&self) -> bool {
        let more = |open: usize| (open < self.max).then_some(open + 1);
        self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

// === impl Watcher ===

impl Watcher {
    /// Watches for someone in line, whose page has this query; `None` when too many are watched.
    pub(crate) fn new(
        admission: &Arc<Admission>,
        context: RoomContext,
        ticket: (Ticket, String),
        headers: HeaderMap,
        query: String,
    ) -> Option<Self> {
        if !admission.live.enter() {
            return None;
        }
        let mut watcher = Self {
            admission: Arc::clone(admission),
            context,
            ticket,
            headers,
            query,
            until: Instant::now() + LONGEST,
            stops: admission.live.stops.subscribe(),
            told: None,
            pause: Duration::from_secs(*PAUSE_SECONDS.start()),
        };
        watcher.told = watcher.look().map(|content| content.without_clock());
        Some(watcher)
    }

    /// The stream: updates, and a comment now and then.
    pub(crate) fn into_stream(
        self,
    ) -> Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>> {
        let updates = stream::unfold(self, async |mut watcher| {
            let event = watcher.next().await?;
            Some((Ok(event), watcher))
        });
        Sse::new(updates).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if *self.stops.borrow() || Instant::now() >= self.until {
                return None;
            }
            tokio::select! {
                () = sleep(self.pause) => {}
                _ = self.stops.changed() => return None,
            }
            let content = self.look()?;
            let told = content.without_clock();
            if self.told.as_ref() != Some(&told) {
                self.told = Some(told);
                return Some(Event::default().retry(RETRY).data(content.to_json()));
            }
        }
    }

    /// What the page would show now; `None` when the room has gone, or was reset.
    fn look(&mut self) -> Option<PageContent> {
        let room = self.context.snapshot.room.clone();
        let now = RoomContext::for_room(&self.admission, room.as_str()).ok()?;
        if now.snapshot.reset_epoch != self.context.snapshot.reset_epoch {
            return None;
        }
        self.context = RoomContext { https: self.context.https, ..now };
        let context = &self.context;
        let responder = VisitorResponder::new(&self.admission, context, Carrier::Cookie);
        let answer = responder.glances(&self.ticket).ok()?;
        let far = answer.body.wait_seconds.unwrap_or(120) / 60;
        self.pause = Duration::from_secs(far.clamp(*PAUSE_SECONDS.start(), *PAUSE_SECONDS.end()));
        let address = Address::direct(&self.admission, context, &self.headers, &self.query);
        Some(PageContent::from_view(&glimpse(context, &answer, &self.headers, &address)))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.admission.live.open.fetch_sub(1, Ordering::Relaxed);
    }
}
