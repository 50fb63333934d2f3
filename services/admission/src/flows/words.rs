//! What a visitor is told in words: why the room lets nobody in, and what the operator says. The page has more, see
//! `vestibule_page`.

use vestibule_page::{Language, PageText};

use super::{RoomContext, Status, visitor_status::Reason};

// === impl RoomContext ===

impl RoomContext {
    /// Why it lets nobody in, for somebody who is told `status`.
    pub(super) fn closed_reason(&self, status: Status) -> Option<Reason> {
        match status {
            Status::Closed if self.snapshot.is_sold_out() => Some(Reason::SoldOut),
            Status::Closed if self.snapshot.rejects() => Some(Reason::TurnedAway),
            _ => None,
        }
    }

    /// What the operator says to somebody who is told `status`.
    pub(super) fn message(&self, status: Status) -> Option<String> {
        let settings = &self.snapshot.settings;
        let said = match status {
            Status::Waiting | Status::YourTurn => settings.message.as_ref(),
            Status::Closed if self.snapshot.rejects() => settings.closed_message.as_ref(),
            Status::Admitted | Status::Expired | Status::Closed => None,
        }?;
        let accepted = self.caller.languages.as_ref().and_then(|value| value.to_str().ok());
        let default = &self.binding.default_language;
        let language = Language::negotiate(&[], accepted.unwrap_or_default(), default);
        PageText::choose(Some(said), language, default).map(|said| said.text)
    }
}
