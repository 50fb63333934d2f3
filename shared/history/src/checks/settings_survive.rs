//! Acknowledged settings stay until a later change.

use std::sync::Arc;

use crate::{
    Call, ConfigRead, Event, Invariant, Programme, Put, PutAs, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// A read of a room's config shows the last acknowledged version, or a later one that somebody has put.
///
/// A violation: a read (or a snapshot that was asked for) with an earlier version, by a call that
/// began after a later one was acknowledged; a read with the acknowledged version and other settings;
/// and, in a complete history, a version that nobody has put. Why: what an operator was told holds.
///
/// Not a violation: reads under way during a change; the settings of a change whose outcome is
/// unknown; anything after a deletion may have taken effect; pushed snapshots. Of settings only
/// those that bear on invariants are compared. Of a change by somebody who is apart, during a split, only that it may
/// be read once that is over; if the room was reset or made anew there, its settings may be the ones that stay.
/// A deletion by them before the split others have heard of, and may finish on their side.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsSurvive {
    acknowledged: Option<(u64, Arc<Event>, Programme)>,
    /// The highest version that somebody may have put. `None` in it: any.
    highest_put: Option<u64>,
    any_put: bool,
    /// The room was reset or made anew by somebody apart.
    is_anew_apart: bool,
    /// When somebody apart last deleted it, or was told so, ms.
    deleted_apart_ms: Option<u64>,
}

// === impl SettingsSurvive ===

impl Check for SettingsSurvive {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Sent(Call::Put { version, .. }) => self.may_be(*version),
            What::Put(put) => self.answered(put, now),
            What::Deleted { .. } | What::Sent(Call::Delete) => *self = Self::default(),
            What::ConfigRead(read) => self.read(read, now, facts, found),
            What::Snapshot(seen) if !seen.pushed => {
                if let Some((version, put, _)) = self.known_before(now)
                    && seen.config_version < *version
                {
                    let (version, is) = (*version, seen.config_version);
                    let what = format!("version {version} of the config is {is} again");
                    found.add(Invariant::SettingsSurvive, what, &[put, now]);
                }
            }
            _ => {}
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        if let What::Sent(Call::Put { version, .. }) = &now.what {
            self.may_be(*version);
        }
        self.is_anew_apart |= Self::begins_anew(now);
        if matches!(now.what, What::Sent(Call::Delete) | What::Deleted { .. }) {
            self.deleted_apart_ms = Some(now.at_ms);
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        if let Some(deleted_ms) = self.deleted_apart_ms.take() {
            self.acknowledged.take_if(|(_, put, _)| put.at_ms <= deleted_ms);
        }
        if turn.is_over && std::mem::take(&mut self.is_anew_apart) {
            self.acknowledged = None;
        }
    }
}

impl SettingsSurvive {
    fn begins_anew(event: &Event) -> bool {
        match &event.what {
            What::Put(put) => put.outcome == PutAs::Created,
            What::Sent(Call::Reset | Call::Delete) => true,
            _ => false,
        }
    }

    fn may_be(&mut self, version: Option<u64>) {
        self.highest_put = self.highest_put.max(version);
        self.any_put |= version.is_none();
    }

    fn answered(&mut self, put: &Put, now: &Seen<'_>) {
        if put.outcome == PutAs::Created {
            self.acknowledged = None;
        }
        if put.outcome == PutAs::Conflict {
            return;
        }
        self.may_be(put.version);
        let Some(version) = put.version else { return };
        if self.acknowledged.as_ref().is_none_or(|(known, _, _)| *known <= version) {
            self.acknowledged = Some((version, now.keep(), put.programme.clone()));
        }
    }

    /// What was acknowledged before the call of `now` began.
    fn known_before(&self, now: &Seen<'_>) -> Option<&(u64, Arc<Event>, Programme)> {
        self.acknowledged.as_ref().filter(|(_, put, _)| now.follows(put))
    }

    fn read(&self, read: &ConfigRead, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some((version, put, programme)) = self.known_before(now) else { return };
        let is = read.version;
        let differs =
            is == *version && !self.any_put && !programme.agrees(&read.programme, now.at_ms);
        let nobodys = is > *version
            && facts.bounds.is_complete
            && !self.any_put
            && self.highest_put.is_none_or(|highest| highest < is);
        let what = if is < *version {
            format!("version {version} of the config was acknowledged, and {is} is read")
        } else if differs {
            format!("version {version} of the config is read with other settings")
        } else if nobodys {
            format!("version {is} of the config is read, which nobody has put")
        } else {
            return;
        };
        found.add(Invariant::SettingsSurvive, what, &[put, now]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Rules,
        checks::testing::{History, put, put_sent, rules, snapshot},
    };

    fn limit(ceiling: u64) -> Rules {
        Rules { ceiling: Some(ceiling), ..rules() }
    }

    fn read(version: u64, ceiling: u64) -> What {
        What::ConfigRead(ConfigRead { version, programme: Programme::always(limit(ceiling)) })
    }

    fn changed() -> History {
        let history = History::ruled(limit(5)).does(2, read(1, 5));
        history.call((5, 9), "c", put(Some(2), limit(7), PutAs::Changed))
    }

    #[test]
    fn an_earlier_version_or_other_settings_are_found() {
        changed().does(10, read(2, 7)).holds();
        changed().does(10, read(1, 5)).breaks(Invariant::SettingsSurvive);
        changed().does(10, read(2, 5)).breaks(Invariant::SettingsSurvive);
        let seen = What::Snapshot(snapshot(0, limit(5)));
        changed().does(10, seen).breaks(Invariant::SettingsSurvive);
    }

    #[test]
    fn reads_under_way_pass() {
        changed().call((9, 12), "a", read(1, 5)).holds();
    }

    #[test]
    fn a_version_must_be_somebodys() {
        changed().does(10, read(3, 9)).breaks(Invariant::SettingsSurvive);
        changed().does(10, put_sent(Some(3), limit(9))).does(11, read(3, 9)).holds();
        changed().does(10, put_sent(None, limit(9))).does(11, read(3, 9)).holds();
    }

    #[test]
    fn a_conflict_changes_nothing_and_a_deletion_everything() {
        let conflict = put(None, limit(1), PutAs::Conflict);
        changed().does(10, conflict).does(11, read(2, 7)).holds();
        changed().does(10, What::Sent(Call::Delete)).does(11, read(1, 5)).holds();
    }
}
