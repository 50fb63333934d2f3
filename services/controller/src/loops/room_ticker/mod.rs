//! One room's tick: begins it, decides, and applies the plan; and switches the phase when another
//! phase of the room's config has begun. The decisions are `vestibule_domain::tick`'s.

mod applied;
mod newcomers;
mod spans;

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;
use vestibule_domain::{
    RoomId, RoomSnapshot,
    regions::{Shares, minute_of_history},
    rest::{Resting, Stillness},
    roll::Roll,
    tick,
};
use vestibule_store::{KnownRoom, StoreError, TickReport};
use vestibule_traces::note;

use self::{
    applied::{Applied, Update},
    newcomers::{Newcomers, Told, told_of},
};
use super::foreign;
use crate::state::Controller;

/// So many further calls of a tick forget what its first one has left; others are answered between them. So a tick
/// forgets 1,200 sessions, nearly 5,000 a second.
const MORE_SWEEPS: u32 = 3;

/// What is remembered of a room between ticks.
#[derive(Debug, Default)]
pub(super) struct RoomTicker {
    reset_epoch: u64,
    roll: Roll,
    state: tick::TickState,
    /// The minute (since 1970) for which the shares of regions were computed.
    minute: u64,
    newcomers: Newcomers,
    applied: Applied,
    still: Stillness,
    /// The room rests, and is looked at again then, unless it is woken.
    rests_until: Option<Instant>,
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
        known.take_wake();
        self.rests_until = None;
        self.see(&last);
        let report = self.begin(controller, epoch, known).await?;
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
        self.still.see(report.counters.now_ms, !self.applied.differs_from(&update));
        let rests = report.rests && self.still.is_settled();
        note(|span| spans::note_decision(span, &input, &decision.plan, rests));
        if self.applied.is_outdated_by(&update, &decision.grants, &input, rests) {
            let store = &controller.store;
            let push = controller.feed.push_for_all();
            store.apply_plan(&last.room, epoch, last.reset_epoch, &report, &decision, push).await?;
            self.applied.note(update, decision.grants);
        }
        self.rests_until = rests.then(|| Instant::now() + self.rests_for(&report));
        Ok(())
    }

    /// Whether the room rests still: nobody has woken it, and nothing is due in it.
    pub(super) fn rests(&self, known: &KnownRoom) -> bool {
        let is_time = self.rests_until.is_none_or(|until| until <= Instant::now());
        !is_time && !known.was_woken() && known.snapshot().reset_epoch == self.reset_epoch
    }

    async fn begin(
        &self,
        controller: &Controller,
        epoch: u64,
        known: &KnownRoom,
    ) -> Result<TickReport, StoreError> {
        let (store, room) = (&controller.store, &known.snapshot().room);
        let chunks = self.roll.next();
        let mut report = if self.still.is_settled() {
            store.begin_settled_tick(room, &chunks, epoch).await?
        } else {
            store.begin_tick(room, &chunks, epoch).await?
        };
        for _ in 0..MORE_SWEEPS {
            if !report.swept && !report.rests {
                report = store.begin_tick(room, &chunks, epoch).await?;
            }
        }
        if !report.phase_is_over {
            return Ok(report);
        }
        switch_phase(controller, epoch, known, &report).await?;
        // Two phases may have begun while nobody led. The second report is of the current one.
        store.begin_tick(room, &chunks, epoch).await
    }

    fn rests_for(&self, report: &TickReport) -> Duration {
        let (now_ms, due_ms) = (report.counters.now_ms, report.due_ms);
        let resting = Resting { now_ms, reset_epoch: self.reset_epoch, due_ms };
        Duration::from_millis(resting.looks_again_in_ms())
    }

    /// Sees the room as all services know it. One that another instance lets rest is settled.
    pub(super) fn see(&mut self, last: &RoomSnapshot) {
        self.begin_if_new(last.reset_epoch);
        if last.rests {
            self.still.take_over(last.now_ms);
        }
        self.roll.see(last);
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
        self.newcomers.see(report.counters.queue_counter, minute);
        if minute != self.minute {
            let past = minute_of_history(minute);
            let newcomers = if self.newcomers.may_have_come_in(past) {
                newcomers_in(controller, &room.room, past).await?
            } else {
                BTreeMap::new()
            };
            let limit = report.settings().new_users_per_minute;
            self.state.divide_by(Shares::from_newcomers(&newcomers, limit));
            self.minute = minute;
        }
        Ok(())
    }
}

/// Who came in this minute, by region. Without the history slots are shared out as if nobody had come.
async fn newcomers_in(
    controller: &Controller,
    room: &RoomId,
    minute: u64,
) -> Result<BTreeMap<String, u64>, StoreError> {
    match told_of(minute, controller.store.history(room, minute, minute).await)? {
        Told::Newcomers(newcomers) => Ok(newcomers),
        Told::Unreadable(why) => {
            foreign::remove(controller, room, &why).await;
            Ok(BTreeMap::new())
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_forgets_what_was_before() {
        let mut ticker = RoomTicker { reset_epoch: 1, minute: 7, ..RoomTicker::default() };
        ticker.begin_if_new(1);
        assert_eq!(ticker.minute, 7);
        ticker.begin_if_new(2);
        assert_eq!((ticker.reset_epoch, ticker.minute), (2, 0));
    }
}
