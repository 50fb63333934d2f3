//! How a ticket travels: in a cookie (browsers) or in a header (apps). The new ticket goes back the
//! same way; someone who sent none gets it both ways.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{COOKIE, SET_COOKIE},
};
use vestibule_domain::{RoomId, schedule::COOKIE_SECONDS};
use vestibule_site::{CookieAttributes, CookieKind};

use crate::flows::BindingHandle;

/// The header that carries tickets.
pub(crate) const TICKET: HeaderName = HeaderName::from_static("vestibule-ticket");

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
    /// In a cookie that is called otherwise now: which of the former ones.
    FormerCookie(usize),
}

/// The cookies of one room, as a visitor of it gets them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies<'a> {
    /// The room.
    pub(crate) room: &'a RoomId,
    /// What its operator decided.
    pub(crate) binding: &'a BindingHandle,
    /// Whether the visitor came over https.
    pub(crate) https: bool,
}

// === impl TicketTransport ===

impl TicketTransport {
    /// What a request carries as tickets for the room of `cookies`, each with how it came. The header goes before the
    /// cookie: browsers send cookies by themselves, headers are sent on purpose. Of cookies there may be several: those of
    /// the names that they have now go first, then those of earlier ones.
    #[must_use]
    pub(crate) fn find<'a>(headers: &'a HeaderMap, of: Cookies<'_>) -> Vec<(Self, &'a str)> {
        if let Some(ticket) = headers.get(TICKET).and_then(|value| value.to_str().ok()) {
            return vec![(Self::Header, ticket)];
        }
        let Cookies { room, binding, https } = of;
        let (kind, room, sent) = (CookieKind::Ticket, room.as_str(), || cookies(headers));
        let now = binding.cookie.values(kind, room, https, sent);
        let former = binding.former_cookies().enumerate().flat_map(|(which, former)| {
            let values = former.values(kind, room, https, sent);
            values.map(move |ticket| (Self::FormerCookie(which), ticket))
        });
        now.map(|ticket| (Self::Cookie, ticket)).chain(former).take(MOST_TICKETS).collect()
    }

    /// The ticket `text`, which came this way among `headers`, as it can be sent back.
    #[must_use]
    pub(crate) fn sent(self, headers: &HeaderMap, text: &str) -> Option<HeaderValue> {
        match self {
            Self::Header => headers.get(TICKET).cloned(),
            Self::Cookie | Self::FormerCookie(_) | Self::Unknown => {
                HeaderValue::from_str(text).ok()
            }
        }
    }

    /// Sends `ticket` back the way it came.
    pub(crate) fn send(self, headers: &mut HeaderMap, cookies: Cookies<'_>, ticket: &HeaderValue) {
        if !self.is_cookie() {
            headers.insert(TICKET, ticket.clone());
        }
        if self != Self::Header
            && let Ok(text) = ticket.to_str()
        {
            cookies.set(headers, CookieKind::Ticket, text, COOKIE_SECONDS);
            self.remove_former(headers, cookies);
        }
    }

    /// Removes the cookie of a browser.
    pub(crate) fn remove(self, headers: &mut HeaderMap, cookies: Cookies<'_>) {
        if self != Self::Header {
            cookies.set(headers, CookieKind::Ticket, "", 0);
            self.remove_former(headers, cookies);
        }
    }

    /// Whether it is a browser's cookie.
    pub(crate) const fn is_cookie(self) -> bool {
        matches!(self, Self::Cookie | Self::FormerCookie(_))
    }

    /// The same to a browser, of which it may be known that its cookie is called otherwise now.
    pub(crate) const fn to_browser(self) -> Self {
        if self.is_cookie() { self } else { Self::Cookie }
    }

    /// The same, with nothing known of a former cookie.
    pub(crate) const fn as_it_is_called_now(self) -> Self {
        if self.is_cookie() { Self::Cookie } else { self }
    }

    fn remove_former(self, headers: &mut HeaderMap, cookies: Cookies<'_>) {
        let Self::FormerCookie(which) = self else { return };
        if let Some(former) = cookies.binding.former_cookies().nth(which) {
            cookies.set_as(former, headers, CookieKind::Ticket, "", 0);
        }
    }
}

// === impl Cookies ===

impl Cookies<'_> {
    /// Sets a cookie for `age` seconds; an age of 0 removes it.
    pub(crate) fn set(self, headers: &mut HeaderMap, kind: CookieKind, value: &str, age: u64) {
        self.set_as(&self.binding.cookie, headers, kind, value, age);
    }

    fn set_as(
        self,
        cookie: &CookieAttributes,
        headers: &mut HeaderMap,
        kind: CookieKind,
        value: &str,
        age: u64,
    ) {
        let attributes = cookie.attributes(self.https);
        let name = cookie.name(kind, self.room.as_str(), self.https);
        if let Ok(value) = HeaderValue::try_from(attributes.set_cookie(name, value, age)) {
            headers.append(SET_COOKIE, value);
        }
    }
}

/// The cookies of a request, but for those that are no text: what pages of the site write into theirs (`city=München`,
/// which browsers send as it is) says nothing of the others.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(COOKIE).iter();
    let cookies = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    cookies.filter_map(|cookie| std::str::from_utf8(cookie).ok())
}

#[cfg(test)]
mod tests {
    use vestibule_domain::schedule::RoomConfig;
    use vestibule_site::Secure;

    use super::{TicketTransport::*, *};

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    fn find<'a>(headers: &'a HeaderMap, name: &str) -> Vec<(TicketTransport, &'a str)> {
        let (room, binding) = (RoomId::new(name).unwrap(), BindingHandle::default());
        TicketTransport::find(headers, Cookies { room: &room, binding: &binding, https: false })
    }

    /// A room whose cookies have had these attributes one after the other.
    fn having_had(cookies: impl IntoIterator<Item = CookieAttributes>) -> BindingHandle {
        let config = cookies.into_iter().fold(RoomConfig::default(), |before, cookie| {
            let mut config = RoomConfig { version: before.version + 1, ..before.clone() };
            config.binding.cookie = cookie;
            config.note_given_up(&before, 1_900_000_000);
            config
        });
        BindingHandle::of(config)
    }

    fn suffixed(suffix: Option<&str>) -> CookieAttributes {
        CookieAttributes { suffix: suffix.map(Into::into), ..CookieAttributes::default() }
    }

    #[test]
    fn the_header_goes_before_the_cookie_of_this_very_room() {
        let cookies = headers(&[(COOKIE, "a=b; vestibule_sale=S; vestibule_sale2=T")]);
        assert_eq!(find(&cookies, "sale"), [(Cookie, "S")]);
        assert_eq!(find(&cookies, "sale2"), [(Cookie, "T")]);
        assert_eq!(find(&cookies, "sal"), []);
        let both = headers(&[(COOKIE, "vestibule_sale=S"), (TICKET, "H")]);
        assert_eq!(find(&both, "sale"), [(Header, "H")]);
    }

    #[test]
    fn the_cookie_that_only_the_host_can_set_goes_first_and_a_few_are_tried() {
        let both = headers(&[(COOKIE, "vestibule_sale=PLAIN; __Host-vestibule_sale=OWN")]);
        assert_eq!(find(&both, "sale"), [(Cookie, "OWN"), (Cookie, "PLAIN")]);
        let many: HeaderMap =
            (0..50).map(|_| (COOKIE, HeaderValue::from_static("vestibule_sale=A"))).collect();
        assert_eq!(find(&many, "sale").len(), MOST_TICKETS);
    }

    #[test]
    fn cookies_of_the_site_hide_none_of_ours() {
        for others in [&b"city=M\xFCnchen"[..], "stadt=Köln".as_bytes(), b"\xFF"] {
            let line = [others, b"; vestibule_sale=S; b=", others].concat();
            let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_bytes(&line).unwrap())]);
            assert_eq!(find(&headers, "sale"), [(Cookie, "S")], "{line:?}");
        }
    }

    #[test]
    fn a_suffix_takes_the_place_of_the_room_and_of_the_suffix_before() {
        let sale = RoomId::new("sale").unwrap();
        let headers = headers(&[(COOKIE, "vestibule_sale=S; vestibule_x=X; vestibule_y=Y")]);
        let found = |suffixes: &[Option<&str>]| {
            let binding = having_had(suffixes.iter().copied().map(suffixed));
            let cookies = Cookies { room: &sale, binding: &binding, https: false };
            TicketTransport::find(&headers, cookies)
        };
        assert_eq!(found(&[Some("x")]), [(Cookie, "X")], "it never had another one");
        let former = [(Cookie, "Y"), (FormerCookie(0), "X"), (FormerCookie(1), "S")];
        assert_eq!(found(&[None, Some("x"), Some("y")]), former);
    }

    #[test]
    fn a_cookie_of_before_a_change_is_read_and_gives_way_to_the_one_of_now() {
        let sale = RoomId::new("sale").unwrap();
        let secure = |secure| CookieAttributes { secure, ..CookieAttributes::default() };
        let cases = [
            ([Secure::Never, Secure::Auto], "vestibule_sale", "__Host-vestibule_sale"),
            ([Secure::Auto, Secure::Never], "__Host-vestibule_sale", "vestibule_sale"),
        ];
        for (modes, was, is) in cases {
            let binding = having_had(modes.map(secure));
            let cookies = Cookies { room: &sale, binding: &binding, https: true };
            let line = HeaderValue::from_str(&format!("{was}=T")).unwrap();
            let request = HeaderMap::from_iter([(COOKIE, line)]);
            let found = TicketTransport::find(&request, cookies);
            assert_eq!(found[0], (FormerCookie(0), "T"), "{modes:?}");
            let mut answer = HeaderMap::new();
            found[0].0.send(&mut answer, cookies, &HeaderValue::from_static("N"));
            let set = answer.get_all(SET_COOKIE).iter().map(|value| value.to_str().unwrap());
            let set: Vec<_> = set.map(|cookie| cookie.split("; Path").next().unwrap()).collect();
            assert_eq!(set, [format!("{is}=N; Max-Age=604800"), format!("{was}=; Max-Age=0")]);
            assert!(!answer.contains_key(TICKET));
            let (mut passing, new) = (HeaderMap::new(), HeaderValue::from_static("N"));
            found[0].0.as_it_is_called_now().send(&mut passing, cookies, &new);
            assert_eq!(passing.get_all(SET_COOKIE).iter().count(), 1, "gateways pass on one");
        }
    }

    #[test]
    fn a_ticket_goes_back_the_way_it_came() {
        let (room, binding) = (RoomId::new("sale").unwrap(), BindingHandle::default());
        let sent = |transport: TicketTransport| {
            let mut headers = HeaderMap::new();
            let cookies = Cookies { room: &room, binding: &binding, https: true };
            transport.send(&mut headers, cookies, &HeaderValue::from_static("N"));
            let cookie = headers.get(SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
            (headers.contains_key(TICKET), cookie)
        };
        assert_eq!(sent(Header), (true, None));
        let cookie =
            "__Host-vestibule_sale=N; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(sent(Cookie), (false, Some(cookie.to_owned())));
        assert_eq!(sent(Unknown), (true, Some(cookie.to_owned())));
    }
}
