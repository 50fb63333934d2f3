//! The covered paths of one host, as a tree of their segments, and the search for the one that covers a request.

use rustc_hash::FxHashMap;

use crate::{
    Route,
    spelling::{folded, is_passed_over, marks, names},
};

/// How many segments of a path may be passed over: see [`is_passed_over`]. Real paths have one.
const MOST_PASSED_OVER: usize = 2;

/// The covered paths of one host.
#[derive(Debug, Clone)]
pub(super) struct Paths<R> {
    root: Node<R>,
    /// The most extensions that a segment of any of them may have.
    most_marks: usize,
}

/// The covered paths that begin alike.
#[derive(Debug, Clone)]
struct Node<R> {
    here: Option<(R, Route)>,
    /// By the next segment, folded.
    below: FxHashMap<String, Node<R>>,
}

// === impl Paths ===

impl<R> Default for Paths<R> {
    fn default() -> Self {
        Self { root: Node::default(), most_marks: 0 }
    }
}

impl<R: Clone + Ord> Paths<R> {
    /// Adds a route of `room`. Of several rooms with one route, the first name has it.
    pub(super) fn insert(&mut self, room: &R, route: &Route) {
        let mut node = &mut self.root;
        for segment in segments(route.stem()) {
            self.most_marks = self.most_marks.max(marks(segment));
            node = node.below.entry(folded(segment).into_owned()).or_default();
        }
        if node.here.as_ref().is_none_or(|(first, _)| room < first) {
            node.here = Some((room.clone(), route.clone()));
        }
    }

    /// The room that has this very route, in whatever spelling.
    pub(super) fn same(&self, route: &Route) -> Option<&R> {
        let mut below = segments(route.stem());
        let node = below.try_fold(&self.root, |node, part| node.below.get(&*folded(part)))?;
        node.here.as_ref().map(|(room, _)| room)
    }

    /// The room that covers some of what `route` is preferred for; `is_wider`: the host here is a wildcard for that of
    /// `route`, which then is preferred whichever path is longer.
    pub(super) fn losing_to(&self, route: &Route, is_wider: bool) -> Option<&R> {
        let around = self.root.longest(&route.path, self.most_marks, MOST_PASSED_OVER);
        let below = || self.root.below(&route.path, self.most_marks, MOST_PASSED_OVER, is_wider);
        around.or_else(below).map(|(room, _)| room)
    }

    /// The longest covered path that is `path` or a parent of it.
    pub(super) fn longest(&self, path: &str) -> Option<(&R, &Route)> {
        let found = self.root.longest(path, self.most_marks, MOST_PASSED_OVER);
        found.map(|(room, route)| (room, route))
    }

    /// The same, with no segment passed over.
    pub(super) fn longest_as_written(&self, path: &str) -> Option<(&R, &Route)> {
        let found = self.root.longest(path, self.most_marks, 0);
        found.map(|(room, route)| (room, route))
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

// === impl Node ===

impl<R> Default for Node<R> {
    fn default() -> Self {
        Self { here: None, below: FxHashMap::default() }
    }
}

impl<R> Node<R> {
    /// The longest covered path among those that begin with `path` from here on. A segment is preferred as it is
    /// written to what it may also stand for.
    fn longest(&self, path: &str, most_marks: usize, passed_over: usize) -> Option<&(R, Route)> {
        let path = path.trim_start_matches('/');
        if self.below.is_empty() || path.is_empty() {
            return self.here.as_ref();
        }
        let (segment, rest) = path.split_once('/').unwrap_or((path, ""));
        let nodes = names(segment, most_marks).filter_map(|name| self.below.get(&*name));
        let mut found = nodes.filter_map(|node| node.longest(rest, most_marks, passed_over));
        let behind = || {
            let passed_over = passed_over.checked_sub(1).filter(|_| is_passed_over(segment))?;
            self.longest(rest, most_marks, passed_over)
        };
        found.next().or_else(behind).or(self.here.as_ref())
    }

    /// A covered path that begins with what `path` may stand for. A path that begins as `path` is written is longer, and so
    /// preferred, which counts only if it `is_taken` all the same.
    fn below(
        &self,
        path: &str,
        most_marks: usize,
        passed_over: usize,
        is_taken: bool,
    ) -> Option<&(R, Route)> {
        let path = path.trim_start_matches('/');
        if path.is_empty() {
            return if is_taken { self.any() } else { None };
        }
        let (segment, rest) = path.split_once('/').unwrap_or((path, ""));
        let written = folded(segment);
        let mut found = names(segment, most_marks).filter_map(|name| {
            let is_taken = is_taken || name != written;
            self.below.get(&*name)?.below(rest, most_marks, passed_over, is_taken)
        });
        found.next().or_else(|| {
            let passed_over = passed_over.checked_sub(1).filter(|_| is_passed_over(segment))?;
            self.below(rest, most_marks, passed_over, true)
        })
    }

    /// Any covered path from here on.
    fn any(&self) -> Option<&(R, Route)> {
        self.here.as_ref().or_else(|| self.below.values().find_map(Self::any))
    }
}
