//! `GET /v1/rooms/{room}/history`

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::schedule::moment;
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path, Query},
};

use crate::{
    api_types::History,
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// What the history tells when it is not asked for a time.
const DEFAULT_SECONDS: u64 = 60 * 60;

/// From when to when.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Span {
    /// The first moment, as unix seconds or RFC 3339; an hour before `to` if left out. The history
    /// reaches back 30 days.
    #[serde(default, with = "moment::option")]
    #[param(value_type = Option<String>, example = "2026-11-05T10:00:00Z")]
    from: Option<u64>,
    /// The last moment; now if left out.
    #[serde(default, with = "moment::option")]
    #[param(value_type = Option<String>, example = "1793865600")]
    to: Option<u64>,
}

/// Tells who arrived and how many entered, by minute and region.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/history", tag = "rooms",
    params(RoomPath, Span),
    responses((status = 200, description = "The minutes with traffic", body = History),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn get_history(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
    Query(span): Query<Span>,
) -> Result<Json<History>, Problem> {
    let now = controller.rooms.read(&room).await?.now_seconds();
    let (from, to) = span.minutes(now)?;
    let traffic = controller.store.history(&room, from, to).await;
    Ok(Json(History::new(room, traffic.map_err(|error| problem_of(&error))?)))
}

// === impl Span ===

impl Span {
    /// The first and the last minute since 1970.
    fn minutes(self, now: u64) -> Result<(u64, u64), Problem> {
        let to = self.to.unwrap_or(now);
        let from = self.from.unwrap_or(to.saturating_sub(DEFAULT_SECONDS));
        if from > to {
            let problem = Problem::new(ProblemType::InvalidRequest);
            return Err(problem.field("from", "must not be after `to`"));
        }
        Ok((from / 60, to / 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(from: Option<u64>, to: Option<u64>) -> Option<(u64, u64)> {
        Span { from, to }.minutes(7_200).ok()
    }

    #[test]
    fn the_last_hour_unless_asked_otherwise() {
        assert_eq!(minutes(None, None), Some((60, 120)));
        assert_eq!(minutes(None, Some(3_659)), Some((0, 60)));
        assert_eq!(minutes(Some(60), None), Some((1, 120)));
        assert_eq!(minutes(Some(60), Some(60)), Some((1, 1)));
        assert_eq!(minutes(Some(61), Some(60)), None);
        assert_eq!(minutes(Some(7_201), None), None, "from a future until now");
    }
}
