//! Parses the parts of an HTTP/1.1 answer that the driver needs, and no more: client and services
//! share the same processors. Chunked answers are refused.

use std::{cmp::Ordering, str::FromStr};

use httparse::{EMPTY_HEADER, Response, Status};
use memchr::memmem;

/// The header that carries a visitor's ticket.
const TICKET: &str = "vestibule-ticket";
const CONTENT_LENGTH: &str = "content-length";
/// More than any of our answers has.
const MOST_HEADERS: usize = 32;

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

/// The received bytes are not an HTTP/1.1 answer with a known length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

// === impl Answer ===

impl<'a> Answer<'a> {
    /// The answer in `received`, or `None` while it is incomplete. Nothing may follow it, because there
    /// is one request at a time.
    pub(super) fn parse(received: &'a [u8]) -> Result<Option<Self>, Malformed> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut response = Response::new(&mut headers);
        let Status::Complete(head) = response.parse(received).map_err(|_| Malformed)? else {
            return Ok(None);
        };
        let status = response.code.filter(|_| response.version == Some(1)).ok_or(Malformed)?;
        let find = |name: &str| response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
        let length = std::str::from_utf8(find(CONTENT_LENGTH).ok_or(Malformed)?.value);
        let length: usize = length.ok().and_then(|text| text.parse().ok()).ok_or(Malformed)?;
        let (ticket, body) = (find(TICKET).map(|header| header.value), &received[head..]);
        match body.len().cmp(&length) {
            Ordering::Less => Ok(None),
            Ordering::Equal => Ok(Some(Self { status, ticket, body })),
            Ordering::Greater => Err(Malformed),
        }
    }

    /// Whether the member `status` of the body is `word`.
    pub(crate) fn has_status(&self, word: &str) -> bool {
        const MEMBER: &[u8] = b"\"status\":\"";
        let value = memmem::find(self.body, MEMBER).map(|at| &self.body[at + MEMBER.len()..]);
        value
            .and_then(|value| value.strip_prefix(word.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&b'"'))
    }

    /// The member `name` of the body, a number.
    pub(crate) fn member<T: FromStr>(&self, name: &str) -> Option<T> {
        let member = format!("\"{name}\":");
        let value = &self.body[memmem::find(self.body, member.as_bytes())? + member.len()..];
        let end = value.iter().position(|byte| matches!(byte, b',' | b'}'))?;
        std::str::from_utf8(&value[..end]).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
        Vestibule-Ticket: abc-_1\r\ncontent-length: 33\r\ndate: today\r\n\r\n\
        {\"room\":\"r\",\"status\":\"your_turn\"}";

    #[test]
    fn a_whole_answer_is_taken_apart() {
        let answer = Answer::parse(WHOLE).unwrap().unwrap();
        assert_eq!((answer.status, answer.ticket), (200, Some(&b"abc-_1"[..])));
        assert_eq!(answer.body.len(), 33);
    }

    #[test]
    fn any_part_of_it_asks_for_more() {
        for end in 0..WHOLE.len() {
            assert_eq!(Answer::parse(&WHOLE[..end]), Ok(None), "{end}");
        }
    }

    #[test]
    fn what_it_says_is_the_whole_word() {
        let answer = Answer::parse(WHOLE).unwrap().unwrap();
        assert!(answer.has_status("your_turn"));
        assert!(
            !answer.has_status("your") && !answer.has_status("waiting") && !answer.has_status("")
        );
        assert!(!Answer { body: b"{}", ..answer }.has_status("your_turn"));
    }

    #[test]
    fn numbers_are_read_by_their_names() {
        let body = br#"{"queue_number":4711,"position":null,"next_check_in_seconds":1.25}"#;
        let answer = Answer { status: 200, ticket: None, body };
        assert_eq!(answer.member("queue_number"), Some(4_711));
        assert_eq!(answer.member("next_check_in_seconds"), Some(1.25));
        assert_eq!(answer.member::<u64>("position"), None);
        assert_eq!(answer.member::<u64>("number"), None);
    }

    #[test]
    fn an_empty_answer_and_an_error_are_answers() {
        let none = Answer::parse(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").unwrap();
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
            assert_eq!(Answer::parse(wrong), Err(Malformed), "{}", wrong.escape_ascii());
        }
    }
}
