//! The callers for the measurements of the authorizer: requests of a gateway.

use super::{Answer, Caller, Ticket};

/// Admitted visitors, for whose requests the gateway asks the authorizer.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    question: Vec<u8>,
    tickets: Vec<Ticket>,
    next: usize,
}

/// An admitted visitor, whose browser requests pages from the gateway.
#[derive(Debug, Clone)]
pub(crate) struct Browsing(Vec<u8>);

/// Newcomers, who each enter with their first request.
#[derive(Debug, Clone)]
pub(crate) struct Entering {
    question: Vec<u8>,
    tickets: Vec<Ticket>,
    left: Option<usize>,
}

/// The request of a gateway of `host`, without the empty line at its end.
fn question(host: &str) -> Vec<u8> {
    let head = format!(
        "GET /authorize HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Method: GET\r\n\
         X-Forwarded-Proto: https\r\nX-Forwarded-Host: {host}\r\n\
         X-Forwarded-Uri: /sale/shoes?size=42\r\nX-Forwarded-For: 203.0.113.9\r\n"
    );
    head.into_bytes()
}

// === impl Inside ===

impl Inside {
    /// The visitors with these `tickets`; each sends its newest one.
    pub(crate) fn new(host: &str, tickets: Vec<Ticket>) -> Self {
        Self { question: question(host), tickets, next: 0 }
    }
}

impl Caller for Inside {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        self.next = (self.next + 1) % self.tickets.len();
        request.extend_from_slice(&self.question);
        request.extend_from_slice(b"Vestibule-Ticket: ");
        request.extend_from_slice(&self.tickets[self.next]);
        request.extend_from_slice(b"\r\n\r\n");
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        if let Some(ticket) = answer.ticket {
            ticket.clone_into(&mut self.tickets[self.next]);
        }
        answer.status == 200
    }
}

// === impl Browsing ===

impl Browsing {
    /// The visitor of `room` at `host` whose cookie is `ticket`, over http.
    pub(crate) fn new(host: &str, room: &str, ticket: &[u8]) -> Self {
        let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: vestibule_{room}=");
        Self([head.as_bytes(), ticket, b"\r\n\r\n"].concat())
    }
}

impl Caller for Browsing {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        request.extend_from_slice(&self.0);
        true
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        answer.status == 200
    }
}

// === impl Entering ===

impl Entering {
    /// Newcomers of the site at `host`, without end.
    pub(crate) fn endless(host: &str) -> Self {
        Self { question: question(host), tickets: Vec::new(), left: None }
    }

    /// `count` newcomers.
    pub(crate) fn some(host: &str, count: usize) -> Self {
        Self { left: Some(count), ..Self::endless(host) }
    }

    /// The tickets of the visitors who have entered.
    pub(crate) fn into_tickets(self) -> Vec<Ticket> {
        self.tickets
    }
}

impl Caller for Entering {
    fn ask(&mut self, request: &mut Vec<u8>) -> bool {
        request.extend_from_slice(&self.question);
        request.extend_from_slice(b"\r\n");
        let Some(left) = &mut self.left else { return true };
        *left = left.checked_sub(1).unwrap_or(usize::MAX);
        *left != usize::MAX
    }

    fn receive(&mut self, answer: &Answer<'_>) -> bool {
        let Some(ticket) = answer.ticket else { return false };
        if self.left.is_some() {
            self.tickets.push(ticket.to_owned());
        }
        answer.status == 200
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_enter_and_are_inside_with_their_newest_ticket() {
        let answer = |ticket| Answer { status: 200, ticket, body: b"" };
        let (mut newcomers, mut request) = (Entering::some("h", 1), Vec::new());
        assert!(newcomers.ask(&mut request) && newcomers.receive(&answer(Some(b"first"))));
        assert!(!newcomers.ask(&mut request));
        let mut inside = Inside::new("h", newcomers.into_tickets());
        for (ticket, sends) in [(None, "first"), (Some(&b"newer"[..]), "first"), (None, "newer")] {
            let mut request = Vec::new();
            inside.ask(&mut request);
            let sent = String::from_utf8(request).unwrap();
            assert!(sent.ends_with(&format!("Vestibule-Ticket: {sends}\r\n\r\n")), "{sent}");
            assert!(inside.receive(&answer(ticket)));
        }
    }
}
