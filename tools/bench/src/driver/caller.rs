//! The callers of the measurements: each decides what its connection sends, and knows what it expects.

use std::{
    io::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::Answer;

/// A visitor's newest ticket, as text.
pub(crate) type Ticket = Vec<u8>;

/// Decides what one connection sends.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// A request without the empty line at its end.
    head: Vec<u8>,
    /// What follows that line.
    body: Vec<u8>,
    expects: Told,
    carries: Carries,
    comes_from: Home,
    /// How many requests are left for all clones together; `None`: there is no end.
    left: Option<Arc<AtomicUsize>>,
    /// Where the tickets of all answers are kept.
    kept: Option<Arc<Mutex<Vec<Ticket>>>>,
}

/// The tickets that are sent.
#[derive(Debug, Clone)]
enum Carries {
    /// None.
    Nothing,
    /// Those of visitors who call in turns, without end; `replays`: each always the first that it had.
    InTurns { tickets: Vec<Ticket>, next: usize, replays: bool },
    /// Those of visitors who each call once, shared by all clones.
    Once { tickets: Arc<Vec<Ticket>>, next: Arc<AtomicUsize> },
}

/// From where the visitors come, as a gateway says it.
#[derive(Debug, Clone)]
enum Home {
    /// It says nothing.
    Unsaid,
    /// All from one network.
    One,
    /// Each from another network than the one before, shared by all clones.
    Everywhere(Arc<AtomicUsize>),
}

/// What an expected answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// 200, whatever else: to a gateway, that the request may pass.
    Fine,
    /// 400: what is asked for cannot be there.
    Wrong,
    /// The same to somebody who enters, with a ticket.
    Entered,
    /// `waiting`, to the visitor itself, with a ticket.
    Waiting,
    /// `admitted`.
    Admitted,
}

/// The head of a `GET` or `POST` of `path`.
fn head(method: &str, path: &str) -> Vec<u8> {
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}").into_bytes()
}

/// What a gateway of `host` asks the authorizer.
fn question(host: &str) -> Vec<u8> {
    let head = format!(
        "GET /authorize HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Method: GET\r\n\
         X-Forwarded-Proto: https\r\nX-Forwarded-Host: {host}\r\n\
         X-Forwarded-Uri: /sale/shoes?size=42\r\nUser-Agent: vestibule-bench\r\n"
    );
    head.into_bytes()
}

// === impl Caller ===

impl Caller {
    /// Requests `path` with `method`, without end.
    pub(crate) fn same(method: &str, path: &str) -> Self {
        Self::new(head(method, path), Told::Fine, Carries::Nothing)
    }

    /// Posts `body`, which names what cannot be there, to `path` with these further headers, without end.
    pub(crate) fn misaddressing(path: &str, headers: &[(&str, String)], body: &[u8]) -> Self {
        let length = ("Content-Length", body.len().to_string());
        let mut head = format!("POST {path} HTTP/1.1\r\n");
        for (name, value) in headers.iter().chain([&length]) {
            head.extend([*name, ": ", value, "\r\n"]);
        }
        let caller = Self::new(head.into_bytes(), Told::Wrong, Carries::Nothing);
        Self { body: body.to_owned(), ..caller }
    }

    /// Requests a page of the site at `host`, as the browser of the visitor of `room` whose cookie
    /// is `ticket`, over http.
    pub(crate) fn browsing(host: &str, room: &str, ticket: &[u8]) -> Self {
        let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: vestibule_{room}=");
        let head = [head.as_bytes(), ticket, b"\r\n"].concat();
        Self::new(head, Told::Fine, Carries::Nothing)
    }

    /// Newcomers of `room` who have to wait, without end.
    pub(crate) fn joining(room: &str) -> Self {
        let head = head("POST", &format!("/v1/rooms/{room}/join"));
        Self::new(head, Told::Waiting, Carries::Nothing)
    }

    /// Newcomers of the site at `host`, who each enter with their first request, without end; all from one network.
    pub(crate) fn entering(host: &str) -> Self {
        let caller = Self::new(question(host), Told::Entered, Carries::Nothing);
        Self { comes_from: Home::One, ..caller }
    }

    /// Visitors of `room` who wait and poll; each sends its newest ticket.
    pub(crate) fn waiting(room: &str, tickets: Vec<Ticket>) -> Self {
        let head = head("GET", &format!("/v1/rooms/{room}/status"));
        Self::new(head, Told::Waiting, Carries::InTurns { tickets, next: 0, replays: false })
    }

    /// The same, but each always sends its first ticket.
    pub(crate) fn replaying(room: &str, tickets: Vec<Ticket>) -> Self {
        let carries = Carries::InTurns { tickets, next: 0, replays: true };
        Self { carries, ..Self::waiting(room, Vec::new()) }
    }

    /// Visitors inside, for whose requests the gateway of `host` asks the authorizer.
    pub(crate) fn inside(host: &str, tickets: Vec<Ticket>) -> Self {
        let carries = Carries::InTurns { tickets, next: 0, replays: false };
        Self { comes_from: Home::One, ..Self::new(question(host), Told::Fine, carries) }
    }

    /// The served visitors of `room` with these `tickets`, who each claim once. Clones share them.
    pub(crate) fn claiming(room: &str, tickets: Vec<Ticket>) -> Self {
        let carries = Carries::Once { tickets: Arc::new(tickets), next: Arc::default() };
        Self::new(head("POST", &format!("/v1/rooms/{room}/claim")), Told::Admitted, carries)
    }

    /// The same, each from another network, as a crowd comes.
    pub(crate) fn each_from_another_network(self) -> Self {
        Self { comes_from: Home::Everywhere(Arc::default()), ..self }
    }

    /// So many requests, together with all clones.
    pub(crate) fn up_to(self, count: usize) -> Self {
        Self { left: Some(Arc::new(count.into())), ..self }
    }

    /// The same, the tickets of whose answers are added to `tickets`.
    pub(crate) fn keeping(self, tickets: Arc<Mutex<Vec<Ticket>>>) -> Self {
        Self { kept: Some(tickets), ..self }
    }

    fn new(head: Vec<u8>, expects: Told, carries: Carries) -> Self {
        let body = Vec::new();
        Self { head, body, expects, carries, comes_from: Home::Unsaid, left: None, kept: None }
    }

    /// Writes the next request into the empty `request`; false when there is none left.
    pub(super) fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        let one_less = |left: &Arc<AtomicUsize>| {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        };
        let ticket = match &mut self.carries {
            Carries::Nothing => None,
            Carries::InTurns { tickets, next, .. } => {
                *next = (*next + 1) % tickets.len();
                Some(&tickets[*next])
            }
            Carries::Once { tickets, next } => {
                let Some(ticket) = tickets.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return false;
                };
                Some(ticket)
            }
        };
        request.extend_from_slice(&self.head);
        self.comes_from.write_to(request);
        if let Some(ticket) = ticket {
            request.extend_from_slice(b"Vestibule-Ticket: ");
            request.extend_from_slice(ticket);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(&self.body);
        self.left.as_ref().is_none_or(|left| one_less(left).is_ok())
    }

    /// Receives the answer to it; returns false if it is unexpected.
    pub(super) fn receive(&mut self, answer: &Answer<'_>) -> bool {
        if let (Some(ticket), Some(tickets)) = (answer.ticket, &self.kept) {
            tickets.lock().unwrap_or_else(PoisonError::into_inner).push(ticket.to_owned());
        }
        if let (Some(ticket), Carries::InTurns { tickets, next, replays: false }) =
            (answer.ticket, &mut self.carries)
        {
            ticket.clone_into(&mut tickets[*next]);
        }
        self.expects.is_in(answer)
    }
}

// === impl Home ===

impl Home {
    /// Writes what a gateway says of it. A network is a /24; there are 65,536, and none of them is private.
    fn write_to(&self, request: &mut Vec<u8>) {
        match self {
            Self::Unsaid => {}
            Self::One => request.extend_from_slice(b"X-Forwarded-For: 203.0.113.9\r\n"),
            Self::Everywhere(next) => {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let (high, low) = (nth / 256 % 256, nth % 256);
                // What is written into memory is written.
                let _ = write!(request, "X-Forwarded-For: 20.{high}.{low}.9\r\n");
            }
        }
    }
}

// === impl Told ===

impl Told {
    fn is_in(self, answer: &Answer<'_>) -> bool {
        let expected = if self == Self::Wrong { 400 } else { 200 };
        answer.status == expected
            && match self {
                Self::Fine | Self::Wrong => true,
                Self::Entered => answer.ticket.is_some(),
                Self::Waiting => answer.ticket.is_some() && answer.has_status("waiting"),
                Self::Admitted => answer.has_status("admitted"),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer<'a>(ticket: &'a [u8], body: &'a [u8]) -> Answer<'a> {
        Answer { status: 200, ticket: Some(ticket), body }
    }

    fn asked(caller: &mut Caller) -> Option<String> {
        let mut request = Vec::new();
        caller.ask(&mut request).then(|| String::from_utf8(request).unwrap())
    }

    #[test]
    fn requests_are_complete() {
        let get = asked(&mut Caller::same("GET", "/")).unwrap();
        assert_eq!(get, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let join = asked(&mut Caller::joining("r")).unwrap();
        assert!(join.starts_with("POST /v1/rooms/r/join HTTP/1.1\r\n"));
        assert!(join.ends_with("Content-Length: 0\r\n\r\n"));
        let headers = [("Host", "h".to_owned())];
        let posted = asked(&mut Caller::misaddressing("/p", &headers, b"body")).unwrap();
        assert_eq!(posted, "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody");
    }

    #[test]
    fn those_who_wait_send_their_newest_ticket_unless_they_replay() {
        let waiting = br#"{"status":"waiting"}"#;
        for (replays, expected) in [(false, "Ticket: new\r\n\r\n"), (true, "Ticket: old\r\n\r\n")] {
            let tickets = vec![b"old".to_vec()];
            let caller = if replays { Caller::replaying } else { Caller::waiting };
            let mut caller = caller("r", tickets);
            assert!(asked(&mut caller).unwrap().ends_with("Ticket: old\r\n\r\n"));
            assert!(caller.receive(&answer(b"new", waiting)));
            assert!(asked(&mut caller).unwrap().ends_with(expected));
            assert!(!caller.receive(&answer(b"new", br#"{"status":"your_turn"}"#)));
        }
    }

    #[test]
    fn nobody_claims_twice_and_newcomers_end_when_the_room_is_full() {
        let mut claimants = Caller::claiming("r", vec![b"a".to_vec(), b"b".to_vec()]);
        let mut others = claimants.clone();
        assert!(asked(&mut claimants).unwrap().contains("Ticket: a\r\n"));
        assert!(asked(&mut others).unwrap().contains("Ticket: b\r\n"));
        assert_eq!((asked(&mut claimants), asked(&mut others)), (None, None));
        let tickets = Arc::new(Mutex::default());
        let mut newcomers = Caller::joining("r").up_to(2).keeping(Arc::clone(&tickets));
        let mut more = newcomers.clone();
        assert!(asked(&mut newcomers).is_some() && asked(&mut more).is_some());
        assert_eq!((asked(&mut newcomers), asked(&mut more)), (None, None));
        assert!(newcomers.receive(&answer(b"t", br#"{"status":"waiting"}"#)));
        assert_eq!(*tickets.lock().unwrap(), [b"t".to_vec()]);
    }

    #[test]
    fn who_is_inside_may_get_a_newer_ticket_or_none() {
        let mut inside = Caller::inside("h", vec![b"first".to_vec()]);
        for (ticket, sends) in [(None, "first"), (Some(&b"newer"[..]), "first"), (None, "newer")] {
            let sent = asked(&mut inside).unwrap();
            assert!(sent.ends_with(&format!("Vestibule-Ticket: {sends}\r\n\r\n")), "{sent}");
            assert!(inside.receive(&Answer { status: 200, ticket, body: b"" }));
        }
        let mut newcomers = Caller::entering("h");
        assert!(asked(&mut newcomers).unwrap().contains("X-Forwarded-Host: h\r\n"));
        assert!(!newcomers.receive(&Answer { status: 200, ticket: None, body: b"" }));
    }

    #[test]
    fn a_crowd_comes_from_many_networks() {
        let mut one = Caller::joining("r").each_from_another_network();
        let mut other = one.clone();
        assert!(asked(&mut one).unwrap().contains("X-Forwarded-For: 20.0.0.9\r\n"));
        assert!(asked(&mut other).unwrap().contains("X-Forwarded-For: 20.0.1.9\r\n"));
        let entering = asked(&mut Caller::entering("h")).unwrap();
        assert_eq!(entering.matches("X-Forwarded-For: 203.0.113.9\r\n").count(), 1, "{entering}");
    }
}
