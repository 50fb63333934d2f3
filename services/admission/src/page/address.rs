//! The address of the waiting page: in the place of the page that was wanted, or at its own address.
//! Every address that comes from outside is checked here.

use axum::http::{HeaderMap, header::HOST};
use vestibule_page::{Language, LanguageForm};
use vestibule_site::{
    Origin, PathError, RequestPath, ReturnAddress, UrlParts, encode_path, without_parameter,
};

use super::language;
use crate::flows::RoomContext;

/// The parameter that chooses a language at the page's own address.
const LANGUAGE: &str = "lang";
/// The same where the address is the site's.
const LANGUAGE_IN_PLACE: &str = "vestibule_lang";
/// The parameter that names the page that is wanted.
pub(crate) const RETURN: &str = "return";
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
    /// Below which address logos are, if the page can be given one of ours.
    pub(crate) logos: Option<String>,
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
    /// In the place of the page at `url`, which a trusted gateway has sent.
    pub(crate) fn in_place(
        public_url: &str,
        room: &RoomContext,
        headers: &HeaderMap,
        url: &str,
    ) -> Self {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let (others, chosen) = take(query, LANGUAGE_IN_PLACE);
        let wanted = ReturnAddress::parse(&without_parameter(url, LANGUAGE_IN_PLACE), |_| true);
        let origin = wanted.as_ref().and_then(|wanted| wanted.origin());
        let is_own_origin =
            origin.is_some() && origin == UrlParts::split(public_url).map(|own| own.origin);
        let language = language::choose(chosen.as_deref(), headers, room);
        let name = &room.snapshot.room;
        Self {
            is_in_place: true,
            // What cannot be written into the page is where it stands: the empty address.
            here: wanted.as_ref().map_or("", |wanted| wanted.as_str()).to_owned(),
            enter: None,
            live: is_own_origin.then(|| {
                format!("{public_url}/room/{name}/live?{}", self_query(wanted.as_ref(), language))
            }),
            logos: is_own_origin.then(|| format!("{public_url}/room/{name}/logo")),
            language_form: LanguageForm {
                action: ReturnAddress::parse(path, |_| true)
                    .map_or("/".into(), |path| path.as_str().to_owned()),
                parameter: LANGUAGE_IN_PLACE,
                other_parameters: others,
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
        public_url: &str,
        room: &RoomContext,
        headers: &HeaderMap,
        query: &str,
    ) -> Self {
        let (rest, chosen) = take(query, LANGUAGE);
        let value = |name: &str| rest.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let is_known = |origin: &Origin| is_known(public_url, room, headers, origin);
        let asked = value(RETURN)
            .and_then(|text| ReturnAddress::parse(text, is_known))
            .filter(|asked| !leads_here(public_url, room, asked));
        let wanted = asked.clone().or_else(|| root(room));
        let language = language::choose(chosen.as_deref(), headers, room);
        let name = &room.snapshot.room;
        let others: Vec<_> =
            asked.iter().map(|asked| (RETURN.to_owned(), asked.as_str().to_owned())).collect();
        let query =
            if others.is_empty() { String::new() } else { format!("?{}", written(&others)) };
        // A login sets that cookie itself. It leads on to other origins, where a form's policy would not let it go.
        let leads_to_login =
            || wanted.as_ref().is_some_and(|wanted| leads_to_login(public_url, room, wanted));
        let needs_form = wanted.is_none() || room.binding.access_token_cookie && !leads_to_login();
        Self {
            is_in_place: false,
            here: format!("{name}{query}"),
            enter: needs_form.then(|| format!("{name}/enter{query}")),
            live: Some(format!("{name}/live?{}", self_query(asked.as_ref(), language))),
            logos: Some(format!("{name}/logo")),
            language_form: LanguageForm {
                action: name.to_string(),
                parameter: LANGUAGE,
                other_parameters: others,
            },
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

/// What [`Address::direct`] reads of `query`, and no more: a query may be long, and who keeps one has a short one by this.
pub(super) fn without_the_rest(query: &str) -> String {
    let (rest, chosen) = take(query, LANGUAGE);
    let first = |name: &str| rest.iter().find(|(key, _)| key == name).cloned();
    let asked = first(RETURN).filter(|(_, text)| ReturnAddress::parse(text, |_| true).is_some());
    let chosen = chosen.filter(|tag| Language::from_tag(tag).is_some());
    let chosen = chosen.map(|tag| (LANGUAGE.to_owned(), tag));
    let no_seat = first(NO_SEAT).map(|(name, _)| (name, String::new()));
    written(&[asked, chosen, no_seat].into_iter().flatten().collect::<Vec<_>>())
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

fn written(pairs: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Whether the page may lead to `origin`: one that the operator has named, its own, or that of a covered host at the
/// usual port. None but a named one leads from https to http.
fn is_known(public_url: &str, room: &RoomContext, headers: &HeaderMap, origin: &Origin) -> bool {
    if room.binding.return_origins.contains(origin) {
        return true;
    }
    let public = UrlParts::split(public_url).and_then(|own| own.origin.parse::<Origin>().ok());
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_covered = || room.binding.routes.iter().any(|route| route.host.covers(origin.host()));
    (origin.is_https() || !room.caller.https)
        && (public.as_ref() == Some(origin)
            || host.is_some_and(|host| origin.is_at(host))
            || origin.has_usual_port() && is_covered())
}

/// Whether `address` is that of the room's page itself: whoever went on to it would be back at once.
fn leads_here(public_url: &str, room: &RoomContext, address: &ReturnAddress) -> bool {
    let own = own_path(public_url, address);
    own.is_some_and(|path| {
        // What is not read is not led to either.
        path.map_or(true, |path| path.strip_prefix("/room/") == Some(room.snapshot.room.as_str()))
    })
}

/// Whether an address is one of the room's own to which a login comes back.
fn leads_to_login(public_url: &str, room: &RoomContext, address: &ReturnAddress) -> bool {
    let path = own_path(public_url, address);
    path.is_some_and(|path| {
        path.is_ok_and(|path| path == format!("/oidc/{}/resume", room.snapshot.room))
    })
}

/// Which path of this service an address leads to, if it can be read; `None`: it leads to another origin.
fn own_path(public_url: &str, address: &ReturnAddress) -> Option<Result<String, PathError>> {
    let own = UrlParts::split(public_url);
    let path = match UrlParts::split(address.as_str()) {
        Some(parts) if own.is_some_and(|own| own.origin.eq_ignore_ascii_case(parts.origin)) => {
            parts.path
        }
        Some(_) => return None,
        None => address.as_str().split(['?', '#']).next().unwrap_or_default(),
    };
    let below = own.map_or("", |own| own.path.trim_end_matches('/'));
    let without = |path: &str| path.strip_prefix(below).unwrap_or(path).to_owned();
    Some(RequestPath::parse(path).map(|path| without(path.canonical())))
}

/// The first address of the site that the room covers, of the routes without a wildcard.
fn root(room: &RoomContext) -> Option<ReturnAddress> {
    let scheme = if room.caller.https { "https" } else { "http" };
    let mut routes = room.binding.routes.iter().filter(|route| !route.host.is_wildcard());
    routes.find_map(|route| {
        let path = encode_path(&route.path);
        ReturnAddress::parse(&format!("{scheme}://{}{path}", route.host), |_| true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_query_only_what_the_page_needs_is_kept() {
        let long = "x".repeat(9_000);
        let query = format!("a={long}&lang=fr&return=%2Fa%3Fb&lang=de&full={long}&return=%2Fc");
        assert_eq!(without_the_rest(&query), "return=%2Fa%3Fb&lang=de&full=");
        assert_eq!(without_the_rest(&format!("return=%2F{long}&lang={long}")), "");
        assert_eq!(without_the_rest(""), "");
    }
}
