//! Who was told that its place is no more, and whether it was an operator who took it away. While servers are split, a
//! reset on one side is none on the other, where people come and go on until they are whole again; then those of the
//! earlier epoch have come in vain.

use std::{fmt, ops::RangeInclusive};

/// A time, from and until when, unix ms.
pub(crate) type Times = RangeInclusive<u64>;

/// Every loss, and every reset.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    lost: Vec<Lost>,
    /// The room, and when its reset was under way.
    resets: Vec<(usize, Times)>,
}

/// A place that is no more.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(crate) visitor: u64,
    pub(crate) room: usize,
    /// From when it came until it was told.
    pub(crate) waited: Times,
    /// What it was told.
    pub(crate) told: String,
}

// === impl Losses ===

impl Losses {
    /// Somebody has lost its place.
    pub(crate) fn add(&mut self, lost: Lost) {
        self.lost.push(lost);
    }

    /// An operator has reset a room; or those who were apart had, and the others have heard of it by then.
    pub(crate) fn add_reset(&mut self, room: usize, under_way: Times) {
        self.resets.push((room, under_way));
    }

    /// How many lost their places to a reset, and all others. `splits`: from when a replica lagged until the servers were
    /// whole again.
    pub(crate) fn judge(&self, splits: &[Times]) -> (u64, Vec<&Lost>) {
        let resets: Vec<_> = self
            .resets
            .iter()
            .map(|(room, under_way)| (*room, while_it_is_in_doubt(under_way, splits)))
            .collect();
        let is_reset = |lost: &&Lost| {
            resets.iter().any(|(room, times)| *room == lost.room && overlap(times, &lost.waited))
        };
        let (by_resets, others): (Vec<_>, Vec<_>) = self.lost.iter().partition(is_reset);
        (by_resets.len() as u64, others)
    }
}

// === impl Lost ===

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { visitor, room, waited, told } = self;
        write!(f, "visitor {visitor} of room {room}, who waited from {waited:?}: {told}")
    }
}

/// From when until when the room may have been reset, or not.
fn while_it_is_in_doubt(reset: &Times, splits: &[Times]) -> Times {
    let met = splits.iter().filter(|split| overlap(split, reset));
    met.fold(reset.clone(), |times, split| {
        *times.start().min(split.start())..=*times.end().max(split.end())
    })
}

fn overlap(a: &Times, b: &Times) -> bool {
    a.start() <= b.end() && b.start() <= a.end()
}

#[test]
fn a_reset_explains_the_losses_of_those_who_waited_then_and_in_a_split_until_it_is_over() {
    let mut losses = Losses::default();
    losses.add_reset(0, 100..=120);
    for (visitor, room, waited) in [
        (1, 0, 50..=130),
        (2, 0, 110..=111),
        (3, 0, 130..=140),
        (4, 1, 50..=130),
        (5, 0, 201..=300),
    ] {
        losses.add(Lost { visitor, room, waited, told: "404".to_owned() });
    }
    let left = |splits: &[Times]| {
        let (by_resets, others) = losses.judge(splits);
        (by_resets, others.into_iter().map(|lost| lost.visitor).collect::<Vec<_>>())
    };
    assert_eq!(left(&[]), (2, vec![3, 4, 5]));
    assert_eq!(left(&[10..=20, 110..=200]), (3, vec![4, 5]));
}
