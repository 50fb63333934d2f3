//! The visitor's ticket on its way out. It is sealed here, once, and only if it has changed.

use axum::http::{HeaderMap, HeaderValue};

use crate::{
    extractors::{Cookies, PresentedTicket, TicketTransport},
    flows::{CookieChange, VisitorResponse},
};

/// A ticket as it is sent.
#[derive(Debug)]
pub(crate) enum SealedTicket {
    /// This one.
    Send(HeaderValue),
    /// The browser's cookie is removed.
    Remove,
    /// Nothing is sent: the visitor keeps what it has, if anything.
    None,
}

// === impl SealedTicket ===

impl SealedTicket {
    /// The ticket of `response`, to a visitor who presented `presented`.
    pub(crate) fn new(presented: &PresentedTicket, response: &VisitorResponse) -> Self {
        let seal = |ticket| {
            // It is base64url, which can always be sent.
            let sealed = HeaderValue::try_from(response.ciphers.tickets.seal(ticket));
            sealed.map_or(Self::None, Self::Send)
        };
        match &response.cookie {
            CookieChange::Set(ticket) => seal(ticket),
            CookieChange::Keep(ticket) => {
                let sealer = &response.ciphers.tickets;
                let sent = presented.sent().filter(|sent| sealer.is_current(sent.as_bytes()));
                sent.map_or_else(|| seal(ticket), |sent| Self::Send(sent.clone()))
            }
            CookieChange::End(ticket) if presented.transport == TicketTransport::Header => {
                seal(ticket)
            }
            CookieChange::End(_) | CookieChange::Remove => Self::Remove,
            CookieChange::None => Self::None,
        }
    }

    /// The ticket, if one is sent.
    pub(crate) fn value(&self) -> Option<&HeaderValue> {
        match self {
            Self::Send(ticket) => Some(ticket),
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
            Self::Send(ticket) => transport.send(headers, cookies, ticket),
            Self::Remove => transport.remove(headers, cookies),
            Self::None => {}
        }
    }
}
