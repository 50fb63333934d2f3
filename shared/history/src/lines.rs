//! Histories as text: one JSON object a line, [`What::Opened`] first. Reading several files gives
//! their events in order of time. Where a history ends without [`What::Closed`], its writer was killed,
//! and
//! [`What::Cut`] is read.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fmt,
    io::{self, BufRead, Write},
};

use crate::{Event, FORMAT, What};

/// How many events of a file are looked at ahead: they are written by many threads, and so only
/// nearly in order.
const AHEAD: usize = 4_096;

/// Reads one history.
#[derive(Debug)]
pub struct Reader<R> {
    name: String,
    lines: io::Lines<R>,
    line: u64,
    is_opened: bool,
    /// The last event, unless the history was closed by it.
    unclosed: Option<Event>,
    ahead: BinaryHeap<Reverse<Waiting>>,
    is_over: bool,
}

/// Why a history cannot be read.
#[derive(Debug)]
pub struct ReadError {
    /// The name of the history.
    pub name: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: String,
}

#[derive(Debug)]
struct Waiting {
    nth: u64,
    event: Event,
}

/// Writes one event as a line.
///
/// # Errors
/// Those of `to`.
pub fn write(event: &Event, mut to: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut to, event)?;
    to.write_all(b"\n")
}

/// The events of several histories in order of time, up to the first error.
pub fn merge<R: BufRead>(
    mut readers: Vec<Reader<R>>,
) -> impl Iterator<Item = Result<Event, ReadError>> {
    std::iter::from_fn(move || {
        for reader in &mut readers {
            if let Err(error) = reader.fill() {
                readers.clear();
                return Some(Err(error));
            }
        }
        let first = readers.iter_mut().filter(|reader| !reader.ahead.is_empty());
        let first =
            first.min_by_key(|reader| reader.ahead.peek().map(|next| next.0.event.order()))?;
        first.ahead.pop().map(|next| Ok(next.0.event))
    })
}

// === impl Reader ===

impl<R: BufRead> Reader<R> {
    /// Reads `from`, which errors call `name`.
    pub fn new(name: impl Into<String>, from: R) -> Self {
        Self {
            name: name.into(),
            lines: from.lines(),
            line: 0,
            is_opened: false,
            unclosed: None,
            ahead: BinaryHeap::new(),
            is_over: false,
        }
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        while !self.is_over && self.ahead.len() < AHEAD {
            let Some(event) = self.next_line()? else {
                self.is_over = true;
                self.cut();
                break;
            };
            match event.what {
                What::Opened { .. } => self.cut(),
                What::Closed | What::Lost => self.unclosed = None,
                _ => {}
            }
            if !matches!(event.what, What::Closed | What::Lost) {
                self.unclosed = Some(event.clone());
            }
            self.push(event);
        }
        Ok(())
    }

    /// Notes that the writer was killed, unless its last event closed the history.
    fn cut(&mut self) {
        if let Some(last) = self.unclosed.take() {
            let at_ms = last.at_ms;
            self.push(Event { began_ms: at_ms, room: None, what: What::Cut, ..last });
        }
    }

    fn push(&mut self, event: Event) {
        let nth = self.line;
        self.ahead.push(Reverse(Waiting { nth, event }));
    }

    fn next_line(&mut self) -> Result<Option<Event>, ReadError> {
        let Some(text) = self.lines.next() else { return Ok(None) };
        self.line += 1;
        let text = text.map_err(|error| self.error(error))?;
        let event: Event = match serde_json::from_str(&text) {
            Ok(event) => event,
            // Whoever was killed while writing left half a line.
            Err(_) if self.is_opened && self.lines.next().is_none() => return Ok(None),
            Err(error) => return Err(self.error(error)),
        };
        if let What::Opened { format } = event.what {
            if format > FORMAT {
                let why = format!("the format is {format}, this release reads up to {FORMAT}");
                return Err(self.error(why));
            }
            self.is_opened = true;
        }
        if self.is_opened {
            return Ok(Some(event));
        }
        Err(self.error("a history begins with `opened`, which names the format"))
    }

    fn error(&self, why: impl fmt::Display) -> ReadError {
        ReadError { name: self.name.clone(), line: self.line, why: why.to_string() }
    }
}

// === impl ReadError ===

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.name, self.line, self.why)
    }
}

impl std::error::Error for ReadError {}

// === impl Waiting ===

impl Waiting {
    fn key(&self) -> ((u64, bool), u64) {
        (self.event.order(), self.nth)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ms: u64, what: What) -> Event {
        Event { at_ms, began_ms: at_ms, by: "a".into(), room: None, what }
    }

    fn file(events: &[Event]) -> Vec<u8> {
        let mut text = Vec::new();
        for event in events {
            write(event, &mut text).unwrap();
        }
        text
    }

    fn times(files: &[&[u8]]) -> Result<Vec<u64>, ReadError> {
        Ok(events(files)?.into_iter().map(|event| event.at_ms).collect())
    }

    fn events(files: &[&[u8]]) -> Result<Vec<Event>, ReadError> {
        merge(files.iter().map(|file| Reader::new("f", *file)).collect()).collect()
    }

    fn opened(at_ms: u64) -> Event {
        event(at_ms, What::Opened { format: FORMAT })
    }

    fn missing(at_ms: u64) -> Event {
        event(at_ms, What::RoomMissing)
    }

    #[test]
    fn files_are_merged_by_time_and_small_disorder_is_mended() {
        let one = file(&[opened(1), missing(7), missing(5), event(8, What::Closed)]);
        let other = file(&[opened(2), missing(6), event(9, What::Closed)]);
        assert_eq!(times(&[&one, &other]).unwrap(), [1, 2, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn of_one_time_what_is_sent_comes_first() {
        let sent = || event(5, What::Sent(crate::Call::Reset));
        let one = file(&[opened(1), missing(5), event(9, What::Closed)]);
        let other = file(&[opened(1), missing(5), sent(), event(9, What::Closed)]);
        assert_eq!(events(&[&one, &other]).unwrap()[2], sent());
    }

    #[test]
    fn a_history_names_its_format_first() {
        let none = file(&[event(1, What::Closed)]);
        assert!(times(&[&none]).unwrap_err().why.contains("begins with"));
        let newer = file(&[event(1, What::Opened { format: FORMAT + 1 })]);
        assert!(times(&[&newer]).unwrap_err().to_string().contains("f, line 1: the format is"));
    }

    #[test]
    fn half_a_line_at_the_end_is_left_out_and_elsewhere_is_an_error() {
        let mut half = file(&[opened(1)]);
        half.extend(b"{\"at_ms\":5,");
        assert_eq!(times(&[&half]).unwrap(), [1, 1], "it was cut");
        half.extend(b"\n{}\n");
        assert_eq!(times(&[&half]).unwrap_err().line, 2);
    }

    #[test]
    fn whoever_was_killed_did_not_close_its_history() {
        let again = file(&[opened(1), missing(5), opened(9), event(12, What::Closed)]);
        let cut = |events: Vec<Event>| {
            let cut = events.iter().filter(|event| event.what == What::Cut);
            cut.map(|event| event.at_ms).collect::<Vec<_>>()
        };
        assert_eq!(cut(events(&[&again]).unwrap()), [5]);
        let killed = file(&[opened(1), missing(5)]);
        assert_eq!(cut(events(&[&killed]).unwrap()), [5]);
    }
}
