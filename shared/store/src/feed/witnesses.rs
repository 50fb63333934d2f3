//! The services that run, as far as this one has heard: each may have seen something that no other has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The services that were ever heard of.
#[derive(Debug, Default)]
pub(super) struct Witnesses(Mutex<BTreeMap<String, Heard>>);

#[derive(Debug, Clone, Copy)]
struct Heard {
    /// When it announced itself last, by Redis's clock, ms.
    announced_ms: u64,
    /// When that was heard.
    at: Instant,
    /// Whether it said that it stops.
    has_stopped: bool,
}

/// A service announces itself twice a second: one that was heard of so long before had stopped by then.
const STOPPED_AFTER: Duration = Duration::from_millis(1_500);

// === impl Witnesses ===

impl Witnesses {
    /// Takes in when services announced themselves last, by Redis's clock, ms, and which of them said that they stop.
    pub(super) fn note(&self, announced: BTreeMap<String, u64>, stopped: &BTreeSet<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (instance, announced_ms) in announced {
            let has_stopped = stopped.contains(&instance);
            let now = Heard { announced_ms, at: Instant::now(), has_stopped };
            let heard = all.entry(instance).or_insert(now);
            if heard.announced_ms != announced_ms {
                *heard = now;
            }
        }
    }

    /// Those that may have been there after `moment`, and so may have seen what was not known then; `None`: all.
    pub(super) fn after(&self, moment: Option<Instant>) -> BTreeSet<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may_be = |heard: &Heard| {
            let slack = if heard.has_stopped { Duration::ZERO } else { STOPPED_AFTER };
            moment.is_none_or(|moment| heard.at + slack >= moment)
        };
        let there = all.iter().filter(|(_, heard)| may_be(heard));
        there.map(|(instance, _)| instance.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(names: &[(&str, u64)]) -> BTreeMap<String, u64> {
        names.iter().map(|(name, ms)| ((*name).to_owned(), *ms)).collect()
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
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(after(Some(Instant::now())), "c");
        assert_eq!(after(None), "abc");
    }
}
