//! What visitors and operators saw, written down as it happens.

use std::collections::BTreeMap;

use anyhow::Error;
use vestibule_tests::Reply;

use super::{inside::Inside, losses::Losses};

/// What everyone saw.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// Calls by what came back: `200`, `503`, …, `none`.
    pub(crate) answers: BTreeMap<String, u64>,
    /// What nobody may be answered.
    pub(crate) mistakes: Vec<String>,
    /// Who came.
    pub(crate) came: u64,
    /// Who got in.
    pub(crate) entered: u64,
    /// Who went away before: closed the tab, or gave the place up.
    pub(crate) went: u64,
    /// Who was told that its place is no more, and came again.
    pub(crate) losses: Losses,
    /// Who was inside when.
    pub(crate) inside: Inside,
    /// Numbers by room and by how often it was begun anew, and who holds them.
    numbers: BTreeMap<(usize, u64, u64), u64>,
    /// How often each room was begun anew; odd while that is under way.
    begun_anew: BTreeMap<usize, u64>,
}

// === impl Book ===

impl Book {
    /// An answer, or none.
    pub(crate) fn answered(&mut self, by: &str, what: &str, reply: &Result<Reply, Error>) {
        let code = reply.as_ref().map_or("none".to_owned(), |reply| reply.status.to_string());
        *self.answers.entry(code).or_default() += 1;
        if let Ok(reply) = reply
            && reply.status >= 500
            && reply.status != 503
        {
            self.mistakes.push(format!("{by}: {what}: {} {}", reply.status, reply.text));
        }
    }

    /// The room is about to begin anew, or has.
    pub(crate) fn begins_anew(&mut self, room: usize) {
        *self.begun_anew.entry(room).or_default() += 1;
    }

    /// How often that happened in the room, if not just now.
    pub(crate) fn epoch(&self, room: usize) -> Option<u64> {
        let times = self.begun_anew.get(&room).copied().unwrap_or(0);
        (times % 2 == 0).then_some(times)
    }

    /// A visitor has a number. `epoch`: the room's before it asked; nothing is concluded if it began
    /// anew meanwhile.
    pub(crate) fn holds(&mut self, visitor: u64, room: usize, epoch: Option<u64>, number: u64) {
        let Some(epoch) = epoch.filter(|_| self.epoch(room) == epoch && number > 0) else { return };
        let holder = *self.numbers.entry((room, epoch, number)).or_insert(visitor);
        if holder != visitor {
            let what = format!("visitors {holder} and {visitor} of room {room} both hold {number}");
            self.mistakes.push(what);
        }
    }
}

#[test]
fn a_number_that_two_hold_is_a_mistake_unless_the_room_began_anew() {
    let mut book = Book::default();
    let epoch = book.epoch(0);
    book.holds(1, 0, epoch, 7);
    book.holds(1, 0, epoch, 7);
    book.begins_anew(0);
    book.holds(2, 0, epoch, 7);
    assert_eq!(book.epoch(0), None);
    book.begins_anew(0);
    let epoch = book.epoch(0);
    book.holds(2, 0, epoch, 7);
    assert!(book.mistakes.is_empty(), "{:?}", book.mistakes);
    book.holds(3, 0, epoch, 7);
    assert_eq!(book.mistakes.len(), 1);
}
