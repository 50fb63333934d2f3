//! Who is apart, and what is known on either side.
//!
//! While two servers take writes, each of them keeps its promises to those who talk to it, and neither can know what
//! the other one does. So those apart are judged by all that was known before and by what they learn since; and the
//! others by what was known before the replica lagged and by what *they* have learnt since: what only those apart
//! knew, the promoted server cannot know.

use std::sync::Arc;

use super::side::Side;
use crate::{
    Bounds, Event, ServersAre, Spans, Violation, What,
    check::{Seen, Turn},
};

/// All splits of a history.
#[derive(Debug, Default)]
pub(super) struct Splits {
    lagging: Vec<Lagging>,
    spans: Spans,
    /// What those apart know, while they are.
    apart: Option<Side>,
}

/// What was known when a replica began to lag, and all that was learnt since.
#[derive(Debug)]
struct Lagging {
    since_ms: u64,
    before: Side,
    since: Vec<Event>,
}

// === impl Splits ===

impl Splits {
    /// Takes in `event`: `main` is what those know who are not apart.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        main: &mut Side,
        violations: &mut Vec<Violation>,
    ) {
        if let What::Servers(are) = &event.what {
            self.become_of(are, event.at_ms, main);
        } else {
            let now = Seen::at(self.server(event), event);
            if now.server > 0 {
                if let Some(apart) = &mut self.apart {
                    apart.observe(&now, violations);
                }
                main.hear_apart(&now, violations);
            } else {
                main.observe(&now, violations);
            }
        }
        for lagging in &mut self.lagging {
            lagging.since.push(event.clone());
        }
    }

    /// From now on within these bounds.
    pub(super) fn bind(&mut self, bounds: &Arc<Bounds>) {
        let before = self.lagging.iter_mut().map(|lagging| &mut lagging.before);
        before.for_each(|side| side.bind(bounds));
        self.apart.iter_mut().for_each(|side| side.bind(bounds));
    }

    fn become_of(&mut self, are: &ServersAre, at_ms: u64, main: &mut Side) {
        match are {
            ServersAre::Lagging => {
                let (before, since) = (main.clone(), Vec::new());
                self.lagging.push(Lagging { since_ms: at_ms, before, since });
            }
            ServersAre::Split { since_ms, .. } => {
                self.spans.observe(are, at_ms);
                let of_those_apart = self.apart.insert(main.clone());
                of_those_apart.turn(&turn(are, at_ms));
                self.unlearn(*since_ms, main);
                main.turn(&turn(are, at_ms));
            }
            ServersAre::Healed => {
                self.spans.observe(are, at_ms);
                self.apart = None;
                main.turn(&turn(are, at_ms));
            }
        }
    }

    /// Leaves of what is known on the main side what was known at `since_ms` and what those have learnt since who are
    /// not apart. It was judged when it was learnt.
    fn unlearn(&mut self, since_ms: u64, main: &mut Side) {
        let Some(place) = self.lagging.iter().rposition(|one| one.since_ms <= since_ms) else {
            return;
        };
        let Lagging { before, since, .. } = self.lagging.remove(place);
        *main = before;
        let judged = &mut Vec::new();
        for event in &since {
            let now = Seen::at(self.server(event), event);
            match &event.what {
                // A replica that lags ends no split.
                What::Servers(ServersAre::Lagging) => {}
                What::Servers(are) => main.turn(&turn(are, event.at_ms)),
                _ if now.server > 0 => main.hear_apart(&now, judged),
                _ => main.observe(&now, judged),
            }
        }
    }

    /// See [`Seen::server`]. Whoever was apart before a further split has nothing to do with that one's old server.
    fn server(&self, event: &Event) -> usize {
        self.spans.place(event).map_or(0, |place| place + 1)
    }
}

/// The beginning of a split, or its end.
fn turn(are: &ServersAre, at_ms: u64) -> Turn {
    let apart = match are {
        ServersAre::Split { apart, .. } => apart.clone(),
        ServersAre::Lagging | ServersAre::Healed => Vec::new(),
    };
    Turn { at_ms, is_over: apart.is_empty(), apart }
}
