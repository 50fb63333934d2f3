//! Whoever comes in time for a seat that was held for it gets it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Claimed, ClaimedAs, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
};

/// A held seat is its visitor's until the time that was told.
///
/// A violation: a claim that began after the hold was told, and was answered before it was over, found no seat.
/// Why: the page counts the time down, and people rely on it.
///
/// Not a violation: after a restoration, which forgets holds; while nobody may enter, by a rate of 0, too, or anybody. A
/// hold binds only the side of a split on which it was told.
#[derive(Debug, Clone, Default)]
pub(super) struct HoldsKept(FxHashMap<(u64, u64), Hold>);

#[derive(Debug, Clone)]
struct Hold {
    until_ms: u64,
    generation: u32,
    told: Arc<Event>,
}

// === impl HoldsKept ===

impl Check for HoldsKept {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Claimed(claimed) = &now.what else { return };
        let holder = (claimed.id_epoch, claimed.number);
        match claimed.outcome {
            ClaimedAs::Held { until_ms } => {
                let hold = Hold { until_ms, generation: claimed.generation, told: now.keep() };
                self.0.insert(holder, hold);
            }
            ClaimedAs::NoSeat => {
                if let Some(hold) = self.0.get(&holder).filter(|hold| hold.binds(claimed, now))
                    && is_usual(facts, hold, now)
                {
                    let what = format!("{} found no seat, and one is held for it", claimed.number);
                    found.add(Invariant::HoldsKept, what, &[&hold.told, now]);
                }
            }
            _ => drop(self.0.remove(&holder)),
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        if let What::Claimed(claimed) = &now.what {
            self.0.remove(&(claimed.id_epoch, claimed.number));
        }
    }
}

impl Hold {
    fn binds(&self, claimed: &Claimed, now: &Seen<'_>) -> bool {
        now.follows(&self.told)
            && now.at_ms <= self.until_ms
            && claimed.generation == self.generation
    }
}

/// Whether seats were given as usual since the hold was told.
fn is_usual(facts: &Facts, hold: &Hold, now: &Seen<'_>) -> bool {
    let mut rules = facts.rules(hold.told.began_ms, now.at_ms);
    rules.all(|rules| {
        let may_enter = !rules.held && !rules.rejects && rules.per_minute != Some(0);
        may_enter && !rules.open && !rules.suspended
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        PutAs, Rules,
        checks::testing::{History, claimed, put, rules, token},
    };

    fn held(rules: Rules) -> History {
        let history = History::new().does(0, put(Some(1), rules, PutAs::Created));
        history.does(1_000, claimed(5, ClaimedAs::Held { until_ms: 31_000 }))
    }

    #[test]
    fn a_seat_that_is_held_and_not_given_is_found() {
        held(rules()).does(31_000, claimed(5, ClaimedAs::NoSeat)).breaks(Invariant::HoldsKept);
    }

    #[test]
    fn other_visitors_later_claims_and_held_rooms_pass() {
        held(rules()).does(2_000, claimed(6, ClaimedAs::NoSeat)).holds();
        held(rules()).does(31_001, claimed(5, ClaimedAs::NoSeat)).holds();
        held(rules()).does(2_000, claimed(5, ClaimedAs::Seated(token(2, 302)))).holds();
        let (all, none) = (rules(), Some(0));
        for all in [Rules { held: true, ..all.clone() }, Rules { per_minute: none, ..all }] {
            held(all).does(2_000, claimed(5, ClaimedAs::NoSeat)).holds();
        }
    }
}
