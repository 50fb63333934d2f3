//! The page for a newcomer who has to solve the room's challenge before it gets a place: always the default
//! page, since it needs its script.

use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use vestibule_domain::Enter;
use vestibule_page::{PageChallenge, PageState, PageView, render};

use super::{Address, Pages, language, rendered, view};
use crate::{challenges::Demand, extractors::wants_page_json, flows::RoomContext};

// === impl Pages ===

impl Pages {
    /// The page in the place of the page at `wanted`.
    pub(crate) fn challenge_in_place(
        &self,
        room: &RoomContext,
        headers: &HeaderMap,
        wanted: &str,
        demand: &Demand,
    ) -> Response {
        let address = Address::in_place(&self.flows.public_url, room, headers, wanted);
        self.challenge(room, headers, &address, demand)
    }

    /// The page at `address`.
    pub(crate) fn challenge(
        &self,
        room: &RoomContext,
        headers: &HeaderMap,
        address: &Address,
        demand: &Demand,
    ) -> Response {
        let branding = self.brandings.get(&room.snapshot.room, &room.binding);
        let frame = view::frame(room, address, branding.logo.as_ref());
        let view = PageView {
            room: room.snapshot.room.to_string(),
            challenge: Some(PageChallenge {
                provider: demand.provider,
                site_key: demand.site_key().map(str::to_owned),
                puzzle: demand.puzzle().and_then(|puzzle| serde_json::to_value(puzzle).ok()),
                was_refused: demand.refused.is_some(),
            }),
            is_automatic: room.snapshot.settings.enter == Enter::Automatic,
            ..PageView::without_visitor(PageState::Challenge, room.known.now_ms(), frame)
        }
        .with_words(&room.snapshot.settings, &room.binding);
        let mut page = if wants_page_json(headers) {
            rendered::json(&view)
        } else {
            let status = StatusCode::from_u16(room.binding.queueing_status_code);
            rendered::html(render(&view).ok(), status.unwrap_or(StatusCode::OK))
        };
        if address.language_is_chosen {
            language::remember(address.language, room, page.headers_mut());
        }
        page
    }
}
