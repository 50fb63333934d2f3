//! Changing many rooms by one document, one apply at a time: the lease of routes is held from the first check to the last
//! change, so that routes that were compared stay as they are.

use std::sync::atomic::Ordering;

use serde_json::Value;
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_store::{Deletion, PutOutcome, RoutesTurn};

use super::{
    editor::{ATTEMPTS, ConfigEditor, occupied},
    rollout::Rollout,
    routes::{begin, busy},
};
use crate::audit::{Trail, view_of_config};

/// The right to apply a document, of one call. Given back by [`ConfigEditor::end_apply`], or lost after some seconds.
#[derive(Debug)]
pub(crate) struct ApplyLease {
    holder: String,
    turn: RoutesTurn,
}

// === impl ConfigEditor ===

impl ConfigEditor {
    /// Waits until nobody else applies a document or changes routes, and keeps others from it.
    ///
    /// # Errors
    /// 409 if somebody else goes on for long, 503 while Redis is away.
    pub(crate) async fn begin_apply(&self) -> Result<ApplyLease, Problem> {
        let number = self.route_changes.fetch_add(1, Ordering::Relaxed);
        let holder = format!("{}-apply-{number}", self.instance);
        let turn = begin(&self.rooms.store, &holder).await?.ok_or_else(others_apply)?;
        Ok(ApplyLease { holder, turn })
    }

    /// Goes on with it.
    ///
    /// # Errors
    /// 409 if it took so long that somebody else has begun.
    pub(crate) async fn keep_apply(&self, lease: &mut ApplyLease) -> Result<(), Problem> {
        let kept = self.rooms.store.keep_routes(&lease.holder, lease.turn).await;
        lease.turn = kept.map_err(|error| problem_of(&error))?.ok_or_else(others_apply)?;
        Ok(())
    }

    /// Lets others in again.
    pub(crate) async fn end_apply(&self, lease: ApplyLease) {
        // If this fails, the lease runs out by itself.
        let _ = self.rooms.store.end_routes(&lease.holder).await;
    }

    /// Changes the config of a room, or creates it, within an apply; `change` is told whether it is new. What is compared
    /// with other rooms was compared for all of them together, at `now_s` (unix seconds), under the same lease: a name that
    /// one gives up may be another's already. Admissions are told by [`Self::roll_out_all`].
    ///
    /// # Errors
    /// What `change` refuses, and 409 when others keep changing the room.
    pub(crate) async fn declare(
        &self,
        trail: &Trail,
        room: &RoomId,
        now_s: u64,
        change: impl Fn(&mut RoomConfig, bool) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        for _ in 0..ATTEMPTS {
            let before = self.rooms.store.read_config(room).await;
            let before = before.map_err(|error| problem_of(&error))?;
            let mut config = before.clone().unwrap_or_default();
            change(&mut config, before.is_none())?;
            config.note_given_up(&before.clone().unwrap_or_default(), now_s);
            for event in &mut config.events {
                let was = before.as_ref().and_then(|before| before.event(event.name.as_str()));
                self.draws.settle(room, event, was);
            }
            let view = |config: &RoomConfig| view_of_config(room, config);
            trail.change(&before.as_ref().map(view).into(), &view(&config));
            if self.rooms.put_compared(room, &config).await? != PutOutcome::Conflict {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// Deletes a room within an apply, after those that are `done`, if it is still there and no more than so many `people`
    /// are in it. Returns how many were.
    ///
    /// # Errors
    /// 409 if more are in it, 503 while Redis cannot be reached.
    pub(crate) async fn prune(
        &self,
        trail: &Trail,
        room: &RoomId,
        people: u64,
        done: &[RoomId],
    ) -> Result<u64, Problem> {
        let before = self.rooms.store.read_config(room).await;
        let before = before.map_err(|error| problem_of(&error))?;
        let view = before.as_ref().map(|config| view_of_config(room, config));
        trail.change(&view.into(), &Value::Null);
        match self.rooms.delete(room, people).await.map_err(|error| problem_of(&error))? {
            Deletion::Done(people) => Ok(people.count()),
            Deletion::Missing => Ok(0),
            Deletion::Occupied(there) => {
                Err(of_room(room, occupied(there, "prune_occupied", done)))
            }
        }
    }

    /// Tells the admissions of all of these rooms, and waits until they go by the changes.
    pub(crate) async fn roll_out_all(&self, rooms: &[RoomId]) -> Rollout {
        Rollout::of_changes(&self.rooms.store, rooms).await
    }
}

/// Says which of many rooms is meant.
fn of_room(room: &RoomId, problem: Problem) -> Problem {
    problem.field(format!("rooms.{room}"), "has people in it, and is to be deleted")
}

fn others_apply() -> Problem {
    let detail = "another document is being applied, or routes are being changed: try again";
    Problem::new(ProblemType::Conflict).detail(detail)
}
