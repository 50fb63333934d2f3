//! What hostile company did: kept apart from the visitors' records, so that it spoils none of their
//! figures. Times are seconds since the run's start.

use std::collections::BTreeMap;

use crate::crowd::{Call, Hostile};

/// What hostile company did.
#[derive(Debug, Default)]
pub(crate) struct CompanyLog {
    /// The numbers that nobody asks with.
    pub(crate) ghosts: GhostLog,
    /// Those who sent the same tickets again and again.
    pub(crate) replayers: HostileLog,
    /// Those who never claimed.
    pub(crate) idlers: HostileLog,
    /// Those of one network who took what they could get.
    pub(crate) hoarders: HostileLog,
    /// Those who shared one ticket.
    pub(crate) sharers: HostileLog,
}

/// How the ghosts' numbers were taken, before the run's start.
#[derive(Debug, Default)]
pub(crate) struct GhostLog {
    /// Numbers that were taken.
    pub(crate) taken: u64,
    /// Calls that it took.
    pub(crate) calls: u64,
    /// How long it took.
    pub(crate) seconds: f64,
    /// Calls that failed, by kind of failure.
    pub(crate) errors: BTreeMap<String, u64>,
}

/// What those of one kind did together.
#[derive(Debug, Default)]
pub(crate) struct HostileLog {
    /// How many came.
    pub(crate) came: u64,
    /// Their calls, by [`Call`].
    pub(crate) calls: [u64; 4],
    /// Those that failed, by kind of failure.
    pub(crate) errors: BTreeMap<String, u64>,
    /// How many were told that it is their turn.
    pub(crate) told_their_turn: u64,
    /// How many were told that they have lost their place.
    pub(crate) lost_their_place: u64,
    /// The seats that they took: from the answer to the request to leave.
    pub(crate) seats: Vec<(f64, f64)>,
    /// Places that hoarders got; the others take one each.
    pub(crate) places: u64,
    /// Joins of hoarders that were turned away because they were too many.
    pub(crate) turned_away: u64,
    /// How many were let in with a ticket that is another client's.
    pub(crate) let_in: u64,
    /// How many were not.
    pub(crate) kept_out: u64,
}

// === impl CompanyLog ===

impl CompanyLog {
    /// What those of a kind did.
    pub(crate) fn of(&mut self, kind: Hostile) -> &mut HostileLog {
        match kind {
            Hostile::Replayer => &mut self.replayers,
            Hostile::Idler => &mut self.idlers,
            Hostile::Hoarder => &mut self.hoarders,
            Hostile::Sharers => &mut self.sharers,
        }
    }

    /// All seats that were taken, each until the run's end at the latest.
    pub(crate) fn seats(&self, run_end: f64) -> impl Iterator<Item = (f64, f64)> {
        let kinds = [&self.replayers, &self.idlers, &self.hoarders, &self.sharers];
        kinds.into_iter().flat_map(move |log| log.seats(run_end))
    }
}

// === impl GhostLog ===

impl GhostLog {
    /// Notes a call by which a number was to be taken.
    pub(crate) fn note(&mut self, taken: &Result<(), String>) {
        self.calls += 1;
        match taken {
            Ok(()) => self.taken += 1,
            Err(kind) => *self.errors.entry(kind.clone()).or_default() += 1,
        }
    }

    /// Adds what somebody else took at the same time.
    pub(crate) fn add(&mut self, other: Self) {
        self.taken += other.taken;
        self.calls += other.calls;
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
    }
}

// === impl HostileLog ===

impl HostileLog {
    /// Notes a call, and how it failed if it did.
    pub(crate) fn note(&mut self, call: Call, error: Option<String>) {
        self.calls[call as usize] += 1;
        if let Some(kind) = error {
            *self.errors.entry(kind).or_default() += 1;
        }
    }

    /// A seat is taken; gives its number, by which it is given back.
    pub(crate) fn takes_a_seat(&mut self, now: f64) -> usize {
        self.seats.push((now, f64::INFINITY));
        self.seats.len() - 1
    }

    /// The seats that were taken, each until the run's end at the latest.
    pub(crate) fn seats(&self, run_end: f64) -> impl Iterator<Item = (f64, f64)> {
        self.seats.iter().map(move |&(from, until)| (from, until.min(run_end)))
    }

    /// That seat is held until then, unless its session is renewed.
    pub(crate) fn holds_until(&mut self, seat: usize, until: f64) {
        self.seats[seat].1 = until;
    }

    /// From now on that seat may be free.
    pub(crate) fn gives_back(&mut self, seat: usize, now: f64) {
        let until = &mut self.seats[seat].1;
        *until = until.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_held_until_it_is_given_back_for_the_first_time() {
        let mut log = CompanyLog::default();
        let seat = log.replayers.takes_a_seat(2.0);
        log.of(Hostile::Replayer).gives_back(seat, 3.0);
        log.of(Hostile::Replayer).gives_back(seat, 9.0);
        log.of(Hostile::Idler).takes_a_seat(4.0);
        assert_eq!(log.seats(10.0).collect::<Vec<_>>(), [(2.0, 3.0), (4.0, 10.0)]);
    }

    #[test]
    fn what_several_took_is_added_up() {
        let mut one = GhostLog::default();
        one.note(&Ok(()));
        let mut other = GhostLog::default();
        other.note(&Err("503".to_owned()));
        other.note(&Ok(()));
        one.add(other);
        assert_eq!((one.taken, one.calls, one.errors["503"]), (2, 3, 1));
    }
}
