//! Whether estimates come true: what whoever came last was told, held against how long it took until its turn came.
//!
//! A room is followed by its snapshots alone: now and then the last place in line is noted with the wait that its
//! holder would be told at that moment, and when the serving counter has reached it, the time that has passed is the
//! wait that was true. So nothing is kept of visitors, and a sale costs at most [`MOST`] notes. Where there is no order,
//! and while no wait is known, nothing is noted.

use crate::RoomSnapshot;

/// How often a place is noted, ms, while few are.
const EVERY_MS: u64 = 10_000;
/// The most places that are noted at a time: every second one is dropped then, and half as many noted from then on.
pub const MOST: usize = 120;
/// For how long the last outcome is told, ms: after that it says nothing of the line of today.
const TOLD_FOR_MS: u64 = 300_000;

/// One room, followed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaitCheck {
    reset_epoch: u64,
    noted: Vec<Noted>,
    /// How often places are noted, as a multiple of [`EVERY_MS`], less one.
    thinned: u64,
    last: Option<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Noted {
    position: u64,
    at_ms: u64,
    told_seconds: f64,
}

/// What came of the place whose turn came last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The wait that its holder was told, in seconds.
    pub told_seconds: f64,
    /// The wait that it was, in seconds.
    pub true_seconds: f64,
    /// When its turn came, ms.
    at_ms: u64,
}

// === impl WaitCheck ===

impl WaitCheck {
    /// Takes in how the room stands.
    pub fn see(&mut self, room: &RoomSnapshot) {
        if self.reset_epoch != room.reset_epoch {
            *self = Self { reset_epoch: room.reset_epoch, ..Self::default() };
        }
        self.settle(room);
        if self.noted.is_empty() {
            self.thinned = 0;
        }
        let since = self.noted.last().map(|last| room.now_ms.saturating_sub(last.at_ms));
        if since.is_none_or(|since| since >= EVERY_MS * (self.thinned + 1)) {
            self.note(room);
        }
    }

    /// What came of the place whose turn came last; `None`: not lately, at `now_ms`.
    #[must_use]
    pub fn last(&self, now_ms: u64) -> Option<Outcome> {
        self.last.filter(|last| now_ms.saturating_sub(last.at_ms) <= TOLD_FOR_MS)
    }

    /// Those whose turn has come.
    fn settle(&mut self, room: &RoomSnapshot) {
        let (served, now_ms) = (room.serving(), room.now_ms);
        let mut last = self.last;
        self.noted.retain(|noted| {
            let waits = noted.position > served;
            if !waits {
                last = Some(noted.outcome(now_ms));
            }
            waits
        });
        self.last = last;
    }

    fn note(&mut self, room: &RoomSnapshot) {
        if !room.is_queueing() {
            return;
        }
        let outlook = room.outlook(room.queue_counter, room.now_ms, room.progress());
        let (Some(position), Some(told_seconds)) = (outlook.position, outlook.wait.seconds) else {
            return;
        };
        if position <= room.serving() {
            return;
        }
        if self.noted.len() >= MOST {
            let mut nth = 0;
            self.noted.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.thinned = self.thinned * 2 + 1;
        }
        self.noted.push(Noted { position, at_ms: room.now_ms, told_seconds });
    }
}

// === impl Noted ===

impl Noted {
    #[expect(clippy::cast_precision_loss, reason = "times of hours")]
    fn outcome(&self, now_ms: u64) -> Outcome {
        let true_seconds = now_ms.saturating_sub(self.at_ms) as f64 / 1000.0;
        Outcome { told_seconds: self.told_seconds, true_seconds, at_ms: now_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TickFigures, snapshot::test_support::snapshot};

    /// A line from `served` on of so many people, of whom `pace` a second are said to enter.
    fn room(now_ms: u64, served: u64, waiting: u64, pace: f64) -> RoomSnapshot {
        let figures = TickFigures {
            waiting,
            admissions_per_second: pace,
            ahead: vec![(served, 0), (served + waiting, waiting)],
            ..TickFigures::default()
        };
        let line = snapshot(served + waiting, i64::try_from(served).unwrap());
        RoomSnapshot { now_ms, figures, ..line }
    }

    fn seconds(outcome: Option<Outcome>) -> Option<(f64, f64)> {
        outcome.map(|outcome| (outcome.told_seconds.round(), outcome.true_seconds))
    }

    #[test]
    fn what_was_told_is_held_against_what_was_true() {
        let mut check = WaitCheck::default();
        check.see(&room(0, 0, 300, 10.0));
        for second in 1..60 {
            check.see(&room(second * 1_000, second * 5, 300 - second * 5, 10.0));
            assert_eq!(check.last(second * 1_000), None, "its turn has not come after {second} s");
        }
        check.see(&room(60_000, 300, 0, 10.0));
        // 50 ahead, ten a second, of whom five came; of several that are due the one noted last.
        assert_eq!(seconds(check.last(60_000)), Some((5.0, 10.0)));
        assert_eq!(check.noted.len(), 0);
        assert_eq!(check.last(60_000 + TOLD_FOR_MS + 1), None, "long ago");
    }

    #[test]
    fn nothing_is_noted_while_nothing_is_told() {
        let told = |change: fn(&mut RoomSnapshot)| {
            let (mut check, mut line) = (WaitCheck::default(), room(0, 0, 300, 10.0));
            change(&mut line);
            check.see(&line);
            check.noted.len()
        };
        assert_eq!(told(|_| {}), 1);
        assert_eq!(told(|room| room.settings.queue_all = true), 0);
        assert_eq!(told(|room| room.settings.suspended = true), 0);
        assert_eq!(told(|room| room.settings.queueing_method = crate::QueueingMethod::Random), 0);
        assert_eq!(told(|room| room.figures.admissions_per_second = 0.0), 0, "unknown");
        assert_eq!(told(|room| room.serving_counter = 300), 0, "nobody waits");
    }

    #[test]
    fn a_long_line_costs_no_more_than_a_short_one() {
        let mut check = WaitCheck::default();
        for second in 0..20_000 {
            check.see(&room(second * 1_000, 0, 1_000 + second, 1.0));
            assert!(check.noted.len() <= MOST);
        }
        assert!(check.noted.len() >= MOST / 2, "{}", check.noted.len());
        assert_eq!(check.noted[0].at_ms, 0, "whoever came first is still there");
        check.see(&room(20_000_000, 30_000, 0, 1.0));
        check.see(&room(20_001_000, 30_000, 5, 1.0));
        assert_eq!(
            (check.noted.len(), check.thinned),
            (1, 0),
            "a new line is noted as often as ever"
        );
    }

    #[test]
    fn a_reset_forgets_all() {
        let mut check = WaitCheck::default();
        check.see(&room(0, 0, 300, 10.0));
        check.see(&RoomSnapshot { reset_epoch: 2, ..room(1_000, 300, 0, 10.0) });
        assert_eq!(seconds(check.last(1_000)), None);
    }
}
