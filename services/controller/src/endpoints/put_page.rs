//! `PUT /v1/rooms/{room}/page`

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use vestibule_domain::schedule::RoomConfig;
use vestibule_page::{CustomPage, MAX_TEMPLATE};
use vestibule_runtime::{Problem, ProblemType, extract::Path};

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals},
    extractors::{RoomPath, Upload},
    rooms::Rollout,
    state::Controller,
};

/// Gives a room a waiting page of its own.
///
/// A Mustache template with the variables of Cloudflare's waiting rooms, at most 1 MiB; a page made
/// for one works as it is. It is read and tried in every state before it is taken: an error names
/// the line. Shown to those who wait or are turned away; for the turn and what comes after it there
/// is the default page. See `GET /v1/rooms/{room}/preview`.
#[utoipa::path(
    put, path = "/v1/rooms/{room}/page", tag = "pages",
    params(RoomPath),
    request_body(content = String, content_type = "text/html", description = "The template"),
    responses(
        (status = 204, description = "Taken: new visits see it"),
        BodyRefusals, Busy, InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn put_page(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    request: Request,
) -> Result<(StatusCode, Rollout), Problem> {
    let upload = Upload::read(request, MAX_TEMPLATE).await?;
    let html = String::from_utf8(upload.bytes.to_vec())
        .map_err(|_| invalid().detail("the page is not in UTF-8"))?;
    CustomPage::check(&html).map_err(|problems| {
        let name_one = |all: Problem, problem: vestibule_page::TemplateProblem| {
            all.field(format!("line {}", problem.line), problem.reason)
        };
        problems.into_iter().fold(invalid(), name_one)
    })?;
    controller.rooms.require_whole_keyspace().await?;
    let change = |config: &mut RoomConfig| {
        config.binding.branding.html = Some(html.clone());
        Ok(())
    };
    let ((), rollout) = controller.configs.change(&caller, &trail, &room, change).await?;
    Ok((StatusCode::NO_CONTENT, rollout))
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest)
}
