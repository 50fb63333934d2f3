//! Who remembers what Redis has lost. Nothing could bring back what nobody remembers, so faults leave one process
//! running on each side that ran at the last loss.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The instances that ran at the last loss, and since.
#[derive(Debug, Default)]
pub(crate) struct Witnesses(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    left: BTreeSet<String>,
    /// Those on the old primary's side of the last split.
    apart: BTreeSet<String>,
    /// Those that have ended, and are not started again yet.
    down: BTreeSet<String>,
}

// === impl Witnesses ===

impl Witnesses {
    /// Redis loses something now, of which all these instances may know; `apart`: those that go on with the old
    /// primary, if it is a split.
    pub(crate) fn note_loss<'a>(
        &self,
        all: impl IntoIterator<Item = &'a str>,
        apart: Option<BTreeSet<String>>,
    ) {
        let mut seen = self.lock();
        seen.apart = apart.unwrap_or_else(|| std::mem::take(&mut seen.apart));
        let up: Vec<_> = all.into_iter().filter(|name| !seen.down.contains(*name)).collect();
        for is_apart in [false, true] {
            if seen.of_side(is_apart).next().is_none() {
                let side = up.iter().filter(|name| seen.apart.contains(**name) == is_apart);
                let side: Vec<String> = side.map(|name| (*name).to_owned()).collect();
                seen.left.extend(side);
            }
        }
    }

    /// Whether this instance may end, which it then does: somebody else on its side remembers.
    pub(crate) fn may_end(&self, name: &str) -> bool {
        let mut seen = self.lock();
        let is_apart = seen.apart.contains(name);
        if seen.left.contains(name) && seen.of_side(is_apart).all(|other| other == name) {
            return false;
        }
        seen.left.remove(name);
        seen.down.insert(name.to_owned());
        true
    }

    /// It was started again.
    pub(crate) fn is_back(&self, name: &str) {
        self.lock().down.remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Seen ===

impl Seen {
    fn of_side(&self, is_apart: bool) -> impl Iterator<Item = &String> {
        self.left.iter().filter(move |name| self.apart.contains(*name) == is_apart)
    }
}

#[test]
fn somebody_is_left_on_each_side_who_remembers() {
    let (witnesses, all) = (Witnesses::default(), ["a", "b", "c", "d"]);
    assert!(witnesses.may_end("d"), "nothing was lost");
    witnesses.note_loss(all, Some(BTreeSet::from(["a".to_owned()])));
    witnesses.is_back("d");
    assert!(!witnesses.may_end("a"));
    assert!(witnesses.may_end("b"));
    assert!(!witnesses.may_end("c"), "d was not there");
    assert!(witnesses.may_end("d"));
    witnesses.is_back("b");
    witnesses.note_loss(all, None);
    assert!(!witnesses.may_end("c"), "what was lost before is known to c alone");
    witnesses.note_loss(all, Some(BTreeSet::from(["a".to_owned(), "c".to_owned()])));
    assert!(witnesses.may_end("c"));
    assert!(!witnesses.may_end("b"));
}
