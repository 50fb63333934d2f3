//! `GET /v1/rooms/{room}/history`

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use vestibule_domain::{ledger::Step, schedule::moment};
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path, Query},
};

use crate::{
    api_types::{History, HistoryStep, csv},
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// What the history tells when it is not asked for a time.
const DEFAULT_SECONDS: u64 = 60 * 60;

/// From when to when.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
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
    /// How long the stretches of time are: `1m`, `5m`, `1h` or `1d`, in UTC. Minutes are kept for two days, and then told
    /// by five: see `seconds`.
    #[serde(default)]
    step: HistoryStep,
    /// `json` or `csv`; as `Accept` says if left out.
    #[serde(default)]
    #[param(inline)]
    format: Option<Format>,
}

/// In which form the history is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// As JSON.
    Json,
    /// As a table: a row for the room, and one for each region.
    Csv,
}

/// Tells who came, waited, entered, left and was turned away, and how long they waited, by minute and region.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/history", tag = "rooms",
    params(RoomPath, Span),
    responses((status = 200, description = "The minutes with traffic", content(
            (History = "application/json"),
            (String = "text/csv", example = "time,seconds,region,arrivals,admitted,waiting_max,inside_max,…"),
        )),
        InvalidRequest, NoSuchRoom, Refusals)
)]
pub(crate) async fn get_history(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
    Query(span): Query<Span>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let now = controller.rooms.read(&room).await?.now_seconds();
    let span_told = span.minutes(now)?;
    let (from, to) = History::read_span(span_told);
    let problem = |error| problem_of(&error);
    let traffic = controller.store.history(&room, from, to).await.map_err(problem)?;
    let ledger = controller.store.ledger(&room, from, to).await.map_err(problem)?;
    let history = History::new(room, (span.step, span_told), traffic, ledger);
    Ok(match span.format.unwrap_or_else(|| Format::accepted(&headers)) {
        Format::Json => Json(history).into_response(),
        Format::Csv => {
            ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], csv(&history)).into_response()
        }
    })
}

// === impl Format ===

impl Format {
    /// What the `Accept` header asks for: a table only if it names one, and not JSON before it.
    fn accepted(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let mut types = accept
            .unwrap_or_default()
            .split(',')
            .map(|one| one.split(';').next().unwrap_or_default().trim());
        match types.find(|one| matches!(*one, "application/json" | "text/csv")) {
            Some("text/csv") => Self::Csv,
            _ => Self::Json,
        }
    }
}

// === impl Span ===

impl Span {
    /// The first and the last minute since 1970, the first one that of a whole step.
    fn minutes(self, now: u64) -> Result<(u64, u64), Problem> {
        let to = self.to.unwrap_or(now);
        let from = self.from.unwrap_or(to.saturating_sub(DEFAULT_SECONDS));
        if from > to {
            let problem = Problem::new(ProblemType::InvalidRequest);
            return Err(problem.field("from", "must not be after `to`"));
        }
        let (first, step) = (from / 60, Step::from(self.step).minutes());
        Ok((first - first % step, to / 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(from: Option<u64>, to: Option<u64>) -> Option<(u64, u64)> {
        stepped(from, to, HistoryStep::Minute)
    }

    fn stepped(from: Option<u64>, to: Option<u64>, step: HistoryStep) -> Option<(u64, u64)> {
        Span { from, to, step, format: None }.minutes(7_200).ok()
    }

    #[test]
    fn a_longer_step_begins_with_a_whole_one() {
        let from = |step| stepped(Some(95 * 60), Some(7_200), step);
        assert_eq!(from(HistoryStep::FiveMinutes), Some((95, 120)));
        assert_eq!(from(HistoryStep::Hour), Some((60, 120)));
        assert_eq!(from(HistoryStep::Day), Some((0, 120)));
    }

    #[test]
    fn a_table_is_told_to_whoever_asks_for_one() {
        let accepted = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            Format::accepted(&headers)
        };
        for csv in ["text/csv", "text/csv;q=0.9, */*", "text/html, text/csv, application/json"] {
            assert_eq!(accepted(csv), Format::Csv, "{csv}");
        }
        for json in ["*/*", "", "application/json, text/csv", "text/plain"] {
            assert_eq!(accepted(json), Format::Json, "{json}");
        }
        assert_eq!(Format::accepted(&HeaderMap::new()), Format::Json);
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
