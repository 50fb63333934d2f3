//! What contradicts a history unless a call explains it that is under way and not known yet: findings that wait until no
//! such call can turn up. Knows no promise.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    Event, Invariant,
    check::{Facts, Findings, Seen},
};

/// Findings that may still be explained, of things by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Suspects(VecDeque<Suspect>);

#[derive(Debug, Clone)]
struct Suspect {
    /// What it is about.
    of: u64,
    /// How many calls explain it.
    lacks: u64,
    /// What is wrong.
    what: String,
    event: Arc<Event>,
}

// === impl Suspects ===

impl Suspects {
    /// Something is wrong with `of`, unless so many calls explain it that began before `now` was known.
    pub(super) fn add(&mut self, of: u64, lacks: u64, what: String, now: &Seen<'_>) {
        self.0.push_back(Suspect { of, lacks, what, event: now.keep() });
    }

    /// So many calls that began at `began_ms` may explain what is about `of`.
    pub(super) fn explain(&mut self, of: u64, began_ms: u64, calls: u64) {
        for suspect in &mut self.0 {
            if suspect.of == of && began_ms <= suspect.event.at_ms {
                suspect.lacks = suspect.lacks.saturating_sub(calls);
            }
        }
        self.0.retain(|suspect| suspect.lacks > 0);
    }

    /// Nothing of what was before tells anything.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Tells those that nothing can explain any more: all calls that were under way then are known by now.
    pub(super) fn settle(
        &mut self,
        invariant: Invariant,
        now_ms: u64,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        while let Some(first) = self.0.front()
            && first.event.at_ms + facts.bounds.settles_ms < now_ms
        {
            tell(invariant, self.0.pop_front().as_ref(), facts, found);
        }
    }

    /// Tells all that are left: the history is over.
    pub(super) fn finish(&mut self, invariant: Invariant, facts: &Facts, found: &mut Findings<'_>) {
        while let Some(first) = self.0.pop_front() {
            tell(invariant, Some(&first), facts, found);
        }
    }
}

/// Of a history that is not complete, nothing is concluded from what is absent.
fn tell(invariant: Invariant, suspect: Option<&Suspect>, facts: &Facts, found: &mut Findings<'_>) {
    if let Some(suspect) = suspect.filter(|_| facts.bounds.is_complete) {
        found.add(invariant, suspect.what.clone(), &[&suspect.event]);
    }
}
