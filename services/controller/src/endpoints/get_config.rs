//! `GET /v1/config`

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderMap,
        header::{ACCEPT, CONTENT_TYPE, VARY},
    },
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::{LabelSelector, RoomId};
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Query},
};

use crate::{
    access::Caller,
    api_types::{Declaration, DeclarationSchema, DeclaredRoom, Detail},
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    state::Controller,
    yaml,
};

/// Which rooms, and how much of them.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConfigFilter {
    /// Only rooms of these names, separated by commas.
    #[param(example = "on-sale,vip")]
    rooms: Option<String>,
    /// Only rooms that have these labels, separated by commas.
    #[param(example = "managed-by=git")]
    labels: Option<String>,
    /// Also what has its default.
    #[param(default = false)]
    full: bool,
}

/// Writes the rooms that the token is for as one document, with their events and pages.
///
/// What `PUT /v1/config` reads: putting it back changes nothing. As YAML to who accepts `application/yaml`.
#[utoipa::path(
    get, path = "/v1/config", tag = "config", params(ConfigFilter),
    responses(
        (status = 200, description = "The rooms", content(
            (DeclarationSchema = "application/json"), (String = "application/yaml"))),
        InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn get_config(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    headers: HeaderMap,
    Query(filter): Query<ConfigFilter>,
) -> Result<Response, Problem> {
    let selector = filter.labels.as_deref().map(selected).transpose()?;
    let names = filter.rooms.as_deref().map(|names| names.split(',').collect::<Vec<_>>());
    let configs = controller.rooms.read_configs().await.map_err(|error| problem_of(&error))?;
    let own = configs.into_iter().filter(|(room, _)| caller.rooms.covers(room.as_str()));
    let mut rooms = Declaration {
        rooms: own.map(|(room, config)| (room, DeclaredRoom::of(&config))).collect(),
    };
    if let Some(missing) = names.iter().flatten().find(|name| !rooms.rooms.contains_key(**name)) {
        let detail = format!("there is no room `{missing}` that the token is for");
        return Err(Problem::new(ProblemType::RoomNotFound).detail(detail));
    }
    let is_named =
        |name: &RoomId| names.as_ref().is_none_or(|names| names.contains(&name.as_str()));
    let is_picked = |room: &DeclaredRoom| {
        selector.as_ref().is_none_or(|selector| selector.picks(&room.draft.settings.labels))
    };
    rooms.rooms.retain(|name, room| is_named(name) && is_picked(room));
    let document = rooms.document(if filter.full { Detail::Full } else { Detail::Brief });
    let wanted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !wanted.contains("yaml") {
        return Ok(([(VARY, "Accept")], Json(document)).into_response());
    }
    let text = yaml::write(&document).map_err(|error| Problem::internal(&error))?;
    Ok(([(VARY, "Accept"), (CONTENT_TYPE, "application/yaml")], text).into_response())
}

/// The labels of a parameter.
fn selected(text: &str) -> Result<LabelSelector, Problem> {
    let wrong = |error| {
        let error: vestibule_domain::LabelSelectorError = error;
        Problem::new(ProblemType::InvalidRequest).field("labels", error.to_string())
    };
    text.parse().map_err(wrong)
}
