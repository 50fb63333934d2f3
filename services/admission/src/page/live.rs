//! Live updates for the page: a stream of what the visitor would see, sent when it changes. It only
//! adds to the page's polls: nothing here counts as a check-in or asks Redis, and a page without a
//! stream keeps polling.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    http::{HeaderMap, header::HOST},
    response::sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use vestibule_domain::RoomId;
use vestibule_page::{PageContent, PageView};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_token::Ticket;

use super::{
    Address, Pages, address,
    language::{self, copied},
    view::PageViewBuilder,
};
use crate::flows::{Caller, ClaimWindow, RoomContext, Turn, VisitorResponse};

/// How long a stream lasts. Then the page asks for another one, perhaps from a less busy instance.
const LONGEST: Duration = Duration::from_mins(5);
/// Seconds between two checks: for a visitor near the front, and for one far behind.
const PAUSE_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;
/// How often a comment is sent, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// When a page whose stream ended asks for another one.
const RETRY: Duration = Duration::from_secs(3);

/// How many pages of one visitor get live updates from this instance: more than anybody looks at. A further one is
/// refused, and polls; if it took the place of the oldest, tabs would end each other's streams for ever.
const MOST_OF_VISITOR: usize = 4;

/// The pages that get live updates from this instance, and the limits.
#[derive(Debug)]
pub(crate) struct LiveStreams {
    max: usize,
    open: Mutex<OpenStreams>,
    /// Cancelled when the service stops.
    stops: CancellationToken,
}

#[derive(Debug, Default)]
struct OpenStreams {
    all: usize,
    /// Without those who have none.
    by_visitor: BTreeMap<Watching, usize>,
}

/// Who watches: room, reset epoch and queue number, whichever of its tickets the visitor sends.
type Watching = (RoomId, u64, u64);

/// One page that gets live updates.
#[derive(Debug)]
pub(crate) struct Watcher {
    pages: Arc<Pages>,
    visitor: Watching,
    room: RoomContext,
    ticket: Ticket,
    /// What the page's address is made of, and no more: a stream lasts, and a head may be long.
    headers: HeaderMap,
    query: String,
    until: Instant,
    stops: CancellationToken,
    /// The last content sent, without the parts that change only because time passes.
    sent: Option<PageContent>,
    pause: Duration,
}

// === impl LiveStreams ===

impl LiveStreams {
    /// At most `max` pages at a time.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, open: Mutex::default(), stops: CancellationToken::new() }
    }

    /// How many pages get live updates now.
    pub(crate) fn open(&self) -> usize {
        self.locked().all
    }

    /// Ends every stream; the pages then connect to another instance.
    pub(crate) fn close(&self) {
        self.stops.cancel();
    }

    fn enter(&self, visitor: &Watching) -> Result<(), Problem> {
        let mut open = self.locked();
        if open.all >= self.max {
            return Err(Problem::new(ProblemType::Overloaded));
        }
        if open.by_visitor.get(visitor).is_some_and(|streams| *streams >= MOST_OF_VISITOR) {
            let refused = Problem::new(ProblemType::TooManyStreams);
            return Err(
                refused.detail(format!("at most {MOST_OF_VISITOR} at a time: poll instead"))
            );
        }
        open.all += 1;
        *open.by_visitor.entry(visitor.clone()).or_default() += 1;
        Ok(())
    }

    fn leave(&self, visitor: &Watching) {
        let mut open = self.locked();
        open.all = open.all.saturating_sub(1);
        if let Some(streams) = open.by_visitor.get_mut(visitor) {
            *streams = streams.saturating_sub(1);
            if *streams == 0 {
                open.by_visitor.remove(visitor);
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, OpenStreams> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Watcher ===

impl Watcher {
    /// Watches for the holder of `ticket`, who waits in `room` before a page with this query.
    ///
    /// # Errors
    /// If too many pages get live updates, or too many of this visitor.
    pub(crate) fn new(
        pages: &Arc<Pages>,
        room: RoomContext,
        ticket: Ticket,
        headers: &HeaderMap,
        query: &str,
    ) -> Result<Self, Problem> {
        // The number of a place in the endless line is somebody else's.
        let number =
            ticket.endless().map_or(ticket.waiter.place.number, |endless| !(endless.seed >> 1));
        let visitor = (room.snapshot.room.clone(), room.snapshot.reset_epoch, number);
        pages.live.enter(&visitor)?;
        let mut watcher = Self {
            pages: Arc::clone(pages),
            visitor,
            room: RoomContext { caller: kept_caller(&room.caller), ..room },
            ticket,
            headers: kept_headers(headers),
            query: address::without_the_rest(query),
            until: Instant::now() + LONGEST,
            stops: pages.live.stops.clone(),
            sent: None,
            pause: Duration::from_secs(*PAUSE_SECONDS.start()),
        };
        watcher.sent = watcher.current_content().map(|content| content.without_clock());
        Ok(watcher)
    }

    /// The stream: updates, and a comment every [`KEEP_ALIVE`].
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
            if self.stops.is_cancelled() || Instant::now() >= self.until {
                return None;
            }
            tokio::select! {
                biased;
                () = self.stops.cancelled() => return None,
                () = sleep(self.pause) => {}
            }
            let content = self.current_content()?;
            let sent = content.without_clock();
            if self.sent.as_ref() != Some(&sent) {
                self.sent = Some(sent);
                return Some(Event::default().retry(RETRY).data(content.to_json()));
            }
        }
    }

    /// What the page would show now; `None` when the room has gone, or was reset.
    fn current_content(&mut self) -> Option<PageContent> {
        let flows = &self.pages.flows;
        let now = flows.room(self.room.snapshot.room.as_str())?;
        if now.snapshot.reset_epoch != self.room.snapshot.reset_epoch {
            return None;
        }
        self.room = RoomContext { caller: self.room.caller.clone(), ..now };
        let response = flows.peek(&self.room, &self.ticket).ok()?;
        let far = response.status.wait_seconds.unwrap_or(120) / 60;
        self.pause = Duration::from_secs(far.clamp(*PAUSE_SECONDS.start(), *PAUSE_SECONDS.end()));
        Some(PageContent::from_view(&self.view(&response)))
    }

    fn view(&self, response: &VisitorResponse) -> PageView {
        let public_url = &self.pages.flows.public_url;
        let address = Address::direct(public_url, &self.room, &self.headers, &self.query);
        let builder = PageViewBuilder {
            room: &self.room,
            response,
            before: Some(self.ticket),
            address: &address,
            logo: None,
            window: ClaimWindow::default(),
            has_claimed: false,
            turn: Turn::Later,
        };
        builder.build()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.pages.live.leave(&self.visitor);
    }
}

fn kept_headers(headers: &HeaderMap) -> HeaderMap {
    let host = headers.get(HOST).and_then(copied).map(|host| (HOST, host));
    let mut kept = language::without_the_rest(headers);
    kept.extend(host);
    kept
}

fn kept_caller(caller: &Caller) -> Caller {
    let agent = caller.agent.as_ref().and_then(copied);
    let languages = caller.languages.as_ref().and_then(copied);
    Caller { agent, languages, ..caller.clone() }
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Bytes,
        http::{
            HeaderValue,
            header::{ACCEPT_LANGUAGE, COOKIE, USER_AGENT},
        },
    };

    use super::*;

    /// A head whose values are parts of what was read at once, as those of a request are.
    fn head(lines: &[(axum::http::HeaderName, &str)]) -> (Bytes, HeaderMap) {
        let read: Bytes = lines.iter().map(|(_, value)| *value).collect::<String>().into();
        let mut rest = read.clone();
        let mut part = |length| HeaderValue::from_maybe_shared(rest.split_to(length)).unwrap();
        let headers = lines.iter().map(|(name, value)| (name.clone(), part(value.len())));
        let headers = headers.collect();
        drop(rest);
        (read, headers)
    }

    #[test]
    fn of_a_long_head_only_what_the_page_needs_is_kept() {
        let long = "x".repeat(9_000);
        let cookie = format!("a={long}; vestibule_lang=fr; b=1");
        let lines = [
            (HOST, "shop.example"),
            (ACCEPT_LANGUAGE, "de"),
            (COOKIE, cookie.as_str()),
            (USER_AGENT, "test"),
            (axum::http::HeaderName::from_static("x-long"), long.as_str()),
        ];
        let (read, headers) = head(&lines);
        let caller = Caller {
            https: true,
            network: None,
            agent: headers.get(USER_AGENT).cloned(),
            languages: headers.get(ACCEPT_LANGUAGE).cloned(),
            key: None,
            may_have_place: false,
        };
        let (kept, kept_caller) = (kept_headers(&headers), kept_caller(&caller));
        assert_eq!(kept_caller, caller);
        drop((headers, caller));
        assert!(read.is_unique(), "nothing keeps the head in memory");
        assert_eq!(kept.len(), 3);
        assert!(kept[HOST] == "shop.example" && kept[ACCEPT_LANGUAGE] == "de");
        assert_eq!(kept[COOKIE], "vestibule_lang=fr");
    }

    #[test]
    fn a_visitor_has_a_few_streams_and_leaves_nothing_behind() {
        let live = LiveStreams::new(6);
        let room = RoomId::new("sale").unwrap();
        let [ann, bob] = [1, 2].map(|number| (room.clone(), 7, number));
        let entered = |visitor| live.enter(visitor).map_err(|problem| problem.kind());
        for _ in 0..MOST_OF_VISITOR {
            assert_eq!(entered(&ann), Ok(()));
        }
        assert_eq!(entered(&ann), Err(ProblemType::TooManyStreams));
        assert_eq!((entered(&bob), entered(&bob)), (Ok(()), Ok(())));
        assert_eq!(entered(&bob), Err(ProblemType::Overloaded));
        live.leave(&ann);
        assert_eq!((live.open(), entered(&ann)), (5, Ok(())));
        (0..MOST_OF_VISITOR).for_each(|_| live.leave(&ann));
        (0..2).for_each(|_| live.leave(&bob));
        assert_eq!(live.open(), 0);
        assert!(live.locked().by_visitor.is_empty());
    }
}
