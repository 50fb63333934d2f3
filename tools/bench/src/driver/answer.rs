//! Parses the parts of an HTTP/1.1 answer that the driver needs, and no more: client and services
//! share the same processors. Chunked answers are refused.

use std::{cmp::Ordering, ops::Range};

use memchr::{memchr, memmem};

/// The header that carries a visitor's ticket.
const TICKET: &[u8] = b"vestibule-ticket";
const CONTENT_LENGTH: &[u8] = b"content-length";

/// A complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// The status code.
    pub(crate) status: u16,
    /// The visitor's newest ticket.
    pub(crate) ticket: Option<&'a [u8]>,
    /// The body.
    pub(crate) body: &'a [u8],
}

/// The positions of the parts of an answer in the received bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    status: u16,
    ticket: Option<Range<usize>>,
    body: Range<usize>,
}

/// The received bytes are not an HTTP/1.1 answer with a known length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

// === impl Answer ===

impl Answer<'_> {
    /// Whether the member `status` of the body is `word`.
    pub(crate) fn has_status(&self, word: &str) -> bool {
        const MEMBER: &[u8] = b"\"status\":\"";
        let value = memmem::find(self.body, MEMBER).map(|at| &self.body[at + MEMBER.len()..]);
        value
            .and_then(|value| value.strip_prefix(word.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&b'"'))
    }
}

// === impl Parts ===

impl Parts {
    /// The parts of the answer in `received`, or `None` while it is incomplete. Nothing may follow
    /// it, because there is one request at a time.
    pub(super) fn find(received: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut lines = Lines { bytes: received, at: 0 };
        let Some(line) = lines.next() else { return Ok(None) };
        let status = status_of(&received[line])?;
        let (mut ticket, mut length) = (None, None);
        loop {
            let Some(line) = lines.next() else { return Ok(None) };
            if line.is_empty() {
                break;
            }
            if let Some(value) = value_of(&received[line.clone()], CONTENT_LENGTH) {
                length = Some(number(value)?);
            } else if let Some(value) = value_of(&received[line.clone()], TICKET) {
                ticket = Some(line.end - value.len()..line.end);
            }
        }
        let body = lines.at..lines.at + length.ok_or(Malformed)?;
        match received.len().cmp(&body.end) {
            Ordering::Less => Ok(None),
            Ordering::Equal => Ok(Some(Self { status, ticket, body })),
            Ordering::Greater => Err(Malformed),
        }
    }

    /// The answer with these parts of `received`.
    pub(super) fn get(self, received: &[u8]) -> Answer<'_> {
        Answer {
            status: self.status,
            ticket: self.ticket.map(|ticket| &received[ticket]),
            body: &received[self.body],
        }
    }
}

/// Complete lines, without their line ends.
#[derive(Debug)]
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let end = start + memchr(b'\n', &self.bytes[start..])?;
        self.at = end + 1;
        let line = &self.bytes[start..end];
        Some(start..end - usize::from(line.ends_with(b"\r")))
    }
}

fn status_of(line: &[u8]) -> Result<u16, Malformed> {
    let code = line.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.get(..3)).ok_or(Malformed)?;
    u16::try_from(number(code)?).map_err(|_| Malformed)
}

/// The value of a header line, if it is the header `name`, given in lower case.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, value) = line.split_at_checked(name.len())?;
    let value = value.strip_prefix(b":")?;
    found.eq_ignore_ascii_case(name).then(|| value.trim_ascii_start())
}

fn number(digits: &[u8]) -> Result<usize, Malformed> {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
        Vestibule-Ticket: abc-_1\r\ncontent-length: 33\r\ndate: today\r\n\r\n\
        {\"room\":\"r\",\"status\":\"your_turn\"}";

    fn parse(received: &[u8]) -> Result<Option<Answer<'_>>, Malformed> {
        Ok(Parts::find(received)?.map(|parts| parts.get(received)))
    }

    #[test]
    fn a_whole_answer_is_taken_apart() {
        let answer = parse(WHOLE).unwrap().unwrap();
        assert_eq!((answer.status, answer.ticket), (200, Some(&b"abc-_1"[..])));
        assert_eq!(answer.body.len(), 33);
    }

    #[test]
    fn any_part_of_it_asks_for_more() {
        for end in 0..WHOLE.len() {
            assert_eq!(parse(&WHOLE[..end]), Ok(None), "{end}");
        }
    }

    #[test]
    fn what_it_says_is_the_whole_word() {
        let answer = parse(WHOLE).unwrap().unwrap();
        assert!(answer.has_status("your_turn"));
        assert!(
            !answer.has_status("your") && !answer.has_status("waiting") && !answer.has_status("")
        );
        assert!(!Answer { body: b"{}", ..answer }.has_status("your_turn"));
    }

    #[test]
    fn an_empty_answer_and_an_error_are_answers() {
        let none = parse(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").unwrap();
        assert_eq!(none, Some(Answer { status: 503, ticket: None, body: b"" }));
    }

    #[test]
    fn what_it_does_not_understand_it_refuses() {
        for wrong in [
            &b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 2x0 OK\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab",
        ] {
            assert_eq!(parse(wrong), Err(Malformed), "{}", wrong.escape_ascii());
        }
    }
}
