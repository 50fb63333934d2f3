//! The event ids that a room has given up. Its tokens call it by them until they end, so that meanwhile nothing else may
//! be called so. Who else has an event id now is not here.

use serde::{Deserialize, Serialize};

use super::RoomConfig;
use crate::settings::MAX_SECONDS;

/// The most event ids of a room that are kept for it.
pub const MAX_GIVEN_UP: usize = 50;
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
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GivenUpId {
    event_id: String,
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
    /// Notes at `now`, unix seconds, which event id it had `before` and has no more.
    pub fn note_given_up(&mut self, before: &Self, now: u64) {
        let (event_id, was) = (&self.settings.aws_event_id, &before.settings.aws_event_id);
        if event_id == was {
            return;
        }
        self.given_up = before.given_up.clone();
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
