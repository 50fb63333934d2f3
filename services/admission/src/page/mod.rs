//! The waiting page over HTTP: in the place of the page that was wanted, or at its own address; as
//! HTML for people, and as JSON for the page's own script. What it says is made by `vestibule-page`;
//! where the visitor stands, by a flow. This module puts the two together and sends the result.

mod address;
mod busy;
mod challenge;
mod language;
mod live;
mod rendered;
mod view;

use std::sync::Arc;

use axum::{
    http::{HeaderMap, HeaderName, StatusCode},
    response::Response,
};
use vestibule_page::{CustomPage, PageState, PageView, render};
use vestibule_site::CookieKind;

use self::view::PageViewBuilder;
pub(crate) use self::{
    address::{Address, NO_SEAT, RETURN},
    busy::{busy, limited, without_room, without_visitor},
    live::{LiveStreams, Watcher},
};
use crate::{
    caches::{BrandingCache, RoomBranding},
    extractors::{turn_of_page, wants_page_json},
    flows::{Flows, RoomContext},
    responses::VisitorReply,
};

/// Header in which the page's script says which state the page already shows.
const SHOWN: HeaderName = HeaderName::from_static("vestibule-shown");

/// Makes the waiting pages of all rooms.
#[derive(Debug)]
pub(crate) struct Pages {
    flows: Arc<Flows>,
    /// Operators' own pages and logos.
    pub(crate) brandings: BrandingCache,
    /// The pages that get live updates.
    pub(crate) live: LiveStreams,
}

// === impl Pages ===

impl Pages {
    /// At most `max_live_updates` pages get live updates at a time.
    pub(crate) fn new(flows: Arc<Flows>, max_live_updates: usize) -> Self {
        let live = LiveStreams::new(max_live_updates);
        Self { flows, brandings: BrandingCache::default(), live }
    }

    /// The page in the place of the page at `wanted`, with every header. The status is that of the
    /// page; a gateway may need another one.
    pub(crate) async fn respond_in_place(
        &self,
        reply: VisitorReply<'_>,
        headers: &HeaderMap,
        wanted: &str,
    ) -> Response {
        let address = Address::in_place(&self.flows.public_url, reply.room, headers, wanted);
        self.respond(reply, headers, &address).await
    }

    /// The page at `address` for the visitor of `reply`.
    pub(crate) async fn respond(
        &self,
        reply: VisitorReply<'_>,
        headers: &HeaderMap,
        address: &Address,
    ) -> Response {
        let VisitorReply { room, presented, response } = reply;
        let before = presented.value();
        let counts_down =
            headers.get(SHOWN).is_some_and(|shown| shown == PageState::YourTurn.name());
        let window = self.flows.claim_window(room, response, before.as_ref(), counts_down).await;
        let branding = self.brandings.get(&room.snapshot.room, &room.binding);
        let is_script = wants_page_json(headers);
        // A visitor whose turn it is asks to enter by requesting the site itself.
        let has_claimed = address.is_in_place && !is_script;
        let logo = branding.logo.as_ref();
        let turn = turn_of_page(headers, &room.snapshot.settings);
        let view =
            PageViewBuilder { room, response, before, address, logo, window, has_claimed, turn }
                .build();
        let mut page =
            if is_script { rendered::json(&view) } else { self.html(room, &branding, &view) };
        if address.language_is_chosen {
            language::remember(address.language, room, page.headers_mut());
        }
        write_cookies(reply, page.headers_mut());
        page
    }

    /// The operator's own page if there is one that works, else the default one.
    fn html(&self, room: &RoomContext, branding: &RoomBranding, view: &PageView) -> Response {
        let custom = branding.page.as_ref().filter(|_| CustomPage::is_for(view));
        let own = custom.and_then(|page| match page.render(view) {
            Ok(rendered) => Some(rendered),
            Err(problem) => {
                self.brandings.failed(&room.snapshot.room, &problem);
                None
            }
        });
        let waits = view.state.is_in_line() || matches!(view.state, PageState::TurnedAway { .. });
        let status = StatusCode::from_u16(room.binding.queueing_status_code).ok();
        let status = status.filter(|_| waits).unwrap_or(StatusCode::OK);
        rendered::html(own.or_else(|| render(view).ok()), status)
    }
}

/// Writes the ticket into the browser's cookie, even if a gateway passed it on in a header. Also writes
/// the token, for gateways that verify it by themselves.
pub(crate) fn write_cookies(reply: VisitorReply<'_>, headers: &mut HeaderMap) {
    let transport = reply.presented.transport.to_browser();
    reply.sealed_ticket().write(headers, transport, reply.cookies());
    let status = &reply.response.status;
    if reply.room.binding.access_token_cookie
        && let Some(token) = &status.access_token
    {
        let age = status.expires_in.unwrap_or(0);
        reply.cookies().set(headers, CookieKind::Token, token, age);
    }
}
