//! Which room covers a request: all rooms' routes, compiled for many lookups. Not the bypass
//! rules, which the covering room is asked about afterwards. `R` is what the caller knows a room
//! by; as text it is the room's name.

use std::{borrow::Borrow, collections::BTreeMap, fmt};

use rustc_hash::FxHashMap;

use crate::{FieldError, Host, RequestPath, Route, SiteBinding};

/// All rooms' routes.
#[derive(Debug, Clone)]
pub struct Coverage<R> {
    exact: FxHashMap<String, Paths<R>>,
    /// By the name below which all hosts are covered.
    wildcard: FxHashMap<String, Paths<R>>,
    /// The room by the ending of its cookies' names.
    cookies: BTreeMap<String, R>,
}

/// A route, or a cookie's name, that another room has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict<R> {
    /// A place that two rooms cover.
    Route {
        /// Where the route stands among the room's own, from 0.
        index: usize,
        /// The route.
        route: Route,
        /// The other room.
        room: R,
    },
    /// A browser could not tell the two rooms' cookies apart.
    Cookie {
        /// What both names end with.
        ending: String,
        /// The other room.
        room: R,
    },
}

/// The covered paths of one host.
#[derive(Debug, Clone)]
struct Paths<R> {
    by_stem: FxHashMap<String, (R, Route)>,
    /// The most segments of any of them.
    deepest: usize,
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
    /// Compiles the routes of `rooms`. Two rooms with the same place are refused when they are
    /// configured; should it happen all the same, the one whose name is first in the alphabet has it.
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

    /// The room that covers `path` on `host`, and by which route: the most specific one. An exact
    /// host goes before a wildcard, a longer wildcard before a shorter, then the longer path. Of
    /// several readings of the path the canonical one goes first.
    #[must_use]
    pub fn covering(&self, host: &str, path: &RequestPath) -> Option<(&R, &Route)> {
        let host = Host::from_request(host);
        if host.len() > Host::MAX_LENGTH {
            return None;
        }
        path.readings().find_map(|reading| self.most_specific(&host, reading))
    }

    /// What `binding`, as that of `room`, would take from other rooms.
    #[must_use]
    pub fn conflicts(&self, room: &R, binding: &SiteBinding) -> Vec<Conflict<R>> {
        let ending = binding.cookie.ending(room.borrow());
        let taken = self.cookies.get(ending).filter(|other| *other != room);
        let cookie =
            taken.map(|other| Conflict::Cookie { ending: ending.to_owned(), room: other.clone() });
        let routes = binding.routes.iter().enumerate();
        let routes = routes.filter_map(|(index, route)| {
            let (other, _) = self.paths(&route.host)?.by_stem.get(route.stem())?;
            let conflict = || Conflict::Route { index, route: route.clone(), room: other.clone() };
            (other != room).then(conflict)
        });
        routes.chain(cookie).collect()
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
        let above = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let wildcards = above.filter_map(|name| self.wildcard.get(name));
        exact.chain(wildcards).find_map(|paths| paths.longest(path))
    }
}

/// Leaves the room whose name comes first.
fn keep_first<R: Clone + Ord>(kept: &mut R, room: &R) {
    if room < kept {
        *kept = room.clone();
    }
}

// === impl Paths ===

impl<R> Default for Paths<R> {
    fn default() -> Self {
        Self { by_stem: FxHashMap::default(), deepest: 0 }
    }
}

impl<R: Clone + Ord> Paths<R> {
    fn insert(&mut self, room: &R, route: &Route) {
        let stem = route.stem();
        self.deepest = self.deepest.max(stem.matches('/').count());
        let new = || (room.clone(), route.clone());
        let kept = self.by_stem.entry(stem.to_owned()).or_insert_with(new);
        if room < &kept.0 {
            *kept = new();
        }
    }

    /// The longest covered path that is `path` or above it.
    fn longest(&self, path: &str) -> Option<(&R, &Route)> {
        let slashes = path.match_indices('/').skip(1).map(|(at, _)| at);
        let ends = slashes.chain([path.len()]).take(self.deepest);
        // From the shortest up, because segments are counted from the front; so the last wins.
        let found = [0].into_iter().chain(ends).filter_map(|end| self.by_stem.get(&path[..end]));
        found.last().map(|(room, route)| (room, route))
    }
}

// === impl Conflict ===

impl<R: fmt::Display> Conflict<R> {
    /// The conflict as a field that is refused.
    #[must_use]
    pub fn error(&self) -> FieldError {
        match self {
            Self::Route { index, route, room } => FieldError {
                field: format!("routes[{index}]").into(),
                reason: format!("{route} is covered by the room {room} already"),
            },
            Self::Cookie { ending, room } => FieldError {
                field: "cookie.suffix".into(),
                reason: format!("the cookies of the room {room} end with {ending} already"),
            },
        }
    }
}

#[cfg(test)]
mod tests;
