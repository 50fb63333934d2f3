//! A bound session is nobody else's.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Act, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// Whoever passes with a ticket whose session is bound is the client that it is bound to.
///
/// A violation: two clients, who differ in what sessions are bound by, pass with tickets that are bound to the same; or
/// with tickets of one number, of which one generation has given both a seat. Why: who shares a ticket brings in more
/// people than were let in.
///
/// Not a violation: while the room may be suspended, where anybody passes; a ticket that is bound to nothing; a number
/// that a later generation has bound to another, since a record that was lost is bound to whoever comes first; after a
/// split, seats that either side may have given.
#[derive(Debug, Clone, Default)]
pub(super) struct BoundSessions {
    /// Reset epoch, number, and either of these → who passed first.
    holders: FxHashMap<(u64, u64, By), (u64, Arc<Event>)>,
    /// Two servers may have given seats in one generation.
    was_split: bool,
}

/// By what the tickets of a number belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum By {
    Binding(u64),
    Generation(u32),
}

// === impl BoundSessions ===

impl Check for BoundSessions {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Visitor(Act::Inside { number, reset_epoch, generation, bound_to, client }) =
            now.what
        else {
            return;
        };
        if facts.rules(now.began_ms, now.at_ms).any(|rules| rules.suspended) {
            return;
        }
        let by_generation = (!self.was_split).then_some(By::Generation(generation));
        for by in [By::Binding(bound_to)].into_iter().chain(by_generation) {
            let first = self.holders.entry((reset_epoch, number, by));
            let (holder, first) = first.or_insert_with(|| (client, now.keep()));
            if *holder != client {
                let what =
                    format!("the session of number {number} is {holder}'s, and {client} passes");
                found.add(Invariant::BoundSessions, what, &[first, now]);
                return;
            }
        }
    }

    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {
        self.was_split = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{EPOCH, History};

    fn inside(generation: u32, bound_to: u64, client: u64) -> What {
        let (number, reset_epoch) = (5, EPOCH);
        What::Visitor(Act::Inside { number, reset_epoch, generation, bound_to, client })
    }

    #[test]
    fn a_stranger_inside_is_found() {
        let history = || History::new().does(1_000, inside(1, 77, 1)).does(2_000, inside(1, 77, 1));
        history().does(3_000, inside(2, 77, 2)).breaks(Invariant::BoundSessions);
        history().does(3_000, inside(1, 78, 2)).breaks(Invariant::BoundSessions);
        history().does(3_000, inside(2, 78, 2)).holds();
    }
}
