//! How far to serve: so that as many people come to the door as there are seats for them, whoever else
//! is in line.
//!
//! Two kinds of visitor stand in a line. Some are *known to be there*, because they check in. Of others
//! nobody knows: clients of the AWS-style API that only look at the public counter, and everyone in a room
//! that was just restored. Each kind has a [`Turnout`]. A tick serves as far as the expected number of
//! those who come meets the need, so people who never come cost no seat, however many they are, and
//! people known to be there are not served in numbers beyond the need. Where nobody at all comes, a [`Search`]
//! goes further than that.
//!
//! Order is not at stake here: whoever comes to the door gets a seat by its position
//! (`scripts/claim.lua`).

use crate::{
    presence::{Presence, WHOLE, first_position},
    ripening::Ripening,
    search::Search,
    turnout::Turnout,
};

/// What a leader has learnt about who comes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Serving {
    /// Those known to be there.
    pub known: Turnout,
    /// The others.
    pub unknown: Turnout,
    known_search: Search,
    unknown_search: Search,
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
    /// When somebody who waits was last heard, ms.
    pub heard_at_ms: u64,
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
    /// Whether nobody else is left to come.
    pub are_all: bool,
}

// === impl Serving ===

impl Serving {
    /// Takes in who has come by `now_ms`. Gives how many of those known to be there had the time to.
    pub fn observe(&mut self, came: Came, now_ms: u64) -> f64 {
        let mut exposed = self.known.observe(came.known, now_ms);
        self.unknown.observe(came.unknown, now_ms);
        if came.are_all {
            exposed += self.known.end();
            self.unknown.end();
        }
        if came.known > 0.0 {
            self.known_search = Search::default();
        }
        if came.unknown > 0.0 {
            self.unknown_search = Search::default();
        }
        exposed
    }

    /// Forgets who was served and is still to come, but not what was learnt of who comes.
    pub fn forget_who_is_to_come(&mut self) {
        self.known.forget_who_is_to_come();
        self.unknown.forget_who_is_to_come();
    }

    /// How many people that were served are still expected at the door.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.known_search.believed(self.known.expected())
            + self.unknown_search.believed(self.unknown.expected())
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
        let expected = self.expected();
        let (known, unknown) = self.search(line, need, now_ms);
        let need = need + expected - self.expected();
        if need < 1.0 - WHOLE {
            return line.from;
        }
        let enough = |upto| self.yields(line, line.from, upto) >= need - WHOLE;
        let by_turnout = first_position(line.from, line.end, enough);
        // A search goes past no more people of the other kind than are needed.
        let known = known.map(|step| past(line, step, need / self.unknown.share()));
        let unknown = unknown.map(|step| past(line, need / self.known.share(), step));
        let target = by_turnout.max(known.unwrap_or(0)).max(unknown.unwrap_or(0));
        self.expose(line, line.from, target, now_ms, periods);
        target
    }

    /// The steps that are due, if there is need when fewer are expected: of those known to be there, and of the
    /// others.
    ///
    /// A whole line may be out of reach for a moment. So those known to be there are searched only while
    /// somebody is heard who waits.
    fn search(&mut self, line: &Line<'_>, need: f64, now_ms: u64) -> (Option<f64>, Option<f64>) {
        let step = |turnout: &Turnout, search: &mut Search| {
            let unexpected = search.believed(turnout.expected()) / 2.0;
            let is_needed = need + unexpected >= 1.0 - WHOLE;
            (is_needed && search.is_due(now_ms)).then(|| search.step(now_ms))
        };
        let is_heard = line.heard_at_ms > self.known_search.stepped_ms();
        let known = if is_heard { step(&self.known, &mut self.known_search) } else { None };
        (known, step(&self.unknown, &mut self.unknown_search))
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
        self.known_search.served(known, now_ms, periods.known.last_ms());
        self.unknown_search.served(unknown, now_ms, periods.unknown_ms);
    }
}

/// The first position by which the line has passed so many people known to be there, or so many others.
fn past(line: &Line<'_>, known: f64, unknown: f64) -> u64 {
    first_position(line.from, line.end, |upto| {
        line.there.between(line.from, upto) >= known - WHOLE
            || line.unknown.between(line.from, upto) >= unknown - WHOLE
    })
}
