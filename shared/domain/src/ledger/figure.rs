//! The figures, and how each is written: a letter, and a letter or digit that says which of its kind.

use super::waits::BUCKETS;

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// People waiting who are still there, at most.
    Waiting,
    /// Seats taken, at most.
    Inside,
    /// Newcomers.
    Arrived,
    /// Sessions that began.
    Admitted,
    /// People who left.
    Left(LeftAs),
    /// People who were turned away.
    Refused(RefusedFor),
    /// People who were told a wait of this bucket when they came.
    Told(u8),
    /// People who entered after a wait of this bucket.
    Waited(u8),
}

macro_rules! reasons {
    ($(#[$doc:meta])+ $name:ident { $($(#[$reason_doc:meta])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$reason_doc])+ $variant,)+
        }

        impl $name {
            /// All of them; the place in this list is what is written.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name in answers.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

reasons! {
    /// Why somebody left. Scripts write these by their place in the list: see `scripts/lib/counts.lua` of the store.
    LeftAs {
        /// Its session was completed.
        Completed = "completed",
        /// Its session was given up, by the site.
        Abandoned = "abandoned",
        /// Its session was revoked.
        Revoked = "revoked",
        /// Its session ran out.
        SessionExpired = "session_expired",
        /// It gave its place in line back.
        PlaceGivenUp = "place_given_up",
        /// Its place in line was revoked.
        PlaceRevoked = "place_revoked",
        /// Its turn came, and it did not.
        TurnMissed = "turn_missed",
        /// The room was reset.
        Reset = "reset",
    }
}

reasons! {
    /// Why somebody was turned away.
    RefusedFor {
        /// Its network has had as many newcomers within a minute as it may.
        NetworkJoins = "network_joins",
        /// Its network has as many places in line as it may.
        NetworkPlaces = "network_places",
        /// Its network has as many seats as it may.
        NetworkSeats = "network_seats",
        /// It has not solved the challenge.
        Challenge = "challenge",
        /// It was put into the endless line.
        EndlessLine = "endless_line",
        /// The provider of the challenge could not be asked.
        ChallengeUnavailable = "challenge_unavailable",
        /// The room lets nobody in.
        Closed = "closed",
        /// Too much was going on.
        Overloaded = "overloaded",
        /// The shared state could not be reached, or was being restored.
        Unavailable = "unavailable",
    }
}

const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

// === impl Figure ===

impl Figure {
    /// Whether it is how many there were at a time, of which the highest counts.
    #[must_use]
    pub fn is_level(self) -> bool {
        matches!(self, Self::Waiting | Self::Inside)
    }

    /// As it is written: two letters or digits.
    #[must_use]
    pub fn code(self) -> String {
        let (letter, which) = match self {
            Self::Waiting => ('q', 0),
            Self::Inside => ('i', 0),
            Self::Arrived => ('r', 0),
            Self::Admitted => ('a', 0),
            Self::Left(reason) => ('l', reason as usize),
            Self::Refused(reason) => ('x', reason as usize),
            Self::Told(bucket) => ('t', usize::from(bucket)),
            Self::Waited(bucket) => ('w', usize::from(bucket)),
        };
        format!("{letter}{}", DIGITS.get(which).map_or('z', |digit| char::from(*digit)))
    }

    /// What is written so; `None`: a figure of a newer release.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        let &[letter, digit] = code.as_bytes() else { return None };
        let which = DIGITS.iter().position(|other| *other == digit)?;
        let bucket = || u8::try_from(which).ok().filter(|bucket| *bucket < BUCKETS);
        Some(match (letter, which) {
            (b'q', 0) => Self::Waiting,
            (b'i', 0) => Self::Inside,
            (b'r', 0) => Self::Arrived,
            (b'a', 0) => Self::Admitted,
            (b'l', _) => Self::Left(*LeftAs::ALL.get(which)?),
            (b'x', _) => Self::Refused(*RefusedFor::ALL.get(which)?),
            (b't', _) => Self::Told(bucket()?),
            (b'w', _) => Self::Waited(bucket()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_read_as_it_is_written() {
        let left = LeftAs::ALL.iter().map(|reason| Figure::Left(*reason));
        let refused = RefusedFor::ALL.iter().map(|reason| Figure::Refused(*reason));
        let waits = (0..BUCKETS).flat_map(|bucket| [Figure::Told(bucket), Figure::Waited(bucket)]);
        let others = [Figure::Waiting, Figure::Inside, Figure::Arrived, Figure::Admitted];
        for figure in left.chain(refused).chain(waits).chain(others) {
            let code = figure.code();
            assert_eq!((code.len(), Figure::of_code(&code)), (2, Some(figure)));
        }
        for unknown in ["", "q", "q1", "lz", "tz", "y0", "l0x", "L0", "é"] {
            assert_eq!(Figure::of_code(unknown), None, "{unknown}");
        }
        assert_eq!(Figure::Left(LeftAs::Reset).code(), "l7");
    }
}
