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
    told: Told,
    left: Option<Arc<AtomicUsize>>,
    tickets: Option<Arc<Mutex<Vec<Ticket>>>>,
}

/// Visitors who have tickets, and call in turns, without end.
#[derive(Debug, Clone)]
pub(crate) struct Holders {
    head: Vec<u8>,
    told: Told,
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

/// What an expected answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// `waiting`, to the visitor itself.
    Waiting,
    /// To a gateway, that the request may pass.
    MayPass,
}

/// The head of a `GET` or `POST` of `path`, without the empty line at its end.
fn head(method: &str, path: &str) -> Vec<u8> {
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}").into_bytes()
}

/// What a gateway of `host` asks the authorizer, without the empty line at its end.
fn question(host: &str) -> Vec<u8> {
    let head = format!(
        "GET /authorize HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Method: GET\r\n\
         X-Forwarded-Proto: https\r\nX-Forwarded-Host: {host}\r\n\
         X-Forwarded-Uri: /sale/shoes?size=42\r\nX-Forwarded-For: 203.0.113.9\r\n"
    );
    head.into_bytes()
}

/// The head with its end, for a caller without a ticket.
fn whole(head: &[u8]) -> Vec<u8> {
    [head, b"\r\n"].concat()
}

fn with_ticket(request: &mut Vec<u8>, head: &[u8], ticket: &[u8]) {
    request.extend_from_slice(head);
    request.extend_from_slice(b"Vestibule-Ticket: ");
    request.extend_from_slice(ticket);
    request.extend_from_slice(b"\r\n\r\n");
}

// === impl Told ===

impl Told {
    fn is_in(self, answer: &Answer<'_>) -> bool {
        match self {
            Self::Waiting => {
                answer.status == 200 && answer.ticket.is_some() && answer.has_status("waiting")
            }
            Self::MayPass => answer.status == 200,
        }
    }
}

// === impl Same ===

impl Same {
    /// Requests `path` with `method`.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self(whole(&head(method, path)))
    }

    /// Requests a page of the site at `host`, as the browser of the visitor of `room` whose cookie
    /// is `ticket`, over http.
    pub(crate) fn browsing(host: &str, room: &str, ticket: &[u8]) -> Self {
        let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: vestibule_{room}=");
        Self([head.as_bytes(), ticket, b"\r\n\r\n"].concat())
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
    /// Newcomers of `room` who have to wait, without end.
    pub(crate) fn joining(room: &str) -> Self {
        Self::endless(&head("POST", &format!("/v1/rooms/{room}/join")), Told::Waiting)
    }

    /// Newcomers of the site at `host`, who each enter with their first request, without end.
    pub(crate) fn entering(host: &str) -> Self {
        Self::endless(&question(host), Told::MayPass)
    }

    /// So many of them, together with all clones.
    pub(crate) fn up_to(self, count: usize) -> Self {
        Self { left: Some(Arc::new(count.into())), ..self }
    }

    /// The same, whose tickets are added to `tickets`.
    pub(crate) fn keeping(self, tickets: Arc<Mutex<Vec<Ticket>>>) -> Self {
        Self { tickets: Some(tickets), ..self }
    }

    fn endless(head: &[u8], told: Told) -> Self {
        Self { request: whole(head), told, left: None, tickets: None }
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
        let Some(ticket) = answer.ticket else { return false };
        if let Some(tickets) = &self.tickets {
            tickets.lock().unwrap_or_else(PoisonError::into_inner).push(ticket.to_owned());
        }
        self.told.is_in(answer)
    }
}

// === impl Holders ===

impl Holders {
    /// Visitors of `room` who wait and poll; each sends its newest ticket.
    pub(crate) fn waiting(room: &str, tickets: Vec<Ticket>) -> Self {
        let head = head("GET", &format!("/v1/rooms/{room}/status"));
        Self { head, told: Told::Waiting, tickets, next: 0, replays: false }
    }

    /// Visitors inside, for whose requests the gateway of `host` asks the authorizer.
    pub(crate) fn inside(host: &str, tickets: Vec<Ticket>) -> Self {
        Self { head: question(host), told: Told::MayPass, tickets, next: 0, replays: false }
    }

    /// The same, but each always sends its first ticket.
    pub(crate) fn replaying(self) -> Self {
        Self { replays: true, ..self }
    }
}

impl Caller for Holders {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        self.next = (self.next + 1) % self.tickets.len();
        with_ticket(request, &self.head, &self.tickets[self.next]);
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        if let Some(ticket) = answer.ticket.filter(|_| !self.replays) {
            ticket.clone_into(&mut self.tickets[self.next]);
        }
        self.told.is_in(answer)
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
        let join = asked(&mut Newcomers::joining("r")).unwrap();
        assert!(join.starts_with("POST /v1/rooms/r/join HTTP/1.1\r\n"));
        assert!(join.ends_with("Content-Length: 0\r\n\r\n"));
    }

    #[test]
    fn those_who_wait_send_their_newest_ticket_unless_they_replay() {
        let waiting = br#"{"status":"waiting"}"#;
        for (replays, expected) in [(false, "Ticket: new\r\n\r\n"), (true, "Ticket: old\r\n\r\n")] {
            let tickets = vec![b"old".to_vec()];
            let mut caller = Holders { replays, ..Holders::waiting("r", tickets) };
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
        let mut newcomers = Newcomers::joining("r").up_to(2).keeping(Arc::clone(&tickets));
        let mut more = newcomers.clone();
        assert!(asked(&mut newcomers).is_some() && asked(&mut more).is_some());
        assert_eq!((asked(&mut newcomers), asked(&mut more)), (None, None));
        assert!(newcomers.receive(&answer(b"t", br#"{"status":"waiting"}"#)));
        assert_eq!(*tickets.lock().unwrap(), [b"t".to_vec()]);
    }

    #[test]
    fn who_is_inside_may_get_a_newer_ticket_or_none() {
        let mut inside = Holders::inside("h", vec![b"first".to_vec()]);
        for (ticket, sends) in [(None, "first"), (Some(&b"newer"[..]), "first"), (None, "newer")] {
            let sent = asked(&mut inside).unwrap();
            assert!(sent.ends_with(&format!("Vestibule-Ticket: {sends}\r\n\r\n")), "{sent}");
            assert!(inside.receive(&Answer { status: 200, ticket, body: b"" }));
        }
        let mut newcomers = Newcomers::entering("h");
        assert!(asked(&mut newcomers).unwrap().contains("X-Forwarded-Host: h\r\n"));
        assert!(!newcomers.receive(&Answer { status: 200, ticket: None, body: b"" }));
    }
}
