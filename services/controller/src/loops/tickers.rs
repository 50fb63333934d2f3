//! What this instance remembers of each room: of those that it serves, from tick to tick; of the others, what everybody
//! can see, so that whoever serves them next knows it.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::{Mutex, OwnedMutexGuard};
use vestibule_domain::RoomId;
use vestibule_store::{Feed, KnownRoom};

use super::room_ticker::RoomTicker;
use crate::leadership::Term;

/// The memories of all rooms.
#[derive(Debug, Default)]
pub(super) struct Tickers {
    rooms: BTreeMap<RoomId, Arc<Mutex<RoomTicker>>>,
    /// The term in which it serves.
    term: Option<Term>,
}

// === impl Tickers ===

impl Tickers {
    /// Begins another term; `None`: it serves no room from now on. What it remembers of a room that it serves holds
    /// only if it goes on serving that without a break: another one may have done so meanwhile.
    pub(super) fn begin(&mut self, term: Option<Term>) {
        let last = std::mem::replace(&mut self.term, term);
        let Some(last) = last else { return };
        let next = term.filter(|term| term.follows(last));
        let goes_on = |room: &RoomId| next.is_some_and(|next| next.share.has(room));
        self.rooms.retain(|room, _| !last.share.has(room) || goes_on(room));
    }

    /// Forgets rooms that are no more, and gives those that are served, and the others.
    pub(super) fn take_up(&mut self, feed: &Feed) -> (Vec<Arc<KnownRoom>>, Vec<Arc<KnownRoom>>) {
        self.rooms.retain(|room, _| feed.room(room.as_str()).is_some());
        let is_own = |known: &Arc<KnownRoom>| {
            self.term.is_some_and(|term| term.share.has(&known.snapshot().room))
        };
        feed.rooms().into_iter().partition(is_own)
    }

    /// The memory of a room; `None`: a tick is under way.
    pub(super) fn of(&mut self, room: &RoomId) -> Option<OwnedMutexGuard<RoomTicker>> {
        let ticker = self.rooms.entry(room.clone()).or_default();
        Arc::clone(ticker).try_lock_owned().ok()
    }

    /// Sees a room as all services know it.
    pub(super) fn follow(&mut self, known: &KnownRoom) {
        let snapshot = known.snapshot();
        if let Some(mut ticker) = self.of(&snapshot.room) {
            ticker.see(&snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::Share;

    use super::*;

    fn remembering(rooms: &[&RoomId]) -> Tickers {
        let mut tickers = Tickers::default();
        for room in rooms {
            drop(tickers.of(room));
        }
        tickers
    }

    /// A room of each of two members, and their shares.
    fn two() -> [(RoomId, Share); 2] {
        let members = ["a", "b"];
        members.map(|member| {
            let share = Share::of(member, &members);
            let names = (0..64).map(|nth| RoomId::new(format!("room-{nth}")).unwrap());
            (names.into_iter().find(|room| share.has(room)).unwrap(), share)
        })
    }

    #[test]
    fn what_was_seen_of_a_room_stays_until_it_is_served_with_a_break() {
        let [(own, share), (other, _)] = two();
        let mut tickers = remembering(&[&own, &other]);
        let term = |epoch: u64, share| Some(Term { epoch, before: Some(epoch - 1), share });
        let remembered =
            |tickers: &Tickers| [&own, &other].map(|room| tickers.rooms.contains_key(room));
        tickers.begin(term(5, share));
        assert_eq!(remembered(&tickers), [true, true], "it has followed both");
        tickers.begin(term(6, Share::ALL));
        assert_eq!(remembered(&tickers), [true, true]);
        tickers.begin(term(7, share));
        assert_eq!(remembered(&tickers), [true, false], "another one serves it from now on");
        tickers.begin(term(9, share));
        assert_eq!(remembered(&tickers), [false, false], "of the eighth term it knows nothing");
    }

    #[test]
    fn who_served_a_room_and_stops_knows_nothing_of_it() {
        let [(own, share), (other, _)] = two();
        let mut tickers = remembering(&[&own, &other]);
        tickers.begin(Some(Term { epoch: 5, before: None, share }));
        tickers.begin(None);
        assert!(!tickers.rooms.contains_key(&own) && tickers.rooms.contains_key(&other));
    }
}
