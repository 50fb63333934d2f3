//! A small crowd over HTTP, drawn under the seed: most wait politely, some close the tab, some give their
//! place up, some leave without a word.

mod book;
mod inside;
mod losses;
mod visitor;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{task::JoinSet, time::Instant};
use vestibule_tests::Fleet;

use self::visitor::Walk;
pub(crate) use self::{book::Book, losses::Times};
use crate::chance::Seed;

/// A visitor's plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Person {
    number: u64,
    /// By its place in the run.
    room: usize,
    /// After the beginning.
    arrives: Duration,
    /// How long it waits before it goes away; `None`: as long as it takes.
    patience: Option<Duration>,
    stays: Duration,
    /// Whether it says that it leaves, or gives its place up.
    says_goodbye: bool,
}

// === impl Person ===

impl Person {
    /// So many visitors of so many rooms, who come within this time.
    pub(crate) fn draw(seed: Seed, count: u64, rooms: usize, within: Duration) -> Vec<Self> {
        let ms = Duration::from_millis;
        let draw = |number| {
            let mut chance = seed.chance("visitor", number);
            Self {
                number,
                room: usize::try_from(chance.within(0..rooms as u64)).unwrap_or(0),
                arrives: ms(chance.within(0..u64::try_from(within.as_millis()).unwrap_or(1))),
                patience: chance.happens(0.1).then(|| ms(chance.within(500..8_000))),
                stays: ms(chance.within(200..4_000)),
                says_goodbye: chance.happens(0.8),
            }
        };
        (0..count).map(draw).collect()
    }
}

/// Sends them all. Those still on their way are what remains of the set.
pub(crate) fn send(
    people: Vec<Person>,
    rooms: &[String],
    admissions: &Fleet,
    book: &Arc<Mutex<Book>>,
) -> JoinSet<()> {
    let beginning = Instant::now();
    let mut walks = JoinSet::new();
    for person in people {
        let room = rooms[person.room].clone();
        let walk = Walk { person, room, admissions: admissions.clone(), book: Arc::clone(book) };
        walks.spawn(walk.go(beginning));
    }
    walks
}
