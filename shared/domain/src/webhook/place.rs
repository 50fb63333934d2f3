//! Places in the stream of events. They are counted, so that it is known whether anything between two of them is missing,
//! whatever the clock did.

use serde::{Deserialize, Serialize};

/// A place in the stream: an event's, or that before the first one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its id, as Redis has it: `ms-nth`.
    pub id: String,
    /// The how manieth event of the stream is there; 0: none.
    pub nth: u64,
}

/// How what was read follows what was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// Without a gap.
    Directly,
    /// Something between was forgotten.
    WithGap,
    /// The stream ends before, or begins anew: Redis has lost something.
    Not,
}

// === impl Place ===

impl Place {
    /// Before the first event.
    #[must_use]
    pub fn start() -> Self {
        Self { id: "0-0".to_owned(), nth: 0 }
    }

    /// How what is in the stream follows this place. `first`: the first that was found after it; `last`: the stream's
    /// last one, looked at where nothing was found after it.
    #[must_use]
    pub fn followed_by(&self, first: Option<&Self>, last: Option<&Self>) -> Follows {
        match (first, last) {
            (Some(first), _) if first.nth == self.nth + 1 => Follows::Directly,
            (Some(first), _) if first.nth > self.nth => Follows::WithGap,
            (None, Some(last)) if last.nth == self.nth => Follows::Directly,
            (None, None) if self.nth == 0 => Follows::Directly,
            _ => Follows::Not,
        }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(ms: u64, nth: u64) -> Place {
        Place { id: format!("{ms}-0"), nth }
    }

    #[test]
    fn it_is_known_whether_something_is_missing() {
        let here = place(500, 7);
        let with = |first: Option<Place>, last: Option<Place>| {
            here.followed_by(first.as_ref(), last.as_ref())
        };
        assert_eq!(with(Some(place(900, 8)), None), Follows::Directly);
        assert_eq!(with(Some(place(900, 10)), None), Follows::WithGap);
        assert_eq!(with(None, Some(place(500, 7))), Follows::Directly);
        for (first, last) in
            [(Some(place(900, 1)), None), (None, Some(place(400, 5))), (None, None)]
        {
            assert_eq!(with(first, last), Follows::Not, "redis has lost something");
        }
        assert_eq!(with(None, Some(place(400, 9))), Follows::Not, "the clock was set back");
    }

    #[test]
    fn nothing_is_missing_before_the_first() {
        assert_eq!(Place::start().followed_by(None, None), Follows::Directly);
        assert_eq!(Place::start().followed_by(Some(&place(1, 1)), None), Follows::Directly);
        assert_eq!(Place::start().followed_by(Some(&place(1, 2)), None), Follows::WithGap);
    }
}
