//! Which plan was applied last, and whether another has to be: its changes are pushed at once, and besides a heartbeat.

use std::time::Duration;

use tokio::time::Instant;
use vestibule_domain::{
    draw::Pool,
    plan::{Plan, TickInput},
    regions::Grants,
};
use vestibule_store::HEARTBEAT;

/// How often the figures of a room that rests are told anew; its counters are pushed with every look at it.
const HEARTBEAT_AT_REST: Duration = Duration::from_mins(1);

/// The plan that was applied last, if any was.
#[derive(Debug, Default)]
pub(super) struct Applied(Option<Last>);

#[derive(Debug)]
struct Last {
    update: Update,
    grants: Grants,
    at: Instant,
}

/// Figures whose change is pushed at once.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Update {
    queue_counter: u64,
    active: u64,
    admitted: u64,
    plan: Plan,
    pool: Pool,
}

// === impl Applied ===

impl Applied {
    /// Notes that this was applied now.
    pub(super) fn note(&mut self, update: Update, grants: Grants) {
        self.0 = Some(Last { update, grants, at: Instant::now() });
    }

    /// Whether the room is as it was told last; of another leader's telling nobody knows.
    pub(super) fn differs_from(&self, update: &Update) -> bool {
        self.0.as_ref().is_some_and(|last| last.update != *update)
    }

    /// Whether this has to be applied now, in a room that `rests` or not. Of one that rests the snapshot was pushed by
    /// the look itself, and what else the plan says hardly changes.
    pub(super) fn is_outdated_by(
        &self,
        update: &Update,
        grants: &Grants,
        input: &TickInput,
        rests: bool,
    ) -> bool {
        let Some(last) = self.0.as_ref().filter(|last| last.update == *update) else { return true };
        let heartbeat = if rests { HEARTBEAT_AT_REST } else { HEARTBEAT };
        update.moves(input) || last.at.elapsed() >= heartbeat || rests && last.grants != *grants
    }
}

// === impl Update ===

impl Update {
    pub(super) fn new(input: &TickInput, plan: Plan, pool: Pool) -> Self {
        Self {
            queue_counter: input.queue_counter,
            active: input.usage.active,
            admitted: input.admitted,
            plan,
            pool,
        }
    }

    /// Whether the plan moves anything in the room.
    fn moves(&self, input: &TickInput) -> bool {
        self.plan.serving_counter != input.serving_counter
            || self.plan.promised != input.promised
            || self.plan.hazard_increase > 0
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

    fn applied(update: &Update, ago: Duration) -> Applied {
        let at = Instant::now().checked_sub(ago).unwrap();
        Applied(Some(Last { update: update.clone(), grants: Grants::default(), at }))
    }

    fn is_outdated(applied: &Applied, input: &TickInput) -> bool {
        let update = update(input, Pool::default());
        applied.is_outdated_by(&update, &Grants { anywhere: 7, ..Grants::default() }, input, false)
    }

    #[test]
    fn a_quiet_room_is_told_of_once_a_second() {
        let quiet = input(5);
        assert!(is_outdated(&Applied::default(), &quiet), "never told");
        let last = update(&quiet, Pool::default());
        let now = applied(&last, Duration::ZERO);
        assert!(!is_outdated(&now, &quiet) && !now.differs_from(&last));
        assert!(now.differs_from(&update(&input(6), Pool::default())));
        assert!(!Applied::default().differs_from(&last), "never told");
        assert!(is_outdated(&now, &input(6)), "someone joined");
        let closed = Pool { first: 1, last: 5, draw_id: "a".into() };
        assert!(now.is_outdated_by(&update(&quiet, closed), &Grants::default(), &quiet, false));
        let promised = TickInput { promised: 3, ..input(5) };
        assert!(is_outdated(&now, &promised));
        assert!(is_outdated(&applied(&last, HEARTBEAT), &quiet), "told a second ago");
    }

    #[test]
    fn of_a_room_that_rests_figures_are_told_seldom_and_slots_at_once() {
        let quiet = input(5);
        let last = update(&quiet, Pool::default());
        let is_outdated = |applied: &Applied, anywhere| {
            let grants = Grants { anywhere, ..Grants::default() };
            applied.is_outdated_by(&last, &grants, &quiet, true)
        };
        assert!(is_outdated(&Applied::default(), 0), "never told");
        let lately = applied(&last, HEARTBEAT);
        assert!(!is_outdated(&lately, 0) && is_outdated(&lately, 7));
        assert!(is_outdated(&applied(&last, HEARTBEAT_AT_REST), 0));
    }
}
