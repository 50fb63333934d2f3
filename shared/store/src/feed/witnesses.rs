//! The services that run, as far as this one has heard: each may have seen something that no other has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The services that were heard of.
#[derive(Debug, Default)]
pub(super) struct Witnesses(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    all: BTreeMap<String, Heard>,
    /// When it was last looked who announces itself.
    looked: Option<Instant>,
    /// Since when all are known that were there.
    complete_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Heard {
    /// When it announced itself last, by Redis's clock, ms.
    announced_ms: u64,
    /// When that was heard, or so much later as nobody could be heard since,
    at: Instant,
    /// and how often it was looked since.
    looks: u32,
    /// Whether it said that it stops.
    has_stopped: bool,
}

/// It is looked at least so often, while Redis answers.
const LOOKED_EVERY: Duration = Duration::from_secs(1);
/// A service announces itself twice a second, and relies on nothing that it has changed if it has not for a while
/// (`memory/standing.rs`): one that was heard of so long before had stopped by then.
const STOPPED_AFTER: Duration = Duration::from_secs(3);
/// Who was not heard of in so many looks, an hour's worth, is forgotten.
const FORGOTTEN_AFTER: u32 = 7_200;

// === impl Witnesses ===

impl Witnesses {
    /// Takes in when services announced themselves last, by Redis's clock, ms, and which of them said that they stop.
    pub(super) fn note(&self, announced: BTreeMap<String, u64>, stopped: &BTreeSet<String>) {
        let mut seen = self.lock();
        let at = Instant::now();
        // While Redis was away or refused writes, the others could not announce themselves either.
        let unheard = seen.looked.map(|looked| at - looked).unwrap_or_default();
        let unheard = unheard.saturating_sub(LOOKED_EVERY);
        for heard in seen.all.values_mut() {
            heard.looks += 1;
            heard.at += unheard;
        }
        let is_on_record = |name: &String| announced.contains_key(name);
        let is_forgotten =
            |name: &String, heard: &Heard| heard.looks >= FORGOTTEN_AFTER && !is_on_record(name);
        let forgotten = seen.all.iter().filter(|(name, heard)| is_forgotten(name, heard));
        let forgotten = forgotten.map(|(_, heard)| heard.at).max();
        seen.all.retain(|name, heard| !is_forgotten(name, heard));
        seen.complete_since = Some(seen.complete_since.unwrap_or(at)).max(forgotten);
        for (instance, announced_ms) in announced {
            let has_stopped = stopped.contains(&instance);
            let now = Heard { announced_ms, at, looks: 0, has_stopped };
            let heard = seen.all.entry(instance).or_insert(now);
            if heard.announced_ms != announced_ms {
                *heard = now;
            }
        }
        seen.looked = Some(at);
    }

    /// Those that may have been there after `moment`, and so may have seen what was not known then; `None`: all.
    pub(super) fn after(&self, moment: Option<Instant>) -> BTreeSet<String> {
        self.lock().split(moment).0
    }

    /// Those that had stopped before `moment`, and so have seen nothing that was not known then.
    pub(super) fn stopped_before(&self, moment: Option<Instant>) -> BTreeSet<String> {
        self.lock().split(moment).1
    }

    /// The same, if it is known of all.
    pub(super) fn all_after(&self, moment: Instant) -> Option<BTreeSet<String>> {
        let seen = self.lock();
        seen.complete_since.filter(|since| *since <= moment).map(|_| seen.split(Some(moment)).0)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Seen ===

impl Seen {
    /// Those that may have been there after `moment`, and the others.
    fn split(&self, moment: Option<Instant>) -> (BTreeSet<String>, BTreeSet<String>) {
        // Of who has announced itself since it was last looked nothing is known.
        let moment = moment.min(self.looked);
        let may_be = |heard: &Heard| {
            let slack = if heard.has_stopped { Duration::ZERO } else { STOPPED_AFTER };
            moment.is_none_or(|moment| heard.at + slack >= moment)
        };
        self.all.iter().map(|(name, heard)| (name.clone(), may_be(heard))).fold(
            (BTreeSet::new(), BTreeSet::new()),
            |(mut there, mut gone), (name, may_be)| {
                let set = if may_be { &mut there } else { &mut gone };
                set.insert(name);
                (there, gone)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(names: &[(&str, u64)]) -> BTreeMap<String, u64> {
        names.iter().map(|(name, ms)| ((*name).to_owned(), *ms)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn while_nobody_could_announce_itself_nobody_has_stopped() {
        let (witnesses, nobody) = (Witnesses::default(), BTreeSet::new());
        witnesses.note(heard(&[("a", 1), ("b", 1)]), &nobody);
        let after = async |seconds, a| {
            tokio::time::advance(Duration::from_secs(seconds)).await;
            witnesses.note(heard(&[("a", a), ("b", 1)]), &nobody);
            witnesses.after(Some(Instant::now())).into_iter().collect::<String>()
        };
        assert_eq!(after(60, 2).await, "ab");
        for a in 3..5 {
            assert_eq!(after(1, a).await, "ab", "b may have done so again");
        }
        assert_eq!(after(1, 5).await, "a", "b could have done so again");
    }

    #[tokio::test(start_paused = true)]
    async fn who_stopped_before_has_seen_nothing_after() {
        let (witnesses, nobody) = (Witnesses::default(), BTreeSet::new());
        let stopped = BTreeSet::from(["b".to_owned()]);
        witnesses.note(heard(&[("a", 1), ("b", 1), ("c", 1)]), &stopped);
        tokio::time::advance(Duration::from_secs(1)).await;
        witnesses.note(heard(&[("a", 1), ("b", 1), ("c", 2)]), &nobody);
        let now = Instant::now();
        let after = |moment| witnesses.after(moment).into_iter().collect::<String>();
        assert_eq!(after(Some(now)), "ac", "it is not known whether a has stopped");
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(1)).await;
            witnesses.note(heard(&[("a", 1), ("b", 1), ("c", 2)]), &nobody);
        }
        witnesses.note(heard(&[("a", 1), ("b", 1), ("c", 3)]), &nobody);
        assert_eq!(after(Some(Instant::now())), "c");
        assert_eq!(after(None), "abc");
        assert_eq!(witnesses.stopped_before(None), BTreeSet::new());
    }

    #[tokio::test(start_paused = true)]
    async fn while_nobody_looks_nobody_is_taken_for_stopped() {
        let (witnesses, nobody) = (Witnesses::default(), BTreeSet::new());
        witnesses.note(heard(&[("a", 1)]), &nobody);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(witnesses.stopped_before(Some(Instant::now())), BTreeSet::new());
        witnesses.note(heard(&[("a", 1)]), &nobody);
        let gone = || witnesses.stopped_before(Some(Instant::now()));
        assert_eq!(gone(), BTreeSet::new(), "perhaps it could not announce itself");
        for _ in 0..4 {
            tokio::time::advance(Duration::from_secs(1)).await;
            witnesses.note(heard(&[("a", 1)]), &nobody);
        }
        assert_eq!(gone(), BTreeSet::from(["a".to_owned()]));
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_not_heard_of_for_an_hour_is_forgotten() {
        let (witnesses, nobody) = (Witnesses::default(), BTreeSet::new());
        let begun = Instant::now();
        assert_eq!(witnesses.all_after(begun), None);
        witnesses.note(heard(&[("a", 1)]), &nobody);
        assert_eq!(witnesses.all_after(begun), Some(BTreeSet::from(["a".to_owned()])));
        assert_eq!(witnesses.all_after(begun - Duration::from_secs(1)), None, "nobody looked");
        tokio::time::advance(Duration::from_secs(9)).await;
        (1..=FORGOTTEN_AFTER).for_each(|_| witnesses.note(heard(&[]), &nobody));
        assert_eq!(witnesses.after(None), BTreeSet::new());
        assert_eq!(witnesses.all_after(begun), None, "somebody was there who is forgotten");
        assert_eq!(witnesses.all_after(Instant::now()), Some(BTreeSet::new()));
    }
}
