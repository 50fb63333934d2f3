//! How a ticket travels: in a cookie (browsers) or in a header (apps). The new ticket goes back the
//! same way; someone who sent none gets it both ways.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{COOKIE, SET_COOKIE},
};
use vestibule_domain::RoomId;
use vestibule_site::{CookieKind, SiteBinding};

/// The header that carries tickets.
pub(crate) const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");

/// How long a browser keeps the cookie, in seconds: longer than any line.
const COOKIE_AGE: u64 = 7 * 24 * 3600;

/// How many cookies of one room are tried. Opening one costs time.
const MOST_TICKETS: usize = 16;

/// The way a ticket travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TicketTransport {
    /// The client sent none yet.
    Unknown,
    /// In the header.
    Header,
    /// In the cookie.
    Cookie,
}

/// The cookies of one room, as a visitor of it gets them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies<'a> {
    /// The room.
    pub(crate) room: &'a RoomId,
    /// What its operator decided.
    pub(crate) binding: &'a SiteBinding,
    /// Whether the visitor came over https.
    pub(crate) https: bool,
}

// === impl TicketTransport ===

impl TicketTransport {
    /// What a request carries as tickets for the room of `cookies`, and how. The header goes before the cookie:
    /// browsers send cookies by themselves, headers are sent on purpose. Of cookies there may be several.
    #[must_use]
    pub(crate) fn find<'a>(headers: &'a HeaderMap, cookies: Cookies<'_>) -> (Self, Vec<&'a str>) {
        if let Some(ticket) = headers.get(TICKET).and_then(|value| value.to_str().ok()) {
            return (Self::Header, vec![ticket]);
        }
        let Cookies { room, binding, https } = cookies;
        let lines = || cookie_lines(headers);
        let values = binding.cookie.values(CookieKind::Ticket, room.as_str(), https, lines);
        let tickets: Vec<_> = values.take(MOST_TICKETS).collect();
        (if tickets.is_empty() { Self::Unknown } else { Self::Cookie }, tickets)
    }

    /// The ticket `text`, which came this way among `headers`, as it can be sent back.
    #[must_use]
    pub(crate) fn sent(self, headers: &HeaderMap, text: &str) -> Option<HeaderValue> {
        match self {
            Self::Header => headers.get(TICKET).cloned(),
            Self::Cookie | Self::Unknown => HeaderValue::from_str(text).ok(),
        }
    }

    /// Sends `ticket` back the way it came.
    pub(crate) fn send(self, headers: &mut HeaderMap, cookies: Cookies<'_>, ticket: &HeaderValue) {
        if self != Self::Cookie {
            headers.insert(TICKET, ticket.clone());
        }
        if self != Self::Header
            && let Ok(text) = ticket.to_str()
        {
            cookies.set(headers, CookieKind::Ticket, text, COOKIE_AGE);
        }
    }

    /// Removes the cookie of a browser.
    pub(crate) fn remove(self, headers: &mut HeaderMap, cookies: Cookies<'_>) {
        if self != Self::Header {
            cookies.set(headers, CookieKind::Ticket, "", 0);
        }
    }
}

// === impl Cookies ===

impl Cookies<'_> {
    /// Sets a cookie for `age` seconds; an age of 0 removes it.
    pub(crate) fn set(self, headers: &mut HeaderMap, kind: CookieKind, value: &str, age: u64) {
        let attributes = self.binding.cookie.attributes(self.https);
        let name = self.binding.cookie.name(kind, self.room.as_str(), self.https);
        if let Ok(value) = HeaderValue::try_from(attributes.set_cookie(name, value, age)) {
            headers.append(SET_COOKIE, value);
        }
    }
}

/// The `Cookie` headers of a request, as far as they are ASCII.
pub(crate) fn cookie_lines(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn room(name: &str) -> RoomId {
        RoomId::new(name).unwrap()
    }

    fn find<'a>(headers: &'a HeaderMap, name: &str) -> (TicketTransport, Vec<&'a str>) {
        let (room, binding) = (room(name), SiteBinding::default());
        TicketTransport::find(headers, Cookies { room: &room, binding: &binding, https: false })
    }

    #[test]
    fn the_header_goes_before_the_cookie_of_this_very_room() {
        let cookies = headers(&[(COOKIE, "a=b; vestibule_sale=S; vestibule_sale2=T")]);
        assert_eq!(find(&cookies, "sale"), (TicketTransport::Cookie, vec!["S"]));
        assert_eq!(find(&cookies, "sale2"), (TicketTransport::Cookie, vec!["T"]));
        assert_eq!(find(&cookies, "sal"), (TicketTransport::Unknown, vec![]));
        let both = headers(&[(COOKIE, "vestibule_sale=S"), (TICKET, "H")]);
        assert_eq!(find(&both, "sale"), (TicketTransport::Header, vec!["H"]));
    }

    #[test]
    fn the_cookie_that_only_the_host_can_set_goes_first_and_a_few_are_tried() {
        let both = headers(&[(COOKIE, "vestibule_sale=PLAIN; __Host-vestibule_sale=OWN")]);
        assert_eq!(find(&both, "sale"), (TicketTransport::Cookie, vec!["OWN", "PLAIN"]));
        let many: HeaderMap =
            (0..50).map(|_| (COOKIE, HeaderValue::from_static("vestibule_sale=A"))).collect();
        assert_eq!(find(&many, "sale").1.len(), MOST_TICKETS);
    }

    #[test]
    fn a_suffix_takes_the_place_of_the_room() {
        let mut binding = SiteBinding::default();
        binding.cookie.suffix = Some("x".into());
        let headers = headers(&[(COOKIE, "vestibule_sale=S; vestibule_x=X")]);
        let cookies = Cookies { room: &room("sale"), binding: &binding, https: false };
        assert_eq!(TicketTransport::find(&headers, cookies).1, ["X"]);
    }

    #[test]
    fn a_ticket_goes_back_the_way_it_came() {
        let (room, binding) = (room("sale"), SiteBinding::default());
        let sent = |transport: TicketTransport| {
            let mut headers = HeaderMap::new();
            let cookies = Cookies { room: &room, binding: &binding, https: true };
            transport.send(&mut headers, cookies, &HeaderValue::from_static("N"));
            let cookie = headers.get(SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
            (headers.contains_key(TICKET), cookie)
        };
        assert_eq!(sent(TicketTransport::Header), (true, None));
        let cookie =
            "__Host-vestibule_sale=N; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(sent(TicketTransport::Cookie), (false, Some(cookie.to_owned())));
        assert_eq!(sent(TicketTransport::Unknown), (true, Some(cookie.to_owned())));
    }
}
