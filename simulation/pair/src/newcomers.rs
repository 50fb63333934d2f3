//! What no visitor can see: how newcomers fare by region, and which of them have to wait although a slot
//! is free and nobody else waits. For whoever brings visitors of its own into a [`World`](crate::World)
//! with one room; it is told of their calls.

use serde::Serialize;
use vestibule_admission::in_process::Status;

use crate::{Deployment, spare::Spare};

/// After nobody was in line for so long, a newcomer need not wait for anybody, ms.
const CALM_MS: u64 = 2_000;

/// How newcomers fare.
#[derive(Debug)]
pub struct Newcomers {
    regions: Vec<(String, RegionFigures)>,
    queued_while_free: u64,
    spare: Spare,
    /// When the room surely lets people in, ms.
    open_ms: u64,
    /// When somebody was last in line, ms.
    waited_ms: u64,
}

/// How the newcomers of a region fared.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct RegionFigures {
    /// Came.
    pub arrived: u64,
    /// Entered at once.
    pub admitted_at_once: u64,
    /// Of the seats taken at once: from the region's own slots …
    pub own_slots: u64,
    /// … from those open to all …
    pub anywhere_slots: u64,
    /// … and from what other regions left unused.
    pub lent_slots: u64,
}

// === impl Newcomers ===

impl Newcomers {
    /// Nobody yet, into a room with these limits that surely lets people in from `open_ms` on.
    #[must_use]
    pub fn new(
        regions: impl Iterator<Item = String>,
        (ceiling, rate): (Option<u64>, Option<u64>),
        open_ms: u64,
    ) -> Self {
        Self {
            regions: regions.map(|name| (name, RegionFigures::default())).collect(),
            queued_while_free: 0,
            spare: Spare::new(ceiling, rate),
            open_ms,
            waited_ms: 0,
        }
    }

    /// Someone asks to enter: joins, or claims.
    pub fn asks(&mut self) {
        self.spare.ask();
    }

    /// That was answered.
    pub fn answered(&mut self) {
        self.spare.answered();
    }

    /// Somebody is in line.
    pub fn waits(&mut self, now_ms: u64) {
        self.waited_ms = now_ms;
    }

    /// A newcomer was told this.
    pub fn joined(&mut self, region: usize, status: Status, now_ms: u64) {
        let figures = &mut self.regions[region].1;
        figures.arrived += 1;
        figures.admitted_at_once += u64::from(status == Status::Admitted);
        // Nobody else waits for a slot then.
        let calm = self.waited_ms + CALM_MS < now_ms && now_ms > self.open_ms;
        let waits = matches!(status, Status::Waiting | Status::YourTurn);
        self.queued_while_free += u64::from(waits && calm && self.spare.slots(now_ms) > 0);
    }

    /// Somebody entered.
    pub fn entered(&mut self, now_ms: u64) {
        self.spare.enter(now_ms);
    }

    /// Somebody left.
    pub fn left(&mut self, now_ms: u64) {
        self.spare.leave(now_ms);
    }

    /// Newcomers who had to wait although a slot was free and nobody else waited.
    #[must_use]
    pub fn queued_while_free(&self) -> u64 {
        self.queued_while_free
    }

    /// How they fared, by region, with the slots that the admissions of `deployment` took for them.
    pub fn regions(
        &self,
        deployment: &Deployment,
    ) -> impl Iterator<Item = (String, RegionFigures)> {
        self.regions.iter().enumerate().map(|(region, (name, figures))| {
            let mut figures = *figures;
            for process in deployment.ready_admissions_of(region) {
                let taken = process.instance.slots_taken();
                figures.own_slots += taken.own;
                figures.anywhere_slots += taken.anywhere;
                figures.lent_slots += taken.lent;
            }
            (name.clone(), figures)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newcomers() -> Newcomers {
        Newcomers::new(["here".to_owned()].into_iter(), (Some(1), None), 1_000)
    }

    #[test]
    fn who_waits_for_nothing_is_counted() {
        let mut seen = newcomers();
        seen.joined(0, Status::Waiting, 900);
        assert_eq!(seen.queued_while_free(), 0, "the room is not open");
        seen.joined(0, Status::Waiting, 5_000);
        assert_eq!(seen.queued_while_free(), 1);
        seen.waits(5_000);
        seen.joined(0, Status::Waiting, 7_000);
        assert_eq!(seen.queued_while_free(), 1, "somebody else waited");
        seen.entered(7_000);
        seen.joined(0, Status::Waiting, 9_000);
        assert_eq!(seen.queued_while_free(), 1, "no slot is free");
    }

    #[test]
    fn who_enters_at_once_is_counted() {
        let mut seen = newcomers();
        seen.joined(0, Status::Admitted, 5_000);
        seen.joined(0, Status::Waiting, 5_000);
        let figures = seen.regions[0].1;
        assert_eq!((figures.arrived, figures.admitted_at_once), (2, 1));
    }
}
