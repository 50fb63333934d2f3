//! Which language a visitor is answered in, and how the choice is remembered.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_LANGUAGE, COOKIE, SET_COOKIE},
};
use vestibule_page::Language;
use vestibule_site::cookie_pairs;

use crate::{extractors::cookies, flows::RoomContext};

const NAME: &str = "vestibule_lang";
/// How long a choice is remembered, in seconds: a year.
const AGE: u64 = 365 * 24 * 3600;

/// The language: as just `chosen`, as chosen before, as the browser wants it, as the room has it.
pub(super) fn choose(chosen: Option<&str>, headers: &HeaderMap, room: &RoomContext) -> Language {
    choose_or(chosen, headers, &room.binding.default_language)
}

/// The same without a room: `default` is its language.
pub(super) fn choose_or(chosen: Option<&str>, headers: &HeaderMap, default: &str) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let chosen: Vec<_> = chosen.into_iter().chain(remembered(headers)).collect();
    Language::negotiate(&chosen, accepted.unwrap_or_default(), default)
}

/// Has the browser remember a choice.
pub(super) fn remember(language: Language, room: &RoomContext, headers: &mut HeaderMap) {
    let attributes = room.binding.cookie.attributes(room.caller.https);
    let cookie = attributes.set_cookie(NAME, language.code(), AGE);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}

/// What [`choose`] reads of `headers`, copied: a value that is kept keeps all of the head in memory that it came in.
pub(super) fn without_the_rest(headers: &HeaderMap) -> HeaderMap {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(copied);
    let remembered = remembered(headers).and_then(Language::from_tag);
    let cookie = remembered.map(|language| format!("{NAME}={}", language.code()));
    let cookie = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok());
    let accepted = accepted.map(|accepted| (ACCEPT_LANGUAGE, accepted));
    accepted.into_iter().chain(cookie.map(|cookie| (COOKIE, cookie))).collect()
}

/// The same value in memory of its own.
pub(super) fn copied(value: &HeaderValue) -> Option<HeaderValue> {
    HeaderValue::from_bytes(value.as_bytes()).ok()
}

fn remembered(headers: &HeaderMap) -> Option<&str> {
    let mut pairs = cookie_pairs(cookies(headers));
    pairs.find(|(name, _)| *name == NAME).map(|(_, tag)| tag)
}
