//! Nothing is answered by an epoch from before an acknowledged reset.

use std::sync::Arc;

use crate::{
    ClaimedAs, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
};

/// Once a reset was acknowledged, no call that begins later finds an earlier epoch.
///
/// A violation: an answer that shows the room in an epoch before that of the reset, to a call that
/// began after the acknowledgement; also a claim of a request id of before the reset that is answered
/// with anything but `foreign`. Why: a reset that is undone brings back a line that everyone was told
/// is over.
///
/// Not a violation: answers to calls that were under way; pushed snapshots, which may come late;
/// a reset of unknown outcome, or one that only those know who are apart.
#[derive(Debug, Clone, Default)]
pub(super) struct ResetsSurvive(Option<(u64, Arc<Event>)>);

// === impl ResetsSurvive ===

impl Check for ResetsSurvive {
    fn observe(&mut self, now: &Seen<'_>, _facts: &Facts, found: &mut Findings<'_>) {
        if let Some((epoch, reset)) = &self.0
            && now.follows(reset)
            && let Some(answered) = shown_epoch(now).filter(|answered| answered < epoch)
        {
            let what = format!("epoch {answered} answers after the reset to epoch {epoch}");
            found.add(Invariant::ResetsSurvive, what, &[reset, now]);
        }
        if let What::Reset { reset_epoch } = now.what
            && self.0.as_ref().is_none_or(|(known, _)| *known < reset_epoch)
        {
            self.0 = Some((reset_epoch, now.keep()));
        }
    }
}

/// The epoch that answers: for a claim, that of its id where the claim was not foreign.
fn shown_epoch(event: &Event) -> Option<u64> {
    match &event.what {
        What::Claimed(claimed) if claimed.outcome != ClaimedAs::Foreign => {
            Some(claimed.id_epoch.min(claimed.reset_epoch))
        }
        _ => event.reset_epoch(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{EPOCH, History, claimed, joined, rules, snapshot};

    fn reset() -> History {
        let what = What::Reset { reset_epoch: EPOCH + 7 };
        History::new().does(3, joined(1, 5)).call((4, 6), "c", what)
    }

    #[test]
    fn an_old_epoch_after_a_reset_is_found() {
        reset().does(7, joined(6, 1)).breaks(Invariant::ResetsSurvive);
        let old = claimed(3, ClaimedAs::NotServed);
        reset().does(7, old).breaks(Invariant::ResetsSurvive);
        let pulled = What::Snapshot(snapshot(5, rules()));
        reset().does(7, pulled).breaks(Invariant::ResetsSurvive);
    }

    #[test]
    fn calls_under_way_late_pushes_and_refusals_pass() {
        let seen = crate::SnapshotSeen { pushed: true, ..snapshot(5, rules()) };
        let history = reset().call((6, 9), "a", joined(6, 1)).does(10, What::Snapshot(seen));
        let What::Claimed(claim) = claimed(3, ClaimedAs::Foreign) else { unreachable!() };
        let foreign = crate::Claimed { reset_epoch: EPOCH + 7, ..claim };
        history.does(11, What::Claimed(foreign)).holds();
    }
}
