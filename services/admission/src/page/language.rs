//! Which language a visitor is answered in, and how the choice is remembered.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_LANGUAGE, COOKIE, SET_COOKIE},
};
use vestibule_page::Language;

use crate::visitor::RoomContext;

const NAME: &str = "vestibule_lang";
/// How long a choice is remembered, in seconds: a year.
const AGE: u32 = 365 * 24 * 3600;

/// The language: as just `chosen`, as chosen before, as the browser wants it, as the room has it.
pub(super) fn choose(chosen: Option<&str>, headers: &HeaderMap, context: &RoomContext) -> Language {
    choose_or(chosen, headers, &context.binding.default_language)
}

/// The same where there is no room that has one: `default` instead.
pub(super) fn choose_or(chosen: Option<&str>, headers: &HeaderMap, default: &str) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let chosen: Vec<_> = chosen.into_iter().chain(remembered(headers)).collect();
    Language::negotiate(&chosen, accepted.unwrap_or_default(), default)
}

/// Has the browser remember a choice.
pub(super) fn remember(language: Language, context: &RoomContext, headers: &mut HeaderMap) {
    let attributes = context.binding.cookie.attributes(context.https);
    let cookie = format!("{NAME}={}; Max-Age={AGE}{attributes}", language.code());
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}

fn remembered(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(NAME)?.strip_prefix('='))
}
