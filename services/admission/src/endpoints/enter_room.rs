//! `POST /room/{room}/enter`: the button of the waiting page, where no gateway would claim.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, State},
    http::{
        Extensions, HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{CACHE_CONTROL, LOCATION},
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};

use crate::{
    extractors::{self, Asked, Initiator, RoomPath, VisitorRequest},
    flows::{FlowError, Sender, Status},
    page::{self, Address, NO_SEAT},
    responses::VisitorReply,
    state::Admission,
};

/// Enter from the waiting page
///
/// The form of the page, where the wanted page has no authorizer that would let the visitor in, or
/// where there is none: claims the seat, hands over the cookies, and leads to the wanted page; back
/// to the waiting page if it is not the visitor's turn, or no seat is free. Only forms of the page
/// itself may be sent here.
#[utoipa::path(
    post, path = "/room/{room}/enter", operation_id = "enter_room", tag = "page",
    params(
        RoomPath,
        ("return" = Option<String>, Query, description = "As for the page"),
    ),
    responses(
        (status = 303, description = "To the wanted page, or back to the waiting page"),
        (status = 400, description = "Sent by a page of another origin, or the name is not a room's", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "The session is bound to a key, and there is no good proof (`DPoP`) of it", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such room: a page that says so for browsers, a problem for others", content(
            (String = "text/html"), (Problem = "application/problem+json"),
        )),
        (status = 503, description = "Busy, or the store is away; see Retry-After. A browser may be shown a page that tries again by itself", content(
            (String = "text/html"), (Problem = "application/problem+json"),
        )),
    )
)]
pub(crate) async fn enter_room(
    State(admission): State<Arc<Admission>>,
    RawQuery(query): RawQuery,
    path: Result<Path<RoomPath>, Problem>,
    extensions: Extensions,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    let query = query.unwrap_or_default();
    let mut room = match extractors::room_at(flows, path).await {
        Ok(room) => room,
        Err(problem) => return page::without_room(problem, &headers, &query),
    };
    admission.clients.identify(&mut room, &extensions, &headers);
    let initiator = Initiator::of(&headers, &flows.public_url, &room.binding);
    if initiator != Initiator::Own {
        let refused = Problem::new(ProblemType::InvalidRequest);
        return Err(refused.detail("only the waiting page itself may send this form"));
    }
    let asked = Asked::of_us(flows, &Method::POST, uri.path());
    let request = VisitorRequest::read(flows, room, &headers, &asked, initiator).await?;
    let address = Address::direct(&flows.public_url, &request.room, &headers, &query);
    let solution = request.solution().by(Sender::Browser);
    let entered = flows.enter(&request.room, request.ticket.value(), solution).await;
    // Whoever has no place, and so has something to solve first, does that at the page.
    if matches!(entered, Err(FlowError::ChallengeRequired(_))) {
        return leads_to(&format!("../{}", address.here));
    }
    let entered = entered?;
    let target = match (entered.status.status, &address.wanted) {
        (Status::Admitted, Some(wanted)) => wanted.as_str().to_owned(),
        (Status::YourTurn, _) => format!("../{}", with(&address.here, NO_SEAT)),
        _ => format!("../{}", address.here),
    };
    let mut response = leads_to(&target)?;
    page::write_cookies(VisitorReply::new(&request, &entered), response.headers_mut());
    Ok(response)
}

fn leads_to(target: &str) -> Result<Response, Problem> {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(LOCATION, HeaderValue::from_str(target).map_err(|e| Problem::internal(&e))?);
    Ok(response)
}

fn with(here: &str, flag: &str) -> String {
    let joint = if here.contains('?') { '&' } else { '?' };
    format!("{here}{joint}{flag}")
}
