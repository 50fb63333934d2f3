//! Where the page stands, and what its address says: in the place of the page that was wanted, or
//! at its own address. Every address that comes from outside is checked here.

use axum::http::HeaderMap;
use vestibule_domain::site::{Host, Route};
use vestibule_page::{Language, LanguageForm, ReturnAddress};

use super::language;
use crate::{state::Admission, visitor::RoomContext};

/// The parameter that chooses a language at the page's own address.
const LANGUAGE: &str = "lang";
/// The same where the address is the site's.
const LANGUAGE_IN_PLACE: &str = "vestibule_lang";
/// The parameter that names the page that is wanted.
const RETURN: &str = "return";
/// Says that no seat was free when the visitor asked for one.
pub(crate) const NO_SEAT: &str = "full";

/// Where the page stands, and where its links lead.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Whether it stands in the place of the page that is wanted.
    pub(crate) is_in_place: bool,
    /// Where the visitor wants to go.
    pub(crate) wanted: Option<ReturnAddress>,
    /// The page itself.
    pub(crate) here: String,
    /// Where to enter by a form.
    pub(crate) enter: Option<String>,
    /// Where live updates come from.
    pub(crate) live: Option<String>,
    /// How the language is chosen.
    pub(crate) language_form: LanguageForm,
    /// The language.
    pub(crate) language: Language,
    /// Whether the visitor has just chosen it.
    pub(crate) language_is_chosen: bool,
    /// Whether no seat was free when the visitor asked for one.
    pub(crate) no_seat: bool,
}

// === impl Address ===

impl Address {
    /// In the place of the page at `url`, which a trusted gateway told.
    pub(crate) fn in_place(
        admission: &Admission,
        context: &RoomContext,
        headers: &HeaderMap,
        url: &str,
    ) -> Self {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let (kept, chosen) = take(query, LANGUAGE_IN_PLACE);
        let wanted = ReturnAddress::parse(&without(url, LANGUAGE_IN_PLACE), |_| true);
        let origin = wanted.as_ref().and_then(|wanted| wanted.origin());
        let is_own_origin = origin.is_some() && origin == origin_of(&admission.public_url);
        let language = language::choose(chosen.as_deref(), headers, context);
        let room = &context.snapshot.room;
        Self {
            is_in_place: true,
            here: wanted.as_ref().map_or("/", |wanted| wanted.as_str()).to_owned(),
            enter: None,
            live: is_own_origin.then(|| {
                let base = &admission.public_url;
                format!("{base}/room/{room}/live?{}", self_query(wanted.as_ref(), language))
            }),
            language_form: LanguageForm {
                action: ReturnAddress::parse(path, |_| true)
                    .map_or("/".into(), |path| path.as_str().to_owned()),
                parameter: LANGUAGE_IN_PLACE,
                kept,
            },
            language,
            language_is_chosen: chosen.is_some_and(|tag| Language::from_tag(&tag).is_some()),
            no_seat: false,
            wanted,
        }
    }

    /// At its own address, `/room/{room}`, with this query. Links are relative, so that it does not
    /// matter under which path a gateway puts it.
    pub(crate) fn direct(
        admission: &Admission,
        context: &RoomContext,
        headers: &HeaderMap,
        query: &str,
    ) -> Self {
        let (rest, chosen) = take(query, LANGUAGE);
        let value = |name: &str| rest.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let covers = |host: &str| covers(admission, context, host);
        let asked = value(RETURN).and_then(|text| ReturnAddress::parse(text, covers));
        let wanted = asked.clone().or_else(|| root(context));
        let language = language::choose(chosen.as_deref(), headers, context);
        let room = &context.snapshot.room;
        let kept: Vec<_> =
            asked.iter().map(|asked| (RETURN.to_owned(), asked.as_str().to_owned())).collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", written(&kept)) };
        let needs_form = wanted.is_none() || context.binding.access_token_cookie;
        Self {
            is_in_place: false,
            here: format!("{room}{query}"),
            enter: needs_form.then(|| format!("{room}/enter{query}")),
            live: Some(format!("{room}/live?{}", self_query(asked.as_ref(), language))),
            language_form: LanguageForm { action: room.to_string(), parameter: LANGUAGE, kept },
            language,
            language_is_chosen: chosen.is_some_and(|tag| Language::from_tag(&tag).is_some()),
            no_seat: value(NO_SEAT).is_some(),
            wanted,
        }
    }
}

/// The language that the query of the page's own address chooses.
pub(super) fn chosen_language(query: &str) -> Option<String> {
    take(query, LANGUAGE).1
}

/// The query of the page's own address: where to go, and the language.
fn self_query(wanted: Option<&ReturnAddress>, language: Language) -> String {
    let wanted = wanted.map(|wanted| (RETURN.to_owned(), wanted.as_str().to_owned()));
    let language = (LANGUAGE.to_owned(), language.code().to_owned());
    written(&wanted.into_iter().chain([language]).collect::<Vec<_>>())
}

/// The parameters of `query` without `name`, and the last value of that.
fn take(query: &str, name: &str) -> (Vec<(String, String)>, Option<String>) {
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
    let (named, rest): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key == name);
    (rest, named.into_iter().next_back().map(|(_, value)| value))
}

/// `url` without the parameter `name`, and otherwise as it was sent.
fn without(url: &str, name: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let is_named = |pair: &str| pair.split('=').next() == Some(name);
    let kept: Vec<_> = query.split('&').filter(|pair| !is_named(pair)).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

fn written(pairs: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Whether `host` is of the site: covered by one of the room's routes, or that of this service.
fn covers(admission: &Admission, context: &RoomContext, host: &str) -> bool {
    let covers = |route: &Route| {
        let name = route.host.name();
        if route.host.is_wildcard() {
            host.strip_suffix(name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            host == name
        }
    };
    let own = ReturnAddress::parse(&admission.public_url, |_| true);
    let own = own.as_ref().and_then(|own| own.host()).map(Host::of_request);
    own.is_some_and(|own| own == host) || context.binding.routes.iter().any(covers)
}

/// The first place of the site that the room covers and that can be told.
fn root(context: &RoomContext) -> Option<ReturnAddress> {
    let scheme = if context.https { "https" } else { "http" };
    let mut routes = context.binding.routes.iter().filter(|route| !route.host.is_wildcard());
    routes.find_map(|route| {
        let path: String = route.path.bytes().map(in_path).collect();
        ReturnAddress::parse(&format!("{scheme}://{}{path}", route.host), |_| true)
    })
}

fn in_path(byte: u8) -> String {
    let plain = byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte);
    if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// Scheme, host and port.
fn origin_of(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    Some(url[host..].find('/').map_or(url, |end| &url[..host + end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_of_a_language_is_taken_out_of_the_address_and_nothing_else() {
        let clean = |url: &str| without(url, LANGUAGE_IN_PLACE);
        for same in ["http://a/b", "http://a/b?", "http://a/?x=red%20wine&y=+&lang=de&z"] {
            assert_eq!(clean(same), same);
        }
        assert_eq!(clean("http://a/b?vestibule_lang=de"), "http://a/b");
        assert_eq!(
            clean("http://a/?x=%20&vestibule_lang=de&y&vestibule_lang"),
            "http://a/?x=%20&y"
        );
    }

    #[test]
    fn paths_of_routes_are_written_as_addresses_have_them() {
        let written = |path: &str| path.bytes().map(in_path).collect::<String>();
        assert_eq!(written("/sale/a-b_c~1"), "/sale/a-b_c~1");
        assert_eq!(written("/über a\"<"), "/%C3%BCber%20a%22%3C");
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(origin_of("https://a.example:8443/x/y"), Some("https://a.example:8443"));
        assert_eq!(origin_of("http://a"), Some("http://a"));
        assert_eq!(origin_of("nonsense"), None);
    }
}
