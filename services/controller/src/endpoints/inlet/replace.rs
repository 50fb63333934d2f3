//! Has the max-size inlet of a room take in a report.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use vestibule_domain::{RoomId, inlet::InletReport};
use vestibule_runtime::{Problem, ProblemType};
use vestibule_store::{Departure, EndedAs, Replaced, Replacing};

use crate::{
    api_types::refuse, audit::Trail, endpoints::aws::update_session::tell_of_end, state::Controller,
};

const NO_INLET: &str = "the room has no max_size_inlet, which says how many may be inside; set one, or use \
    increment_serving_counter";

/// What came of a report.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ExitsReported {
    /// How many sessions have been ended: as completed, and as abandoned. Ids that are no session's, or of one that was
    /// over, do not count.
    updated: u64,
    /// How many of them as completed.
    completed: u64,
    /// How many as abandoned.
    abandoned: u64,
    /// By how much the serving counter was moved: never back.
    incremented_by: u64,
    /// Where it stands.
    serving_counter: i64,
    /// Sessions that live.
    active: u64,
    /// How many had been served before, and may still enter: they count like those inside.
    awaited: u64,
    /// Whether all this was done by an earlier call of the same name.
    repeated: bool,
}

/// Takes in a report, once for all calls of this name.
pub(super) async fn replace(
    controller: &Controller,
    trail: &Trail,
    room: &RoomId,
    call: &str,
    report: &InletReport,
) -> Result<ExitsReported, Problem> {
    let wrong = Problem::new(ProblemType::InvalidRequest);
    refuse(wrong, report.error().into_iter().collect())?;
    let config = controller.rooms.read_config(room).await?;
    let Some(inlet) = config.settings.max_size_inlet else {
        return Err(Problem::new(ProblemType::Conflict).detail(NO_INLET));
    };
    let known = controller.rooms.known(room).await?;
    let reset_epoch = known.snapshot().reset_epoch;
    let ciphers = controller.ciphers.get(room, reset_epoch);
    let seat = config.binding.seat_ends();
    let all = [(EndedAs::Completed, &report.completed), (EndedAs::Abandoned, &report.abandoned)];
    let all = all.iter().flat_map(|(ended_as, those)| those.iter().map(|id| (*ended_as, &**id)));
    let (gone, departures): (Vec<_>, Vec<_>) = all
        .filter_map(|(ended_as, id)| {
            let number = ciphers.request_ids.open(id).ok()?.number;
            Some(((ended_as, id), Departure { number, ended_as, seat }))
        })
        .unzip();
    let (exited, max_size) = (report.exited, inlet.max_size);
    trail.change(&Value::Null, &json!({ "exited": exited, "sessions": departures.len() }));
    let replacing = Replacing { reset_epoch, departures: &departures, exited, max_size };
    match controller.store.replace_gone(room, call, replacing).await {
        Ok(replaced) => {
            note(trail, &replaced);
            // That the counter moved is seen and told elsewhere.
            for ((ended_as, request_id), _) in
                gone.iter().zip(&replaced.ended).filter(|(_, ended)| **ended)
            {
                tell_of_end(controller, &known, *ended_as, request_id);
            }
            Ok(replaced.into())
        }
        Err(error) => Err(controller.rooms.explain(room, error).await.into()),
    }
}

fn note(trail: &Trail, replaced: &Replaced) {
    let &Replaced { by, serving_counter, completed, abandoned, again, .. } = replaced;
    let before = serving_counter.saturating_sub(signed(by));
    let ended = json!({
        "serving_counter": serving_counter, "completed": completed, "abandoned": abandoned,
    });
    trail.change(&json!({ "serving_counter": before }), &ended);
    if again {
        trail.repeats();
    }
}

fn signed(by: u64) -> i64 {
    i64::try_from(by).unwrap_or(i64::MAX)
}

// === impl ExitsReported ===

impl From<Replaced> for ExitsReported {
    fn from(replaced: Replaced) -> Self {
        let Replaced { completed, abandoned, active, awaited, by, serving_counter, again, .. } =
            replaced;
        Self {
            updated: completed + abandoned,
            completed,
            abandoned,
            incremented_by: by,
            serving_counter,
            active,
            awaited,
            repeated: again,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[test]
    fn a_report_that_comes_again_is_not_noted_as_a_second_move() {
        for again in [false, true] {
            let replaced = json!({
                "reset_epoch": 1, "completed": 2, "abandoned": 0, "active": 3, "awaited": 0, "by": 2,
                "serving_counter": 9, "again": again,
            });
            let trail = Trail::default();
            note(&trail, &serde_json::from_value(replaced).unwrap());
            let [noted] = &trail.noted()[..] else { panic!() };
            assert_eq!(noted.is_to_be_told(StatusCode::OK), !again);
            assert_eq!(noted.before["serving_counter"], 7);
        }
    }
}
