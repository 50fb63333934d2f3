//! How a visitor carries its ticket: as a cookie (browsers) or as a header (apps). The answer goes
//! back the same way; someone who has no ticket yet is handed it both ways.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{COOKIE, SET_COOKIE},
};
use vestibule_domain::RoomId;

/// The header that carries tickets.
pub(crate) const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");

const COOKIE_PREFIX: &str = "vestibule_";
/// How long a browser keeps the cookie, in seconds: longer than any line.
const COOKIE_AGE: u32 = 7 * 24 * 3600;

/// The way a ticket travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// The client sent none yet.
    Unknown,
    /// In the header.
    Header,
    /// In the cookie.
    Cookie,
}

// === impl Carrier ===

impl Carrier {
    /// The ticket for `room` that a request carries, and how. The header goes first: whoever sends
    /// it means it.
    #[must_use]
    pub(crate) fn find<'a>(headers: &'a HeaderMap, room: &str) -> (Self, Option<&'a str>) {
        if let Some(ticket) = headers.get(TICKET).and_then(|value| value.to_str().ok()) {
            return (Self::Header, Some(ticket));
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).map(str::trim);
        let ticket = pairs.find_map(|pair| {
            pair.strip_prefix(COOKIE_PREFIX)?.strip_prefix(room)?.strip_prefix('=')
        });
        (if ticket.is_some() { Self::Cookie } else { Self::Unknown }, ticket)
    }

    /// Sends `ticket` back the way it came.
    pub(crate) fn send(self, headers: &mut HeaderMap, room: &RoomId, ticket: &str, secure: bool) {
        if self != Self::Cookie
            && let Ok(value) = HeaderValue::from_str(ticket)
        {
            headers.insert(TICKET, value);
        }
        if self != Self::Header {
            set_cookie(headers, room, ticket, COOKIE_AGE, secure);
        }
    }

    /// Takes the ticket from a browser that has left.
    pub(crate) fn take(self, headers: &mut HeaderMap, room: &RoomId, secure: bool) {
        if self != Self::Header {
            set_cookie(headers, room, "", 0, secure);
        }
    }
}

fn set_cookie(headers: &mut HeaderMap, room: &RoomId, ticket: &str, age: u32, secure: bool) {
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE_PREFIX}{room}={ticket}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
    );
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        headers.append(SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_header_goes_before_the_cookie_of_this_very_room() {
        let cookies = headers(&[(COOKIE, "a=b; vestibule_sale=S; vestibule_sale2=T")]);
        assert_eq!(Carrier::find(&cookies, "sale"), (Carrier::Cookie, Some("S")));
        assert_eq!(Carrier::find(&cookies, "sale2"), (Carrier::Cookie, Some("T")));
        assert_eq!(Carrier::find(&cookies, "sal"), (Carrier::Unknown, None));
        let both = headers(&[(COOKIE, "vestibule_sale=S"), (TICKET, "H")]);
        assert_eq!(Carrier::find(&both, "sale"), (Carrier::Header, Some("H")));
    }

    #[test]
    fn a_ticket_goes_back_the_way_it_came() {
        let room = RoomId::new("sale").unwrap();
        let sent = |carrier: Carrier| {
            let mut headers = HeaderMap::new();
            carrier.send(&mut headers, &room, "N", true);
            (headers.contains_key(TICKET), headers.contains_key(SET_COOKIE))
        };
        assert_eq!(sent(Carrier::Header), (true, false));
        assert_eq!(sent(Carrier::Cookie), (false, true));
        assert_eq!(sent(Carrier::Unknown), (true, true));
    }
}
