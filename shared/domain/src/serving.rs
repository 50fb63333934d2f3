//! How far to serve: so that as many people come to the door as there are seats for them, whoever else
//! is in line.
//!
//! Two kinds of visitor stand in a line. Some are *known to be there*, because they check in. Of others
//! nobody knows: clients of the AWS-style API that only look at the public counter, and everyone in a room
//! that was just restored. Each kind has a [`Turnout`]. A tick serves as far as the expected number of
//! those who come meets the need, so people who never come cost no seat, however many they are, and
//! people known to be there are not served in numbers beyond the need.
//!
//! Order is not at stake here: whoever comes to the door gets a seat by its position
//! (`scripts/claim.lua`).

use crate::{
    presence::{Presence, WHOLE, first_position},
    ripening::Ripening,
    turnout::Turnout,
};

/// Once those who are served had the time to come and nobody did, the step doubles each time so long has
/// passed, ms.
pub const DOUBLES_EVERY_MS: u64 = 1_000;
/// A search is over once nobody unknown was served for so long, ms.
pub const SEARCH_ENDS_MS: u64 = 30_000;

/// What a leader has learnt about who comes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Serving {
    /// Those known to be there.
    pub known: Turnout,
    /// The others.
    pub unknown: Turnout,
    search: Search,
}

/// A run of steps into people of whom none comes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Search {
    /// How many unknown people a step serves at least,
    step: f64,
    /// and since when it is so many, ms; 0: nothing was served since somebody came.
    since_ms: u64,
    /// When unknown people were last served, ms.
    last_ms: u64,
}

/// A line beyond its serving counter.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The serving counter.
    pub from: u64,
    /// The last position of the line.
    pub end: u64,
    /// Visitors known to be there.
    pub there: &'a Presence,
    /// Visitors of whom nobody knows.
    pub unknown: &'a Presence,
}

/// When those who are served ask, if they are there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Periods {
    /// Those known to be there.
    pub known: Ripening,
    /// Within what time the others do, ms.
    pub unknown_ms: u64,
}

/// Who came to the door for the first time since the last tick.
#[derive(Debug, Clone, Copy, Default)]
pub struct Came {
    /// Of those known to be there.
    pub known: f64,
    /// Of the others.
    pub unknown: f64,
}

// === impl Serving ===

impl Serving {
    /// Takes in who has come by `now_ms`. Gives how many of those known to be there had the time to.
    pub fn observe(&mut self, came: Came, now_ms: u64) -> f64 {
        let exposed = self.known.observe(came.known, now_ms);
        self.unknown.observe(came.unknown, now_ms);
        if came.unknown > 0.0 {
            self.search = Search::default();
        }
        exposed
    }

    /// How many people that were served are still expected at the door.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.known.expected() + self.unknown.expected()
    }

    /// How many people between these positions are ahead of those behind: who is known to be there, by what
    /// was learnt in minutes, so that waits told do not jump; and of the others as many as are now expected.
    #[must_use]
    pub fn ahead(&self, line: &Line<'_>, after: u64, upto: u64) -> f64 {
        self.people(line, (after, upto), self.known.lasting_share())
    }

    /// How many people come, if everyone between these positions is served.
    #[must_use]
    pub fn yields(&self, line: &Line<'_>, after: u64, upto: u64) -> f64 {
        self.people(line, (after, upto), self.known.share())
    }

    /// How many people stand between these positions, of whom this share of those known to be there counts.
    fn people(&self, line: &Line<'_>, (after, upto): (u64, u64), known_share: f64) -> f64 {
        line.there.between(after, upto) * known_share
            + line.unknown.between(after, upto) * self.unknown.share()
    }

    /// Serves as far as `need` more people may come, and returns the new serving counter.
    pub fn serve(&mut self, line: &Line<'_>, need: f64, now_ms: u64, periods: Periods) -> u64 {
        if need < 1.0 - WHOLE {
            return line.from;
        }
        let enough = |upto| self.yields(line, line.from, upto) >= need - WHOLE;
        let by_turnout = first_position(line.from, line.end, enough);
        let target = by_turnout.max(self.further(line, need, now_ms, periods));
        self.expose(line, line.from, target, now_ms, periods);
        target
    }

    /// The people between these positions were served, by whomever.
    pub fn expose(
        &mut self,
        line: &Line<'_>,
        after: u64,
        upto: u64,
        now_ms: u64,
        periods: Periods,
    ) {
        let unknown = line.unknown.between(after, upto);
        let known = line.there.between(after, upto);
        self.known.expose(known, now_ms, periods.known);
        self.unknown.expose(unknown, now_ms, Ripening::evenly(0..periods.unknown_ms));
        if unknown < 1.0 {
            return;
        }
        // What was served long ago says nothing about who is served now.
        let is_new = self.search.since_ms == 0 || now_ms > self.search.last_ms + SEARCH_ENDS_MS;
        if is_new {
            self.search = Search { step: unknown, since_ms: now_ms, last_ms: now_ms };
        }
        self.search.last_ms = now_ms;
    }

    /// How far a search goes: past twice as many unknown people for each second in which nobody came; but
    /// past no more people known to be there than are needed.
    fn further(&mut self, line: &Line<'_>, need: f64, now_ms: u64, periods: Periods) -> u64 {
        let quiet_ms = now_ms.saturating_sub(self.search.since_ms);
        let is_over = now_ms > self.search.last_ms + SEARCH_ENDS_MS;
        if is_over
            || self.search.since_ms == 0
            || quiet_ms < periods.unknown_ms.max(DOUBLES_EVERY_MS)
        {
            return line.from;
        }
        let step = self.search.step * 2.0;
        // From now on it doubles every second.
        self.search.step = step;
        self.search.since_ms = now_ms + DOUBLES_EVERY_MS - periods.unknown_ms.max(DOUBLES_EVERY_MS);
        let known = need / self.known.share();
        let enough = |upto| {
            line.unknown.between(line.from, upto) >= step - WHOLE
                || line.there.between(line.from, upto) >= known - WHOLE
        };
        first_position(line.from, line.end, enough)
    }
}
