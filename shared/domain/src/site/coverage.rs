//! Which room covers a request: all rooms' routes, compiled for many lookups. Not the bypass
//! rules, which the covering room is asked about afterwards.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Host, RequestPath, Route, SiteBinding};
use crate::{FieldError, RoomId};

/// All rooms' routes.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    exact: FxHashMap<String, Paths>,
    /// By the name below which all hosts are.
    wildcard: FxHashMap<String, Paths>,
    /// Whose cookies end with what.
    cookies: BTreeMap<String, RoomId>,
}

/// A route, or a cookie's name, that another room has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// A place that two rooms cover.
    Route {
        /// Where the route stands among the room's own, from 0.
        index: usize,
        /// The route.
        route: Route,
        /// The other room.
        room: RoomId,
    },
    /// A browser could not tell the two rooms' cookies apart.
    Cookie {
        /// What both names end with.
        ending: String,
        /// The other room.
        room: RoomId,
    },
}

/// The covered paths of one host.
#[derive(Debug, Clone, Default)]
struct Paths {
    by_stem: FxHashMap<String, (RoomId, Route)>,
    /// The most segments of any of them.
    deepest: usize,
}

// === impl Coverage ===

impl Coverage {
    /// Compiles the routes of `rooms`. Should two have the same place, which is refused when it is
    /// configured, the room whose name comes first in the alphabet has it.
    #[must_use]
    pub fn new<'a>(rooms: impl IntoIterator<Item = (&'a RoomId, &'a SiteBinding)>) -> Self {
        let mut coverage = Self::default();
        for (room, binding) in rooms {
            binding.routes.iter().for_each(|route| coverage.insert(room, route));
            let ending = binding.cookie.ending(room).to_owned();
            keep_first(coverage.cookies.entry(ending).or_insert_with(|| room.clone()), room);
        }
        coverage
    }

    /// The room that covers `path` on `host`, and by which route: the most specific one. An exact
    /// host goes before a wildcard, a longer wildcard before a shorter, then the longer path. Of
    /// several readings of the path the canonical one goes first.
    #[must_use]
    pub fn covering(&self, host: &str, path: &RequestPath) -> Option<(&RoomId, &Route)> {
        let host = Host::of_request(host);
        if host.len() > Host::MAX_LENGTH {
            return None;
        }
        path.readings().find_map(|reading| self.most_specific(&host, reading))
    }

    /// What `front`, were it that of `room`, would take from other rooms.
    #[must_use]
    pub fn conflicts(&self, room: &RoomId, binding: &SiteBinding) -> Vec<Conflict> {
        let ending = binding.cookie.ending(room);
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

    fn insert(&mut self, room: &RoomId, route: &Route) {
        let hosts = if route.host.is_wildcard() { &mut self.wildcard } else { &mut self.exact };
        hosts.entry(route.host.name().to_owned()).or_default().insert(room, route);
    }

    fn paths(&self, host: &Host) -> Option<&Paths> {
        let hosts = if host.is_wildcard() { &self.wildcard } else { &self.exact };
        hosts.get(host.name())
    }

    fn most_specific(&self, host: &str, path: &str) -> Option<(&RoomId, &Route)> {
        let exact = self.exact.get(host).into_iter();
        let above = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let wildcards = above.filter_map(|name| self.wildcard.get(name));
        exact.chain(wildcards).find_map(|paths| paths.longest(path))
    }
}

/// Leaves the room whose name comes first.
fn keep_first(kept: &mut RoomId, room: &RoomId) {
    if room < kept {
        *kept = room.clone();
    }
}

// === impl Paths ===

impl Paths {
    fn insert(&mut self, room: &RoomId, route: &Route) {
        let stem = route.stem();
        self.deepest = self.deepest.max(stem.matches('/').count());
        let new = || (room.clone(), route.clone());
        let kept = self.by_stem.entry(stem.to_owned()).or_insert_with(new);
        if room < &kept.0 {
            *kept = new();
        }
    }

    /// The longest covered path that is `path` or above it.
    fn longest(&self, path: &str) -> Option<(&RoomId, &Route)> {
        let slashes = path.match_indices('/').skip(1).map(|(at, _)| at);
        let ends = slashes.chain([path.len()]).take(self.deepest);
        // From the shortest up, because segments are counted from the front; so the last wins.
        let found = [0].into_iter().chain(ends).filter_map(|end| self.by_stem.get(&path[..end]));
        found.last().map(|(room, route)| (room, route))
    }
}

// === impl Conflict ===

impl Conflict {
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
