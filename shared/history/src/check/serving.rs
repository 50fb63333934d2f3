//! Until when positions were certainly not served.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::{Event, What};

/// Of each reset epoch: serving counter → the latest beginning of a call that found it there. Only
/// calls that say more than another: a lower counter found later says the same and more.
#[derive(Debug, Clone, Default)]
pub(super) struct ServingSeen(FxHashMap<u64, BTreeMap<i64, u64>>);

// === impl ServingSeen ===

impl ServingSeen {
    pub(super) fn observe(&mut self, event: &Event) {
        let Some((reset_epoch, counter)) = counter_in(event) else { return };
        let seen = self.0.entry(reset_epoch).or_default();
        let began = event.began_ms;
        if seen.range(..=counter).next_back().is_some_and(|(_, known)| *known >= began) {
            return;
        }
        while let Some((&above, &known)) = seen.range(counter..).next()
            && known <= began
        {
            seen.remove(&above);
        }
        seen.insert(counter, began);
    }

    pub(super) fn unserved_until(&self, reset_epoch: u64, position: u64) -> u64 {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let seen = self.0.get(&reset_epoch);
        seen.and_then(|seen| seen.range(..position).next_back()).map_or(0, |(_, began)| *began)
    }
}

/// The serving counter that an answered call found, and the epoch that it belongs to.
fn counter_in(event: &Event) -> Option<(u64, i64)> {
    match &event.what {
        What::Joined(joined) => Some((joined.reset_epoch, joined.serving_counter)),
        What::Served { reset_epoch, serving_counter }
        | What::Incremented { reset_epoch, serving_counter, .. } => {
            Some((*reset_epoch, *serving_counter))
        }
        What::Snapshot(seen) if !seen.pushed => Some((seen.reset_epoch, seen.serving_counter)),
        _ => None,
    }
}
