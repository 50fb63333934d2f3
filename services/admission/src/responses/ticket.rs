//! The visitor's ticket on its way out. It is sealed here, once, and only if it has changed.

use std::borrow::Cow;

use axum::http::HeaderMap;

use crate::{
    extractors::{Cookies, PresentedTicket, TicketTransport},
    flows::{CookieChange, VisitorResponse},
};

/// A ticket as it is sent.
#[derive(Debug)]
pub(crate) enum SealedTicket<'a> {
    /// This text.
    Send(Cow<'a, str>),
    /// The browser's cookie is removed.
    Remove,
    /// Nothing is sent: the visitor keeps what it has, if anything.
    None,
}

// === impl SealedTicket ===

impl<'a> SealedTicket<'a> {
    /// The ticket of `response`, to a visitor who presented `presented`.
    pub(crate) fn new(presented: &'a PresentedTicket, response: &VisitorResponse) -> Self {
        let seal = |ticket| Self::Send(response.ciphers.tickets.seal(ticket).into());
        match &response.cookie {
            CookieChange::Set(ticket) => seal(ticket),
            CookieChange::Keep(ticket) => {
                presented.text().map_or_else(|| seal(ticket), |text| Self::Send(text.into()))
            }
            CookieChange::End(ticket) if presented.transport == TicketTransport::Header => {
                seal(ticket)
            }
            CookieChange::End(_) | CookieChange::Remove => Self::Remove,
            CookieChange::None => Self::None,
        }
    }

    /// Its text, if one is sent.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Send(text) => Some(text),
            Self::Remove | Self::None => None,
        }
    }

    /// Sends it by `transport`.
    pub(crate) fn write(
        &self,
        headers: &mut HeaderMap,
        transport: TicketTransport,
        cookies: Cookies<'_>,
    ) {
        match self {
            Self::Send(text) => transport.send(headers, cookies, text),
            Self::Remove => transport.remove(headers, cookies),
            Self::None => {}
        }
    }
}
