//! `POST /room/{room}/enter`: the button of the waiting page, where no gateway would claim.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, HOST, LOCATION, ORIGIN},
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};

use crate::{
    extractors::{self, RoomPath, VisitorRequest},
    flows::Status,
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
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    let query = query.unwrap_or_default();
    let room = match path.and_then(|Path(path)| extractors::room(flows, path.room.as_str())) {
        Ok(room) => room,
        Err(problem) => return page::without_room(problem, flows, &headers, &query),
    };
    require_same_origin(&headers, &flows.public_url)?;
    let request = VisitorRequest::read(flows, room, &headers).await?;
    let address = Address::direct(&flows.public_url, &request.room, &headers, &query);
    let entered = flows.enter(&request.room, request.ticket.value()).await?;
    let target = match (entered.status.status, &address.wanted) {
        (Status::Admitted, Some(wanted)) => wanted.as_str().to_owned(),
        (Status::YourTurn, _) => format!("../{}", with(&address.here, NO_SEAT)),
        _ => format!("../{}", address.here),
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(LOCATION, HeaderValue::from_str(&target).map_err(|e| Problem::internal(&e))?);
    page::write_cookies(VisitorReply::new(&request, &entered), headers);
    Ok(response)
}

fn with(here: &str, flag: &str) -> String {
    let joint = if here.contains('?') { '&' } else { '?' };
    format!("{here}{joint}{flag}")
}

/// Browsers say where a form comes from, in one of two ways.
fn require_same_origin(headers: &HeaderMap, public_url: &str) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_same = match (text("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            let own = text(HOST.as_str()).is_some_and(|own| own.eq_ignore_ascii_case(host));
            (own && !host.is_empty())
                || public_url == origin
                || public_url.starts_with(&format!("{origin}/"))
        }
        (None, None) => false,
    };
    if is_same {
        return Ok(());
    }
    Err(Problem::new(ProblemType::InvalidRequest)
        .detail("only the waiting page itself may send this form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(pairs: &[(&'static str, &'static str)]) -> bool {
        let headers: HeaderMap = pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        require_same_origin(&headers, "https://wait.example/x").is_ok()
    }

    #[test]
    fn only_forms_of_the_page_itself_are_taken() {
        assert!(allowed(&[("sec-fetch-site", "same-origin")]));
        assert!(allowed(&[("origin", "http://h:8080"), ("host", "H:8080")]));
        assert!(allowed(&[("origin", "https://wait.example"), ("host", "inside:1")]));
        for foreign in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "cross-site"), ("origin", "http://h"), ("host", "h")],
            &[("origin", "http://evil.example"), ("host", "h")],
            &[("origin", "https://wait.exam"), ("host", "h")],
            &[("origin", "null"), ("host", "h")],
            &[("origin", "null"), ("host", "")],
            &[],
        ] {
            assert!(!allowed(foreign), "{foreign:?}");
        }
    }
}
