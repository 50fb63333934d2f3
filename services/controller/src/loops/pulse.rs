//! One room's tick: survey, decide, advance; and turning the page when another phase of the room's
//! program has begun. What to decide is `vestibule_domain::pulse`'s.

use std::time::Duration;

use tokio::time::Instant;
use vestibule_domain::{
    RoomSnapshot,
    advance::Plan,
    pulse,
    regions::{Shares, minute_of_history},
};
use vestibule_store::{KnownRoom, Pool, StoreError, SurveyReport};

use crate::state::Controller;

/// A room where nothing happens is told of this often, so that services know that they hear all.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What the leader remembers of a room.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    reset_epoch: u64,
    memory: pulse::Pulse,
    /// The minute that the shares of regions are for.
    minute: u64,
    told: Option<(News, Instant)>,
}

/// What is worth telling at once when it changes.
#[derive(Debug, Clone, PartialEq)]
struct News {
    queue_counter: u64,
    active: u64,
    admitted: u64,
    plan: Plan,
    pool: Pool,
}

// === impl Pulse ===

impl Pulse {
    /// One tick in term `epoch`.
    pub(super) async fn beat(
        &mut self,
        controller: &Controller,
        epoch: u64,
        known: &KnownRoom,
    ) -> Result<(), StoreError> {
        // From before the survey: a reset in between outdates the plan.
        let last = known.snapshot();
        self.begin_if_new(last.reset_epoch);
        let mut report = controller.store.survey(&last.room, &last.draws, epoch).await?;
        if report.must_turn {
            turn(controller, epoch, known, &report).await?;
            // Two phases may have begun while nobody led: what counts is the one under way.
            report = controller.store.survey(&last.room, &last.draws, epoch).await?;
        }
        self.share(controller, &last, &report).await?;
        let decision = self.memory.decide(&report.survey, &report.settings);
        let news = News::of(&report, decision.plan);
        if self.must_tell(&news, &report) {
            let store = &controller.store;
            store.advance(&last.room, epoch, last.reset_epoch, &report, &decision).await?;
            self.told = Some((news, Instant::now()));
        }
        Ok(())
    }

    fn begin_if_new(&mut self, reset_epoch: u64) {
        if self.reset_epoch != reset_epoch {
            *self = Self { reset_epoch, ..Self::default() };
        }
    }

    /// Once a minute: by what shares slots for newcomers are divided among regions.
    async fn share(
        &mut self,
        controller: &Controller,
        room: &RoomSnapshot,
        report: &SurveyReport,
    ) -> Result<(), StoreError> {
        let minute = report.survey.now_ms / 60_000;
        if minute != self.minute {
            let past = minute_of_history(minute);
            let history = controller.store.history(&room.room, past, past).await?;
            let newcomers = history.get(&past).map(|minute| minute.arrivals.clone());
            let limit = report.survey.usage.rate;
            self.memory.divide_by(Shares::of(&newcomers.unwrap_or_default(), limit));
            self.minute = minute;
        }
        Ok(())
    }

    fn must_tell(&self, news: &News, report: &SurveyReport) -> bool {
        let (plan, survey) = (&news.plan, &report.survey);
        let changes = plan.serving_counter != survey.serving_counter
            || plan.promised != survey.promised
            || plan.hazard > 0
            || !report.gone.is_empty();
        let told_lately =
            self.told.as_ref().is_some_and(|(told, at)| told == news && at.elapsed() < HEARTBEAT);
        changes || !told_lately
    }
}

/// Writes the phase that has begun, and the one after it.
async fn turn(
    controller: &Controller,
    epoch: u64,
    known: &KnownRoom,
    report: &SurveyReport,
) -> Result<(), StoreError> {
    let current = |known: &KnownRoom| {
        known.plans().filter(|plans| plans.program.version == report.program_version)
    };
    if current(known).is_none() {
        controller.feed.read_plans(known).await?;
    }
    let room = &known.snapshot().room;
    if let Some(plans) = current(known) {
        let now_ms = report.survey.now_ms;
        if controller.store.turn(room, epoch, &plans.program, now_ms).await? {
            let event = report.event.as_ref().map(|event| event.name.as_str());
            tracing::info!(%room, ?event, "another phase has begun");
        }
    }
    Ok(())
}

// === impl News ===

impl News {
    fn of(report: &SurveyReport, plan: Plan) -> Self {
        Self {
            queue_counter: report.survey.queue_counter,
            active: report.survey.usage.active,
            admitted: report.survey.admitted,
            plan,
            pool: report.pool.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::{
        RoomSettings,
        advance::{Survey, plan},
    };

    use super::*;

    fn report(queue_counter: u64) -> SurveyReport {
        SurveyReport {
            survey: Survey { queue_counter, ..Survey::default() },
            settings: RoomSettings::default(),
            event: None,
            pool: Pool::default(),
            program_version: 1,
            must_turn: false,
            gone: Vec::new(),
        }
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
        pulse.told = Some((news.clone(), Instant::now()));
        assert!(!must_tell(&pulse, &quiet));
        assert!(must_tell(&pulse, &report(6)), "someone joined");
        let gone = SurveyReport { gone: vec!["1.0.5".into()], ..report(5) };
        assert!(must_tell(&pulse, &gone));
        let closed = Pool { first: 1, last: 5, draw_id: "a".into() };
        assert!(must_tell(&pulse, &SurveyReport { pool: closed, ..report(5) }));
        let promised = Survey { promised: 3, ..report(5).survey };
        assert!(must_tell(&pulse, &SurveyReport { survey: promised, ..report(5) }));
        pulse.told = Some((news, Instant::now().checked_sub(HEARTBEAT).unwrap()));
        assert!(must_tell(&pulse, &quiet), "told a second ago");
    }

    #[test]
    fn a_reset_forgets_what_was_before() {
        let mut pulse = Pulse { reset_epoch: 1, minute: 7, ..Pulse::default() };
        pulse.begin_if_new(1);
        assert_eq!(pulse.minute, 7);
        pulse.begin_if_new(2);
        assert_eq!((pulse.reset_epoch, pulse.minute), (2, 0));
    }
}
