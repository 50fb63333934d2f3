//! One room's tick: survey, plan, advance. Also what is remembered from one to the next.

use std::time::Duration;

use tokio::time::Instant;
use vestibule_domain::{
    Figures,
    advance::{Plan, plan},
    wait::{Pace, expected_per_second},
};
use vestibule_store::{KnownRoom, Store, StoreError, SurveyReport};

/// A room where nothing happens is told of this often, so that services know that they hear all.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What the leader remembers of a room.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    reset_epoch: u64,
    pace: Pace,
    told: Option<(News, Instant)>,
}

/// What is worth telling at once when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct News {
    queue_counter: u64,
    active: u64,
    admitted: u64,
    plan: Plan,
}

// === impl Pulse ===

impl Pulse {
    /// One tick in term `epoch`.
    pub(super) async fn beat(
        &mut self,
        store: &Store,
        epoch: u64,
        known: &KnownRoom,
    ) -> Result<(), StoreError> {
        // From before the survey: a reset in between outdates the plan.
        let last = known.snapshot();
        self.begin_if_new(last.reset_epoch);
        let report = store.survey(&last.room, &last.settings, epoch).await?;
        self.pace.observe(report.survey.now_ms, report.admitted, ended(&report));
        let plan = plan(&report.survey, self.pace.standby(&report.survey.usage));
        let news = News::of(&report, plan);
        if self.must_tell(&news, &report) {
            let figures = self.figures(&report, &plan);
            let reset_epoch = last.reset_epoch;
            store.advance(&last.room, epoch, reset_epoch, &report, &plan, &figures).await?;
            self.told = Some((news, Instant::now()));
        }
        Ok(())
    }

    fn begin_if_new(&mut self, reset_epoch: u64) {
        if self.reset_epoch != reset_epoch {
            *self = Self { reset_epoch, ..Self::default() };
        }
    }

    fn must_tell(&self, news: &News, report: &SurveyReport) -> bool {
        let survey = &report.survey;
        let changes = news.plan.serving_counter != survey.serving_counter
            || news.plan.promised != survey.promised
            || !report.lapsed.is_empty();
        let told_lately =
            self.told.is_some_and(|(told, at)| told == *news && at.elapsed() < HEARTBEAT);
        changes || !told_lately
    }

    fn figures(&self, report: &SurveyReport, plan: &Plan) -> Figures {
        let survey = &report.survey;
        Figures {
            waiting: plan.waiting,
            admissions_per_second: self.pace_to_tell(report, plan),
            unattended: report.unattended,
            ahead: Figures::curve(
                &survey.presence,
                plan.promised,
                plan.serving_counter,
                survey.queue_counter,
            ),
        }
    }

    /// While people wait, the pace that they can expect; else what was measured.
    fn pace_to_tell(&self, report: &SurveyReport, plan: &Plan) -> f64 {
        let measured = self.pace.per_second();
        if plan.waiting == 0 || report.survey.held {
            return measured;
        }
        expected_per_second(&report.survey.usage, measured)
    }
}

/// How many sessions have ended, in a room with a ceiling; elsewhere no seat comes free.
fn ended(report: &SurveyReport) -> u64 {
    let usage = &report.survey.usage;
    usage.ceiling.map_or(0, |_| report.admitted.saturating_sub(usage.active))
}

// === impl News ===

impl News {
    fn of(report: &SurveyReport, plan: Plan) -> Self {
        Self {
            queue_counter: report.survey.queue_counter,
            active: report.survey.usage.active,
            admitted: report.admitted,
            plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::advance::Survey;

    use super::*;

    fn report(queue_counter: u64) -> SurveyReport {
        let survey = Survey { queue_counter, ..Survey::default() };
        SurveyReport { survey, admitted: 0, unattended: 0, lapsed: Vec::new() }
    }

    fn must_tell(pulse: &Pulse, report: &SurveyReport) -> bool {
        pulse.must_tell(&News::of(report, plan(&report.survey, 1)), report)
    }

    #[test]
    fn a_quiet_room_is_told_of_once_a_second() {
        let mut pulse = Pulse::default();
        let quiet = report(5);
        assert!(must_tell(&pulse, &quiet), "never told");
        let news = News::of(&quiet, plan(&quiet.survey, 1));
        pulse.told = Some((news, Instant::now()));
        assert!(!must_tell(&pulse, &quiet));
        assert!(must_tell(&pulse, &report(6)), "someone joined");
        let lapsed = SurveyReport { lapsed: vec!["1.0.5".into()], ..report(5) };
        assert!(must_tell(&pulse, &lapsed));
        let promised = Survey { promised: 3, ..report(5).survey };
        assert!(must_tell(&pulse, &SurveyReport { survey: promised, ..report(5) }));
        pulse.told = Some((news, Instant::now().checked_sub(HEARTBEAT).unwrap()));
        assert!(must_tell(&pulse, &quiet), "told a second ago");
    }

    #[test]
    fn a_reset_forgets_the_pace() {
        let mut pulse = Pulse { reset_epoch: 1, ..Pulse::default() };
        pulse.pace.observe(0, 0, 0);
        pulse.pace.observe(1_000, 100, 0);
        pulse.begin_if_new(1);
        assert!(pulse.pace.per_second() > 0.0);
        pulse.begin_if_new(2);
        assert_eq!((pulse.reset_epoch, pulse.pace), (2, Pace::default()));
    }
}
