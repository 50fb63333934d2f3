//! Who is in line, as a snapshot and the newest counters tell it: everyone who waits, and those ahead of a position.

use super::{Progress, RoomSnapshot};
use crate::{
    ahead, check_in::LineConditions, reconciliation::UNSEEN_NUMBERS, wait::fastest_possible,
};

// === impl RoomSnapshot ===

impl RoomSnapshot {
    /// What intervals and estimates are computed from, for a visitor at `position` at `now_ms`.
    #[must_use]
    pub fn line_conditions(
        &self,
        position: Option<u64>,
        now_ms: u64,
        progress: Progress,
    ) -> LineConditions {
        let waiting = self.figures.waiting;
        let blocked_ms = self.figures.rate_resumes_at_ms.saturating_sub(now_ms);
        LineConditions {
            people_ahead: position
                .map_or(waiting, |position| self.people_ahead(position, progress)),
            waiting,
            polling: self.figures.polling.unwrap_or(waiting),
            admissions_per_second: self.figures.expected_pace(),
            blocked_seconds: std::time::Duration::from_millis(blocked_ms).as_secs_f64(),
            leaving_per_second: self.figures.leaving_per_second,
            fastest_per_second: self
                .figures
                .fastest_per_second
                .unwrap_or_else(|| self.settings.total_active_users.map_or(0.0, fastest_possible)),
            newcomers_per_second: self.figures.newcomers_per_second,
            poll_budget: self.settings.poll_budget_per_second,
        }
    }

    /// Everyone waiting who is still there, hidden tabs included: the count of the last tick, plus
    /// those who came since, minus those who entered since.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let counted_to = self.figures.ahead.last().map_or(self.serving(), |(last, _)| *last);
        let came = self.came_between(counted_to, self.queue_counter);
        (self.figures.waiting + came).saturating_sub(self.entered_since_tick(self.progress()))
    }

    /// People still there and ahead of `position`, whose holder has not entered. Those who have
    /// entered since the last tick are subtracted.
    #[must_use]
    pub fn people_ahead(&self, position: u64, progress: Progress) -> u64 {
        let (ahead, known) = (position.saturating_sub(1), self.queue_counter);
        // So many numbers are not handed out unseen. They were left out: on another side of a split, or when the room was
        // put together anew, which the answering service has not heard yet.
        let is_of_another_line = ahead >= known + UNSEEN_NUMBERS;
        let ahead = if is_of_another_line { known } else { ahead };
        let curve = &self.figures.ahead;
        let counted = match curve.last() {
            // Before the first tick, everyone who has entered did so at once.
            None => self.came_between(self.serving().max(progress.admitted), ahead),
            // Beyond the last point are newcomers since the tick; all of them count as still there.
            Some((last, total)) if ahead >= *last => total + self.came_between(*last, ahead),
            Some(_) => ahead::people_upto(curve, ahead),
        };
        counted.saturating_sub(self.entered_since_tick(progress))
    }

    /// How many people have a number above `after` and up to `upto`, as if all were still there.
    fn came_between(&self, after: u64, upto: u64) -> u64 {
        let within = |(first, last): &(u64, u64)| {
            (last.min(&upto) + 1).saturating_sub(*first.max(&(after + 1)))
        };
        let nobody: u64 = self.left_out.iter().map(within).sum();
        upto.saturating_sub(after).saturating_sub(nobody)
    }

    /// Sessions that began after the last tick counted; 0 before the first tick.
    fn entered_since_tick(&self, progress: Progress) -> u64 {
        self.figures.admitted.map_or(0, |then| progress.admitted.saturating_sub(then))
    }
}
