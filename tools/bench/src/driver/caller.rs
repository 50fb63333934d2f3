//! The callers of the measurements: each decides what its connection sends.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use super::Answer;

/// A visitor's newest ticket, as text.
pub(crate) type Ticket = Vec<u8>;

/// Decides what one connection sends.
pub(crate) trait Caller: Send + 'static {
    /// Writes the next request into the empty `request`; false when there is none left.
    fn ask(&mut self, request: &mut Vec<u8>) -> bool;

    /// Receives the answer to it; returns false if it is unexpected.
    fn receive(&mut self, answer: &Answer<'_>) -> bool;
}

/// Sends the same request every time, and expects 200.
#[derive(Debug, Clone)]
pub(crate) struct Same(pub(crate) Vec<u8>);

/// Newcomers, up to a number or without end.
#[derive(Debug, Clone)]
pub(crate) struct Newcomers {
    request: Vec<u8>,
    left: Option<Arc<AtomicUsize>>,
    tickets: Option<Arc<Mutex<Vec<Ticket>>>>,
}

/// Waiting visitors who poll in turns.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    head: Vec<u8>,
    tickets: Vec<Ticket>,
    next: usize,
    replays: bool,
}

/// Served visitors who each claim once.
#[derive(Debug, Clone)]
pub(crate) struct Claimants {
    head: Vec<u8>,
    tickets: Arc<Vec<Ticket>>,
    next: Arc<AtomicUsize>,
}

/// The head of a `GET` or `POST` of `path`, without the empty line at its end.
fn head(method: &str, path: &str) -> Vec<u8> {
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}").into_bytes()
}

fn with_ticket(request: &mut Vec<u8>, head: &[u8], ticket: &[u8]) {
    request.extend_from_slice(head);
    request.extend_from_slice(b"Vestibule-Ticket: ");
    request.extend_from_slice(ticket);
    request.extend_from_slice(b"\r\n\r\n");
}

// === impl Same ===

impl Same {
    /// Requests `path` with `method`.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self([&head(method, path)[..], b"\r\n"].concat())
    }
}

impl Caller for Same {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        request.extend_from_slice(&self.0);
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        answer.status == 200
    }
}

// === impl Newcomers ===

impl Newcomers {
    /// Newcomers of `room`, without end.
    pub(crate) fn endless(room: &str) -> Self {
        let Same(request) = Same::new("POST", &format!("/v1/rooms/{room}/join"));
        Self { request, left: None, tickets: None }
    }

    /// `left` newcomers of `room`, whose tickets are added to `tickets`.
    pub(crate) fn some(room: &str, left: usize, tickets: Option<Arc<Mutex<Vec<Ticket>>>>) -> Self {
        Self { left: Some(Arc::new(left.into())), tickets, ..Self::endless(room) }
    }
}

impl Caller for Newcomers {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        request.extend_from_slice(&self.request);
        let one_less = |left: &Arc<AtomicUsize>| {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        };
        self.left.as_ref().is_none_or(|left| one_less(left).is_ok())
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        if let (Some(tickets), Some(ticket)) = (&self.tickets, answer.ticket) {
            tickets.lock().unwrap_or_else(PoisonError::into_inner).push(ticket.to_owned());
        }
        answer.status == 200 && answer.ticket.is_some() && answer.has_status("waiting")
    }
}

// === impl Waiting ===

impl Waiting {
    /// The visitors of `room` with these `tickets`; each sends its newest one.
    pub(crate) fn new(room: &str, tickets: Vec<Ticket>) -> Self {
        let head = head("GET", &format!("/v1/rooms/{room}/status"));
        Self { head, tickets, next: 0, replays: false }
    }

    /// The same, but each always sends its first ticket.
    pub(crate) fn replaying(room: &str, tickets: Vec<Ticket>) -> Self {
        Self { replays: true, ..Self::new(room, tickets) }
    }
}

impl Caller for Waiting {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        self.next = (self.next + 1) % self.tickets.len();
        with_ticket(request, &self.head, &self.tickets[self.next]);
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        let Some(ticket) = answer.ticket else { return false };
        if !self.replays {
            let newest = &mut self.tickets[self.next];
            newest.clear();
            newest.extend_from_slice(ticket);
        }
        answer.status == 200 && answer.has_status("waiting")
    }
}

// === impl Claimants ===

impl Claimants {
    /// The visitors of `room` with these `tickets`. Clones share them.
    pub(crate) fn new(room: &str, tickets: Vec<Ticket>) -> Self {
        let head = head("POST", &format!("/v1/rooms/{room}/claim"));
        Self { head, tickets: Arc::new(tickets), next: Arc::default() }
    }
}

impl Caller for Claimants {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        let Some(ticket) = self.tickets.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
            return false;
        };
        with_ticket(request, &self.head, ticket);
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        answer.status == 200 && answer.has_status("admitted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer<'a>(ticket: &'a [u8], body: &'a [u8]) -> Answer<'a> {
        Answer { status: 200, ticket: Some(ticket), body }
    }

    fn asked(caller: &mut impl Caller) -> Option<String> {
        let mut request = Vec::new();
        caller.ask(&mut request).then(|| String::from_utf8(request).unwrap())
    }

    #[test]
    fn requests_are_complete() {
        let get = asked(&mut Same::new("GET", "/")).unwrap();
        assert_eq!(get, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let join = asked(&mut Newcomers::endless("r")).unwrap();
        assert!(join.starts_with("POST /v1/rooms/r/join HTTP/1.1\r\n"));
        assert!(join.ends_with("Content-Length: 0\r\n\r\n"));
    }

    #[test]
    fn those_who_wait_send_their_newest_ticket_unless_they_replay() {
        let waiting = br#"{"status":"waiting"}"#;
        for (replays, expected) in [(false, "Ticket: new\r\n\r\n"), (true, "Ticket: old\r\n\r\n")] {
            let tickets = vec![b"old".to_vec()];
            let mut caller = Waiting { replays, ..Waiting::new("r", tickets) };
            assert!(asked(&mut caller).unwrap().ends_with("Ticket: old\r\n\r\n"));
            assert!(caller.receive(&answer(b"new", waiting)));
            assert!(asked(&mut caller).unwrap().ends_with(expected));
            assert!(!caller.receive(&answer(b"new", br#"{"status":"your_turn"}"#)));
        }
    }

    #[test]
    fn nobody_claims_twice_and_newcomers_end_when_the_room_is_full() {
        let mut claimants = Claimants::new("r", vec![b"a".to_vec(), b"b".to_vec()]);
        let mut others = claimants.clone();
        assert!(asked(&mut claimants).unwrap().contains("Ticket: a\r\n"));
        assert!(asked(&mut others).unwrap().contains("Ticket: b\r\n"));
        assert_eq!((asked(&mut claimants), asked(&mut others)), (None, None));
        let tickets = Arc::new(Mutex::default());
        let mut newcomers = Newcomers::some("r", 2, Some(Arc::clone(&tickets)));
        let mut more = newcomers.clone();
        assert!(asked(&mut newcomers).is_some() && asked(&mut more).is_some());
        assert_eq!((asked(&mut newcomers), asked(&mut more)), (None, None));
        assert!(newcomers.receive(&answer(b"t", br#"{"status":"waiting"}"#)));
        assert_eq!(*tickets.lock().unwrap(), [b"t".to_vec()]);
    }
}
