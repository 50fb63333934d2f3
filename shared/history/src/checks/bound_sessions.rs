//! A bound session is nobody else's.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Act, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
};

/// Whoever passes with a ticket whose session is bound is the client that it is bound to.
///
/// A violation: two clients, who differ in what the session is bound by, pass with tickets that are bound to the same.
/// Why: who shares a ticket brings in more people than were let in.
///
/// Not a violation: while the room may be suspended, where anybody passes; a ticket that is bound to nothing. That two
/// clients have a session each of one number, bound to each of them, is what the seats and entries of a number are
/// about, and not this.
#[derive(Debug, Clone, Default)]
pub(super) struct BoundSessions(FxHashMap<(u64, u64, u64), (u64, Arc<Event>)>);

// === impl BoundSessions ===

impl Check for BoundSessions {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Visitor(Act::Inside { number, reset_epoch, bound_to, client }) = now.what else {
            return;
        };
        if facts.rules(now.began_ms, now.at_ms).any(|rules| rules.suspended) {
            return;
        }
        let first = self.0.entry((reset_epoch, number, bound_to));
        let (holder, first) = first.or_insert_with(|| (client, now.keep()));
        if *holder != client {
            let what = format!("the session of number {number} is {holder}'s, and {client} passes");
            found.add(Invariant::BoundSessions, what, &[first, now]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{EPOCH, History};

    fn inside(number: u64, bound_to: u64, client: u64) -> What {
        What::Visitor(Act::Inside { number, reset_epoch: EPOCH, bound_to, client })
    }

    #[test]
    fn a_stranger_inside_is_found() {
        let history = || History::new().does(1_000, inside(5, 77, 1)).does(2_000, inside(5, 77, 1));
        history().does(3_000, inside(5, 77, 2)).breaks(Invariant::BoundSessions);
        history().does(3_000, inside(6, 78, 2)).holds();
    }
}
