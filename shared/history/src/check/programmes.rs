//! Which configs of a room may be in force.
//!
//! A config may be in force from when its change was sent. It ceases to be when the change to another
//! one, sent after this one was settled, is acknowledged. So while a change is under way, both may be. One that was
//! put by somebody who is apart may be in force once the split is over.

use std::sync::Arc;

use super::Turn;
use crate::{Call, Event, Programme, Put, PutAs, Rules, What};

/// How long a config that is not in force any more is remembered: longer than the window of the
/// rate and the longest call.
const KEPT_MS: u64 = 180_000;

/// The configs that may be, or lately were, in force.
#[derive(Debug, Clone, Default)]
pub(super) struct Programmes {
    candidates: Vec<Candidate>,
    /// Those of the other side of a split, and of those who will be there, since its replica lagged.
    apart: Vec<Candidate>,
}

#[derive(Debug, Clone)]
struct Candidate {
    programme: Programme,
    by: Arc<str>,
    from_ms: u64,
    /// Since when it is certain that it was written, or never will be; `None`: not yet.
    settled_ms: Option<u64>,
    /// Since when it is certain that another one is in force.
    until_ms: Option<u64>,
    /// It was taken from snapshots, because no config is known.
    is_guess: bool,
}

// === impl Programmes ===

impl Programmes {
    pub(super) fn during(&self, from_ms: u64, to_ms: u64) -> impl Iterator<Item = &Rules> {
        let overlaps = move |candidate: &&Candidate| {
            candidate.from_ms <= to_ms && candidate.until_ms.is_none_or(|until| until >= from_ms)
        };
        self.candidates
            .iter()
            .filter(overlaps)
            .flat_map(move |candidate| candidate.programme.during(from_ms, to_ms))
    }

    pub(super) fn observe(&mut self, event: &Event, settles_ms: u64) {
        match &event.what {
            What::Sent(Call::Put { programme, .. }) => self.begin(event, programme),
            What::Put(put) => self.answered(event, put, settles_ms),
            What::ConfigRead(read) => self.read(event, &read.programme),
            What::Snapshot(seen) => self.guess(event, &seen.rules),
            What::Deleted { .. } => self.supersede(event, settles_ms),
            _ => {}
        }
    }

    /// See [`super::Check::hear_apart`].
    pub(super) fn hear_apart(&mut self, event: &Event) {
        if let What::Sent(Call::Put { programme, .. }) = &event.what {
            self.apart.push(Candidate::new(event, programme));
        }
    }

    pub(super) fn turn(&mut self, turn: &Turn) {
        if turn.is_over {
            let apart = std::mem::take(&mut self.apart).into_iter();
            self.candidates.extend(apart.map(|own| Candidate { from_ms: turn.at_ms, ..own }));
        }
    }

    fn begin(&mut self, event: &Event, programme: &Programme) {
        self.candidates.push(Candidate::new(event, programme));
    }

    /// A config that nobody is known to have put has been in force for an unknown time.
    fn read(&mut self, event: &Event, programme: &Programme) {
        self.candidates.retain(|candidate| !candidate.is_guess);
        if self
            .candidates
            .iter()
            .all(|candidate| !candidate.programme.agrees(programme, event.at_ms))
        {
            self.begin(event, programme);
            if let Some(own) = self.candidates.last_mut() {
                (own.from_ms, own.settled_ms) = (0, Some(event.at_ms));
            }
        }
    }

    fn answered(&mut self, event: &Event, put: &Put, settles_ms: u64) {
        let is_own = |candidate: &Candidate| {
            candidate.settled_ms.is_none()
                && candidate.by == event.by
                && candidate.programme == put.programme
        };
        if put.outcome == PutAs::Conflict {
            self.candidates.retain(|candidate| !is_own(candidate));
            return;
        }
        if !self.candidates.iter().any(is_own) {
            self.begin(event, &put.programme);
        }
        self.supersede(event, settles_ms);
        if let Some(own) = self.candidates.iter_mut().find(|candidate| is_own(candidate)) {
            (own.settled_ms, own.until_ms) = (Some(event.at_ms), None);
        }
    }

    /// Ends those that were settled before the call of `event` began.
    fn supersede(&mut self, event: &Event, settles_ms: u64) {
        for candidate in &mut self.candidates {
            let settled = candidate.settled_ms.unwrap_or(candidate.from_ms + settles_ms);
            if settled < event.began_ms && candidate.until_ms.is_none() {
                candidate.until_ms = Some(event.at_ms);
            }
        }
        let oldest = event.at_ms.saturating_sub(KEPT_MS);
        self.candidates.retain(|candidate| candidate.until_ms.is_none_or(|until| until >= oldest));
    }

    /// While no config is known, the rules of the snapshots are all that is.
    fn guess(&mut self, event: &Event, rules: &Rules) {
        if self.candidates.iter().any(|candidate| !candidate.is_guess) {
            return;
        }
        let is_same = |candidate: &Candidate| {
            candidate.until_ms.is_none() && candidate.programme.during(0, 0).any(|own| own == rules)
        };
        if self.candidates.last().is_some_and(is_same) {
            return;
        }
        self.supersede(event, 0);
        self.begin(event, &Programme::always(rules.clone()));
        if let Some(own) = self.candidates.last_mut() {
            own.is_guess = true;
            own.settled_ms = Some(event.at_ms);
            own.from_ms = 0;
        }
    }
}

// === impl Candidate ===

impl Candidate {
    fn new(event: &Event, programme: &Programme) -> Self {
        Self {
            programme: programme.clone(),
            by: Arc::clone(&event.by),
            from_ms: event.began_ms,
            settled_ms: None,
            until_ms: None,
            is_guess: false,
        }
    }
}
