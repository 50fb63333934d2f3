//! Which form of an answer a request asks for, by its `Accept`.

use axum::http::{HeaderMap, header::ACCEPT};
use vestibule_domain::RoomSettings;
use vestibule_page::PAGE_JSON_TYPE;

/// Whether a client asks for JSON and nothing else, as apps do.
#[must_use]
pub(crate) fn wants_json(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept.as_bytes().trim_ascii() == b"application/json")
}

/// Whether the request asks for the form of Cloudflare's waiting rooms, in a room that offers it: by
/// exactly `Accept: application/json`.
#[must_use]
pub(crate) fn wants_cloudflares_form(settings: &RoomSettings, headers: &HeaderMap) -> bool {
    settings.json_response_enabled && wants_json(headers)
}

/// Whether a person is to read the answer: the request is a browser's, or the page's own script's.
#[must_use]
pub(crate) fn is_for_people(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    wants_page_json(headers) || accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Whether the waiting page's own script asks.
#[must_use]
pub(crate) fn wants_page_json(headers: &HeaderMap) -> bool {
    page_type(headers).is_some()
}

/// What the waiting page's script adds to the type that it accepts: names and values. `Accept` is the one header
/// that every gateway passes on.
pub(super) fn page_parameters(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let parameters = page_type(headers).unwrap_or_default().split(';');
    parameters.filter_map(|parameter| parameter.trim().split_once('='))
}

/// All of that; `None`: somebody else asks.
fn page_type(headers: &HeaderMap) -> Option<&str> {
    let accept = headers.get(ACCEPT)?.to_str().ok()?;
    let (media_type, parameter) = accept.split_once(';').unwrap_or((accept, ""));
    (media_type == PAGE_JSON_TYPE).then_some(parameter)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_this_very_accept_asks_for_it() {
        let mut settings = RoomSettings::default();
        let asked = |settings: &RoomSettings, accept: &'static str| {
            let headers = [(ACCEPT, HeaderValue::from_static(accept))];
            wants_cloudflares_form(settings, &headers.into_iter().collect())
        };
        assert!(!asked(&settings, "application/json"), "the room does not offer it");
        settings.json_response_enabled = true;
        assert!(asked(&settings, "application/json"));
        assert!(!asked(&settings, "application/json, text/html") && !asked(&settings, "*/*"));
    }
}
