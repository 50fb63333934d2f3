//! A flow's answer as an HTTP response, and as headers of one.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};

use vestibule_traces::note;

use super::{SealedTicket, cloudflare};
use crate::{
    extractors::{Cookies, PresentedTicket, VisitorRequest},
    flows::{RoomContext, VisitorResponse},
};

/// Room for the headers of an answer, those of the layers included, so that the map never grows.
const HEADERS: usize = 12;

/// A flow's answer to the holder of a ticket, on its way out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorReply<'a> {
    /// The room.
    pub(crate) room: &'a RoomContext,
    /// The ticket that the visitor presented.
    pub(crate) presented: &'a PresentedTicket,
    /// The answer.
    pub(crate) response: &'a VisitorResponse,
}

// === impl VisitorReply ===

impl<'a> VisitorReply<'a> {
    /// The answer `response` to `request`.
    pub(crate) fn new(request: &'a VisitorRequest, response: &'a VisitorResponse) -> Self {
        note(|span| span.set("vestibule.status", response.status.status.name()));
        Self { room: &request.room, presented: &request.ticket, response }
    }

    /// The ticket as it is sent. Seals it, so call it once.
    pub(crate) fn sealed_ticket(self) -> SealedTicket {
        SealedTicket::new(self.presented, self.response)
    }

    /// Sends the ticket the way it came, or removes it.
    pub(crate) fn write_ticket(self, headers: &mut HeaderMap) {
        self.sealed_ticket().write(headers, self.presented.transport, self.cookies());
    }

    /// The same in one cookie, as gateways pass on one of an answer that lets pass. A former one stays until it ends, and
    /// gives way to the new one meanwhile.
    pub(crate) fn write_ticket_alone(self, headers: &mut HeaderMap) {
        let transport = self.presented.transport.as_it_is_called_now();
        self.sealed_ticket().write(headers, transport, self.cookies());
    }

    /// The cookies of the visitor's room.
    pub(crate) fn cookies(self) -> Cookies<'a> {
        let RoomContext { snapshot, binding, caller, .. } = self.room;
        Cookies { room: &snapshot.room, binding, https: caller.https }
    }

    /// In Cloudflare's form.
    pub(crate) fn in_cloudflares_form(self) -> Response {
        cloudflare::respond(self)
    }
}

impl IntoResponse for VisitorReply<'_> {
    fn into_response(self) -> Response {
        let mut json = Vec::with_capacity(512);
        if serde_json::to_writer(&mut json, &self.response.status).is_err() {
            // Only a map with other keys than texts, or a failing writer, cannot be written.
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        let mut response = Response::new(Body::from(json));
        let headers = response.headers_mut();
        headers.reserve(HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self.write_ticket(headers);
        response
    }
}
