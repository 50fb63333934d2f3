//! What a room was called and is called no more. Its tokens call it by its earlier event ids until they end, so that
//! meanwhile nothing else may be called so; who else has an event id now is not here. And browsers hold tickets in cookies
//! of earlier names.

use serde::{Deserialize, Serialize};
use vestibule_site::CookieAttributes;

use super::RoomConfig;
use crate::settings::MAX_SECONDS;

/// The most event ids of a room that are kept for it.
pub const MAX_GIVEN_UP: usize = 50;
/// The most earlier names of cookies that are read.
const MOST_COOKIES: usize = 8;
/// For so many seconds browsers keep a room's cookie, from when it was set last: longer than any line.
pub const COOKIE_SECONDS: u64 = 7 * 24 * 3600;
/// For how many seconds services may still sign with an event id after it was given up.
const SETTLES: u64 = 60;

/// What a room has to do with tokens of before a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GivenUp {
    /// The event ids that it had, in the order in which it gave them up.
    event_ids: Vec<GivenUpId>,
    /// When the last AWS-style token of before the last reset ends, unix seconds.
    tokens_until: u64,
    /// The cookies that it had, the newest last.
    cookies: Vec<GivenUpCookie>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GivenUpId {
    event_id: String,
    /// When, unix seconds.
    at: u64,
}

/// The room's cookies, as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GivenUpCookie {
    cookie: CookieAttributes,
    /// When, unix seconds.
    at: u64,
}

// === impl GivenUp ===

impl GivenUp {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether more were given up than can be kept.
    #[must_use]
    pub fn are_too_many(&self) -> bool {
        self.event_ids.len() > MAX_GIVEN_UP
    }

    /// The cookies in which browsers may still hold tickets, those of last before others.
    pub fn cookies(&self) -> impl Iterator<Item = &CookieAttributes> {
        self.cookies.iter().rev().map(|known| &known.cookie)
    }

    /// Notes at `now`, unix seconds, that cookies that were as in `was` are called as in `cookie`.
    fn note_cookies(&mut self, was: &CookieAttributes, cookie: &CookieAttributes, now: u64) {
        self.cookies.retain(|known| {
            let is_over = known.at + COOKIE_SECONDS + SETTLES <= now;
            !is_over && !known.cookie.has_names_of(was) && !known.cookie.has_names_of(cookie)
        });
        self.cookies.push(GivenUpCookie { cookie: was.clone(), at: now });
        let most = self.cookies.len().saturating_sub(MOST_COOKIES);
        self.cookies.drain(..most);
    }

    /// Notes that AWS-style tokens of before a reset are valid until then, unix seconds. Returns whether that is news.
    pub fn note_reset(&mut self, tokens_until: u64) -> bool {
        let is_news = tokens_until > self.tokens_until;
        self.tokens_until = tokens_until.max(self.tokens_until);
        is_news
    }

    /// Until when (unix seconds) nothing else may be called `event_id`; `None`: it is free at `now`. `tokens_until`: when
    /// the room's last AWS-style token ends, as far as is known since its last reset.
    #[must_use]
    pub fn reserved_until(&self, event_id: &str, tokens_until: u64, now: u64) -> Option<u64> {
        let given_up = self.event_ids.iter().find(|known| known.event_id == event_id)?;
        let until = tokens_until.max(self.tokens_until).min(given_up.at + MAX_SECONDS + SETTLES);
        (until > now).then_some(until)
    }
}

// === impl RoomConfig ===

impl RoomConfig {
    /// Notes at `now`, unix seconds, which event id and which names of cookies it had `before` and has no more.
    pub fn note_given_up(&mut self, before: &Self, now: u64) {
        let (cookie, cookie_was) = (&self.binding.cookie, &before.binding.cookie);
        if before.version > 0 && !cookie.has_names_of(cookie_was) {
            self.given_up = before.given_up.clone();
            self.given_up.note_cookies(cookie_was, cookie, now);
        }
        let (event_id, was) = (&self.settings.aws_event_id, &before.settings.aws_event_id);
        if event_id == was {
            return;
        }
        self.given_up.event_ids.clone_from(&before.given_up.event_ids);
        self.given_up.tokens_until = before.given_up.tokens_until;
        let ids = &mut self.given_up.event_ids;
        ids.retain(|known| {
            let is_over = known.at + MAX_SECONDS + SETTLES <= now;
            !is_over
                && Some(&known.event_id) != was.as_ref()
                && Some(&known.event_id) != event_id.as_ref()
        });
        ids.extend(was.clone().map(|event_id| GivenUpId { event_id, at: now }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_900_000_000;

    fn called(config: &RoomConfig, event_id: Option<&str>, now: u64) -> RoomConfig {
        let mut after = config.clone();
        after.settings.aws_event_id = event_id.map(Into::into);
        after.note_given_up(config, now);
        after
    }

    #[test]
    fn what_was_given_up_is_kept_until_the_last_token_has_ended() {
        let sale = called(&RoomConfig::default(), Some("a"), NOW);
        assert!(sale.given_up.is_empty());
        let sale = called(&sale, None, NOW);
        let until = |tokens, now| sale.given_up.reserved_until("a", tokens, now);
        assert_eq!(until(0, NOW), None, "no token was made");
        assert_eq!(until(NOW + 5, NOW), Some(NOW + 5));
        assert_eq!(until(NOW + 5, NOW + 5), None);
        let week = NOW + MAX_SECONDS + SETTLES;
        assert_eq!(until(NOW * 2, NOW), Some(week), "tokens of later have another name");
        assert_eq!(sale.given_up.reserved_until("b", NOW + 5, NOW), None);
    }

    #[test]
    fn tokens_of_before_a_reset_count() {
        let named = called(&RoomConfig::default(), Some("a"), NOW);
        let mut sale = called(&named, Some("b"), NOW);
        assert!(sale.given_up.note_reset(NOW + 9));
        assert!(!sale.given_up.note_reset(NOW + 8));
        assert_eq!(sale.given_up.reserved_until("a", 0, NOW), Some(NOW + 9));
    }

    #[test]
    fn cookies_of_earlier_names_are_read_as_long_as_browsers_keep_them() {
        let suffixed = |config: &RoomConfig, suffix: Option<&str>, now| {
            let mut after = RoomConfig { version: config.version + 1, ..config.clone() };
            after.binding.cookie.suffix = suffix.map(Into::into);
            after.note_given_up(config, now);
            after
        };
        let read = |config: &RoomConfig| {
            let cookies = config.given_up.cookies().map(|cookie| cookie.suffix.clone());
            cookies.map(Option::unwrap_or_default).collect::<Vec<_>>()
        };
        let sale = suffixed(&RoomConfig::default(), Some("a"), NOW);
        assert_eq!(read(&sale), [""; 0], "a room that is made has had no cookies");
        let sale = suffixed(&suffixed(&sale, Some("b"), NOW), Some("c"), NOW + 1);
        assert_eq!(read(&sale), ["b", "a"]);
        assert_eq!(read(&called(&sale, Some("x"), NOW)), ["b", "a"], "another change keeps them");
        assert_eq!(read(&suffixed(&sale, Some("a"), NOW + 1)), ["c", "b"]);
        assert_eq!(read(&suffixed(&sale, None, NOW + COOKIE_SECONDS + SETTLES)), ["c", "b"]);
        assert_eq!(read(&suffixed(&sale, None, NOW + 1 + COOKIE_SECONDS + SETTLES)), ["c"]);
        let many = (0..20).fold(sale, |sale, n| suffixed(&sale, Some(&n.to_string()), NOW));
        assert_eq!(read(&many).len(), MOST_COOKIES);
    }

    #[test]
    fn what_is_taken_back_or_long_gone_is_not_kept() {
        let mut sale = RoomConfig::default();
        for event_id in [Some("a"), Some("b"), Some("a"), None, Some("c")] {
            sale = called(&sale, event_id, NOW);
        }
        let kept = |sale: &RoomConfig| {
            let ids = sale.given_up.event_ids.iter().map(|known| known.event_id.clone());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(kept(&sale), ["b", "a"]);
        let later = called(&sale, None, NOW + MAX_SECONDS + SETTLES);
        assert_eq!(kept(&later), ["c"]);
        assert!(!later.given_up.are_too_many());
        let many =
            (0..=MAX_GIVEN_UP + 1).fold(sale, |sale, n| called(&sale, Some(&n.to_string()), NOW));
        assert!(many.given_up.are_too_many());
    }
}
