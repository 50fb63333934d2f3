//! What one visitor lived through. Times are seconds since the run's start.

use super::Told;

/// How a visit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Left and gave the seat back.
    Left,
    /// The session ran out, by plan or because the stay was longer.
    RanOut,
    /// Closed the tab while waiting.
    Abandoned,
    /// Was told `expired`.
    Expired,
    /// Was told `closed`.
    Closed,
    /// Gave up after refusals or a long time without an answer.
    Failed,
}

/// Where a visitor is right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not here yet.
    Away,
    /// Asking to join.
    Joining,
    /// In the line.
    Waiting,
    /// Inside.
    Inside,
    /// The visit is over.
    Done,
}

/// What one visitor lived through.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitorRecord {
    /// When it first asked to join.
    pub(crate) arrived: Option<f64>,
    /// When the first answer came.
    pub(crate) joined: Option<f64>,
    /// Its identity in the room, as a number to compare by.
    pub(crate) request_id: Option<u128>,
    /// The number drawn on arrival.
    pub(crate) queue_number: Option<u64>,
    /// Where that stands in the line, as last told.
    pub(crate) position: Option<u64>,
    /// Whether it ever had to wait.
    pub(crate) waited: bool,
    /// When the answer `admitted` came.
    pub(crate) admitted: Option<f64>,
    /// When its seat was free again at the latest: the leave request was sent, or the session over.
    pub(crate) inside_until: Option<f64>,
    /// When and how the visit ended.
    pub(crate) ended: Option<(f64, Ending)>,
    /// The waits it was told.
    pub(crate) told: Told,
}

// === impl VisitorRecord ===

impl VisitorRecord {
    /// Where the visitor is right now.
    pub(crate) fn phase(&self) -> Phase {
        if self.ended.is_some() {
            Phase::Done
        } else if self.admitted.is_some() {
            Phase::Inside
        } else if self.joined.is_some() {
            Phase::Waiting
        } else if self.arrived.is_some() {
            Phase::Joining
        } else {
            Phase::Away
        }
    }

    /// How the visit ended, if it did.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ended.map(|(_, ending)| ending)
    }

    /// From joining to being admitted or giving up; `run_end` when neither happened. `None` when
    /// the visitor never had to wait.
    pub(crate) fn waiting(&self, run_end: f64) -> Option<(f64, f64)> {
        let from = self.joined.filter(|_| self.waited)?;
        Some((from, self.admitted.or(self.ended.map(|(at, _)| at)).unwrap_or(run_end)))
    }

    /// From being admitted to giving the seat back or the end of the session.
    pub(crate) fn inside(&self, run_end: f64) -> Option<(f64, f64)> {
        let from = self.admitted?;
        Some((from, self.inside_until.unwrap_or(run_end).clamp(from, run_end.max(from))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_held_from_the_answer_to_the_leave_request() {
        let mut visitor = VisitorRecord { admitted: Some(4.0), ..VisitorRecord::default() };
        assert_eq!(visitor.inside(10.0), Some((4.0, 10.0)));
        visitor.inside_until = Some(300.0);
        assert_eq!(visitor.inside(10.0), Some((4.0, 10.0)));
        visitor.inside_until = Some(6.0);
        assert_eq!(visitor.inside(10.0), Some((4.0, 6.0)));
        assert_eq!(visitor.waiting(10.0), None);
    }
}
