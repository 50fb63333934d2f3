//! Which room covers a request: the routes of all rooms, compiled for fast lookup. The bypass rules
//! are evaluated afterwards, by the covering room's [`SiteBinding`]. `R` is the caller's type for a
//! room; as text it is the room's name.

mod paths;

use std::{
    borrow::{Borrow, Cow},
    collections::BTreeMap,
};

use rustc_hash::FxHashMap;

use self::paths::Paths;
use crate::{CookieKind, FieldError, Host, PathError, RequestPath, Route, SiteBinding};

/// The routes of all rooms.
#[derive(Debug, Clone)]
pub struct Coverage<R> {
    exact: FxHashMap<String, Paths<R>>,
    /// By the host name that the wildcard is followed by.
    wildcard: FxHashMap<String, Paths<R>>,
    /// The room by the ending of its cookies' names.
    cookies: BTreeMap<String, R>,
}

/// A route or a cookie name that another room already has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict<R> {
    /// Two rooms cover the same route.
    Route {
        /// The index of the route in the binding, from 0.
        index: usize,
        /// The route.
        route: Route,
        /// The other room.
        room: R,
    },
    /// A browser could not distinguish the cookies of the two rooms.
    Cookie {
        /// The end of both names.
        ending: String,
        /// The other room.
        room: R,
    },
}

// === impl Coverage ===

impl<R> Default for Coverage<R> {
    fn default() -> Self {
        Self {
            exact: FxHashMap::default(),
            wildcard: FxHashMap::default(),
            cookies: BTreeMap::new(),
        }
    }
}

impl<R: Borrow<str> + Clone + Ord> Coverage<R> {
    /// Compiles the routes of `rooms`. Equal routes of two rooms are refused when they are
    /// configured; if they occur all the same, the room whose name is first in the alphabet has the
    /// route.
    #[must_use]
    pub fn new<'a>(rooms: impl IntoIterator<Item = (&'a R, &'a SiteBinding)>) -> Self
    where
        R: 'a,
    {
        let mut coverage = Self::default();
        for (room, binding) in rooms {
            binding.routes.iter().for_each(|route| coverage.insert(room, route));
            let ending = binding.cookie.ending(room.borrow()).to_owned();
            keep_first(coverage.cookies.entry(ending).or_insert_with(|| room.clone()), room);
        }
        coverage
    }

    /// The room that covers `path` on `host`, and its most specific route. An exact host is
    /// preferred to a wildcard, a longer wildcard to a shorter one, then a longer path to a shorter
    /// one: of all readings of the path, with each segment in every spelling that servers take for the same name. Among
    /// equals the canonical reading decides.
    ///
    /// # Errors
    /// If the path goes back, may begin with a host, or names what may be a script before the rest, and it depends on how it
    /// is read which room covers it: whoever is inside one of them would pass for the other. Who decides about such a
    /// request must refuse it.
    pub fn covering(
        &self,
        host: &str,
        path: &RequestPath,
    ) -> Result<Option<(&R, &Route)>, PathError> {
        let host = Host::from_request(host);
        if host.len() > Host::MAX_LENGTH {
            return Ok(None);
        }
        let mut found: Option<(&R, &Route)> = None;
        for reading in path.readings() {
            let Some((room, route)) = self.most_specific(&host, reading) else { continue };
            let as_written = self.as_written(&host, reading);
            if as_written.is_some_and(|(other, _)| other != room) {
                return Err(PathError::OfSeveralRooms);
            }
            if found.is_some_and(|(other, _)| other != room) && path.leads_elsewhere() {
                return Err(PathError::OfSeveralRooms);
            }
            let is_better = |(_, other): (&R, &Route)| route.precedence() > other.precedence();
            if found.is_none_or(is_better) {
                found = Some((room, route));
            }
        }
        Ok(found)
    }

    /// The conflicts of `binding`, as that of `room`, with other rooms.
    #[must_use]
    pub fn conflicts(&self, room: &R, binding: &SiteBinding) -> Vec<Conflict<R>> {
        let ending = binding.cookie.ending(room.borrow());
        let mut taken = alike(ending).filter_map(|alike| self.cookies.get_key_value(&*alike));
        let cookie = taken.find(|(_, other)| *other != room).map(|(ending, other)| {
            Conflict::Cookie { ending: ending.clone(), room: other.clone() }
        });
        let routes = binding.routes.iter().enumerate();
        let routes = routes.filter_map(|(index, route)| {
            let other = self.paths(&route.host)?.same(route)?;
            let conflict = || Conflict::Route { index, route: route.clone(), room: other.clone() };
            (other != room).then(conflict)
        });
        routes.chain(cookie).collect()
    }

    /// The room that would lose requests to `route`, if another one had it: it covers some that `route` is more specific
    /// for. That both have the very same route is a conflict, and not told here.
    #[must_use]
    pub fn loses_to(&self, route: &Route) -> Option<&R> {
        let own = self.paths(&route.host);
        if own.is_some_and(|paths| paths.same(route).is_some()) {
            return None;
        }
        let own = own.and_then(|paths| paths.losing_to(route, false));
        own.or_else(|| self.wider(route.host.name()).find_map(|paths| paths.losing_to(route, true)))
    }

    /// Whether no room covers anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.wildcard.is_empty()
    }

    fn insert(&mut self, room: &R, route: &Route) {
        let hosts = if route.host.is_wildcard() { &mut self.wildcard } else { &mut self.exact };
        hosts.entry(route.host.name().to_owned()).or_default().insert(room, route);
    }

    fn paths(&self, host: &Host) -> Option<&Paths<R>> {
        let hosts = if host.is_wildcard() { &self.wildcard } else { &self.exact };
        hosts.get(host.name())
    }

    fn most_specific(&self, host: &str, path: &str) -> Option<(&R, &Route)> {
        let exact = self.exact.get(host).into_iter();
        exact.chain(self.wider(host)).find_map(|paths| paths.longest(path))
    }

    /// The same, with no segment taken for a script that is given the rest of the path.
    fn as_written(&self, host: &str, path: &str) -> Option<(&R, &Route)> {
        let exact = self.exact.get(host).into_iter();
        exact.chain(self.wider(host)).find_map(|paths| paths.longest_as_written(path))
    }

    /// The paths of the wildcards for what is above `host`, the longest first.
    fn wider(&self, host: &str) -> impl Iterator<Item = &Paths<R>> {
        let above = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        above.filter_map(|name| self.wildcard.get(name))
    }
}

/// The endings that give the cookies of a room a name that this one gives them, too.
fn alike(ending: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let of_token = CookieKind::TOKEN_ENDING;
    let shorter = ending.strip_prefix(of_token).map(Cow::Borrowed);
    [ending.into(), format!("{of_token}{ending}").into()].into_iter().chain(shorter)
}

/// Keeps the room whose name comes first.
fn keep_first<R: Clone + Ord>(first: &mut R, room: &R) {
    if room < first {
        *first = room.clone();
    }
}

// === impl Conflict ===

impl<R> Conflict<R> {
    /// The conflict as a field error; `named`: what the other room is called to whoever is told.
    #[must_use]
    pub fn error(&self, named: impl FnOnce(&R) -> String) -> FieldError {
        match self {
            Self::Route { index, route, room } => FieldError {
                field: format!("routes[{index}]").into(),
                reason: format!("{route} is covered by {} already", named(room)),
            },
            Self::Cookie { ending, room } => FieldError {
                field: "cookie.suffix".into(),
                reason: format!(
                    "the cookies of {}, whose names end with {ending}, could not be told from these",
                    named(room)
                ),
            },
        }
    }
}

#[cfg(test)]
mod tests;
