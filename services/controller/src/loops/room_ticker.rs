//! One room's tick: begins it, decides, and applies the plan; and switches the phase when another
//! phase of the room's config has begun. The decisions are `vestibule_domain::tick`'s.

use std::time::Duration;

use tokio::time::Instant;
use vestibule_domain::{
    RoomSnapshot,
    draw::Pool,
    plan::{Plan, TickInput},
    regions::{Shares, minute_of_history},
    roll::Roll,
    tick,
};
use vestibule_store::{KnownRoom, StoreError, TickReport};

use crate::state::Controller;

/// How often an unchanged room is pushed, so that services know that the push works.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What the leader remembers of a room between ticks.
#[derive(Debug, Default)]
pub(super) struct RoomTicker {
    reset_epoch: u64,
    roll: Roll,
    state: tick::TickState,
    /// The minute (since 1970) for which the shares of regions were computed.
    minute: u64,
    applied: Option<(Update, Instant)>,
}

/// Figures whose change is pushed at once.
#[derive(Debug, Clone, PartialEq)]
struct Update {
    queue_counter: u64,
    active: u64,
    admitted: u64,
    plan: Plan,
    pool: Pool,
}

// === impl RoomTicker ===

impl RoomTicker {
    /// One tick in term `epoch`.
    pub(super) async fn tick(
        &mut self,
        controller: &Controller,
        epoch: u64,
        known: &KnownRoom,
    ) -> Result<(), StoreError> {
        // Read before the tick begins: if the room is reset in between, the plan is dropped.
        let last = known.snapshot();
        self.see(&last);
        let chunks = self.roll.next();
        let mut report = controller.store.begin_tick(&last.room, &chunks, epoch).await?;
        if report.phase_is_over {
            switch_phase(controller, epoch, known, &report).await?;
            // Two phases may have begun while nobody led. The second report is of the current one.
            report = controller.store.begin_tick(&last.room, &chunks, epoch).await?;
        }
        self.share(controller, &last, &report).await?;
        let input = self.roll.call(
            &report.counters,
            report.counted.clone(),
            &report.pool,
            &last.draws,
            &report.in_force,
        );
        let decision = self.state.decide(&input, report.settings());
        let update = Update::new(&input, decision.plan, report.pool.clone());
        if self.must_apply(&update, &input) {
            let store = &controller.store;
            store.apply_plan(&last.room, epoch, last.reset_epoch, &report, &decision).await?;
            self.applied = Some((update, Instant::now()));
        }
        Ok(())
    }

    /// Sees the room as all services know it.
    pub(super) fn see(&mut self, last: &RoomSnapshot) {
        self.begin_if_new(last.reset_epoch);
        self.state.see(last);
    }

    fn begin_if_new(&mut self, reset_epoch: u64) {
        if self.reset_epoch != reset_epoch {
            *self = Self { reset_epoch, ..Self::default() };
        }
    }

    /// Once a minute, computes by which shares slots for newcomers are divided among regions.
    async fn share(
        &mut self,
        controller: &Controller,
        room: &RoomSnapshot,
        report: &TickReport,
    ) -> Result<(), StoreError> {
        let minute = report.counters.now_ms / 60_000;
        if minute != self.minute {
            let past = minute_of_history(minute);
            let history = controller.store.history(&room.room, past, past).await?;
            let newcomers = history.get(&past).map(|minute| minute.arrivals.clone());
            let limit = report.settings().new_users_per_minute;
            self.state.divide_by(Shares::from_newcomers(&newcomers.unwrap_or_default(), limit));
            self.minute = minute;
        }
        Ok(())
    }

    fn must_apply(&self, update: &Update, input: &TickInput) -> bool {
        let plan = &update.plan;
        let changes = plan.serving_counter != input.serving_counter
            || plan.promised != input.promised
            || plan.hazard_increase > 0;
        let applied_lately = self
            .applied
            .as_ref()
            .is_some_and(|(last, at)| last == update && at.elapsed() < HEARTBEAT);
        changes || !applied_lately
    }
}

/// Writes the phase that has begun, and the one that follows it.
async fn switch_phase(
    controller: &Controller,
    epoch: u64,
    known: &KnownRoom,
    report: &TickReport,
) -> Result<(), StoreError> {
    let current = |known: &KnownRoom| {
        known.stored_config().filter(|stored| stored.config.version == report.config_version)
    };
    if current(known).is_none() {
        controller.feed.refresh_config(known).await?;
    }
    let room = &known.snapshot().room;
    if let Some(stored) = current(known) {
        let now_ms = report.counters.now_ms;
        if controller.store.switch_phase(room, epoch, &stored.config, now_ms).await? {
            let event = report.event().map(|event| event.name.as_str());
            tracing::info!(%room, ?event, "another phase has begun");
        }
    }
    Ok(())
}

// === impl Update ===

impl Update {
    fn new(input: &TickInput, plan: Plan, pool: Pool) -> Self {
        Self {
            queue_counter: input.queue_counter,
            active: input.usage.active,
            admitted: input.admitted,
            plan,
            pool,
        }
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::{plan::plan, serving::Serving, wait::Standby};

    use super::*;

    fn input(queue_counter: u64) -> TickInput {
        TickInput { queue_counter, ..TickInput::default() }
    }

    fn update(input: &TickInput, pool: Pool) -> Update {
        Update::new(input, plan(input, Standby::default(), &mut Serving::default()), pool)
    }

    fn must_apply(ticker: &RoomTicker, input: &TickInput) -> bool {
        ticker.must_apply(&update(input, Pool::default()), input)
    }

    #[test]
    fn a_quiet_room_is_told_of_once_a_second() {
        let mut ticker = RoomTicker::default();
        let quiet = input(5);
        assert!(must_apply(&ticker, &quiet), "never told");
        let last = update(&quiet, Pool::default());
        ticker.applied = Some((last.clone(), Instant::now()));
        assert!(!must_apply(&ticker, &quiet));
        assert!(must_apply(&ticker, &input(6)), "someone joined");
        let closed = Pool { first: 1, last: 5, draw_id: "a".into() };
        assert!(ticker.must_apply(&update(&quiet, closed), &quiet));
        let promised = TickInput { promised: 3, ..input(5) };
        assert!(must_apply(&ticker, &promised));
        ticker.applied = Some((last, Instant::now().checked_sub(HEARTBEAT).unwrap()));
        assert!(must_apply(&ticker, &quiet), "told a second ago");
    }

    #[test]
    fn a_reset_forgets_what_was_before() {
        let mut ticker = RoomTicker { reset_epoch: 1, minute: 7, ..RoomTicker::default() };
        ticker.begin_if_new(1);
        assert_eq!(ticker.minute, 7);
        ticker.begin_if_new(2);
        assert_eq!((ticker.reset_epoch, ticker.minute), (2, 0));
    }
}
