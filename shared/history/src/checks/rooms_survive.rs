//! An acknowledged room stays until it is deleted, and a deleted one stays away.

use std::sync::Arc;

use crate::{
    Call, Event, Invariant, PutAs, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// A room that was created or found is there until somebody deletes it; then it is gone until somebody
/// creates it.
///
/// A violation: Redis misses a room that nobody can have deleted for longer than the bound; an answer
/// that shows a deleted room, to a call that began after the deletion was acknowledged, while
/// nobody can have created it again. Why: an empty Redis must not make a deployment forget its rooms,
/// nor memories bring back what operators have removed.
///
/// Not a violation: a room that is missing while it is restored; pushed snapshots; a room that was
/// put while the deletion was under way; a deletion or creation of unknown outcome. Who is apart, during a split, may
/// delete and create the room, or reset it, and so bring it back, for after it.
#[derive(Debug, Clone, Default)]
pub(super) struct RoomsSurvive {
    there: Option<Arc<Event>>,
    missing_since: Option<Arc<Event>>,
    deleted: Option<Arc<Event>>,
    /// When the last call that may delete the room was sent or answered, ms.
    delete_ms: Option<u64>,
    /// Puts that were sent and not answered: by whom, and when.
    puts: Vec<(Arc<str>, u64)>,
    /// When the last one was answered, ms.
    put_ms: Option<u64>,
    /// Whether somebody apart may have deleted it, or made it anew.
    deleted_apart: bool,
    made_apart: bool,
}

// === impl RoomsSurvive ===

impl Check for RoomsSurvive {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Sent(Call::Delete) | What::Unknown(Call::Delete) => {
                (self.delete_ms, self.there) = (Some(now.at_ms), None);
            }
            What::Deleted { .. } => self.delete(now),
            What::Sent(Call::Put { .. }) => self.puts.push((Arc::clone(&now.by), now.at_ms)),
            What::Put(put) => {
                let own = self.puts.iter().position(|(by, _)| *by == now.by);
                own.map(|own| self.puts.swap_remove(own));
                self.put_ms = Some(now.at_ms);
                // A conflict may also mean that there is no room.
                if put.outcome != PutAs::Conflict {
                    self.is_there(now, facts, found);
                }
            }
            What::RoomMissing => self.is_missing(now, facts, found),
            What::ConfigRead(_) => self.is_there(now, facts, found),
            _ if now.reset_epoch().is_some() => self.is_there(now, facts, found),
            _ => {}
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        if let What::Sent(call) = &now.what {
            self.deleted_apart |= *call == Call::Delete;
            self.made_apart |= matches!(call, Call::Put { .. } | Call::Reset);
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        if turn.is_over && std::mem::take(&mut self.deleted_apart) {
            (self.delete_ms, self.there, self.missing_since) = (Some(turn.at_ms), None, None);
        }
        if turn.is_over && std::mem::take(&mut self.made_apart) {
            self.put_ms = Some(turn.at_ms);
        }
    }
}

impl RoomsSurvive {
    fn delete(&mut self, now: &Seen<'_>) {
        (self.delete_ms, self.there, self.missing_since) = (Some(now.at_ms), None, None);
        self.deleted = Some(now.keep());
    }

    /// Whether a put may have taken effect after the deletion.
    fn may_be_put(&self, deleted: &Event, settles_ms: u64) -> bool {
        let began_ms = deleted.began_ms;
        self.put_ms.is_some_and(|put| put >= began_ms)
            || self.puts.iter().any(|(_, sent)| sent + settles_ms >= began_ms)
    }

    fn is_there(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.missing_since = None;
        if let Some(deleted) = &self.deleted
            && now.follows(deleted)
        {
            if !self.may_be_put(deleted, facts.bounds.settles_ms) {
                let what = "the room is there after it was deleted".to_owned();
                found.add(Invariant::RoomsSurvive, what, &[deleted, now]);
            }
            self.deleted = None;
        }
        if self.delete_ms.is_none_or(|deleted| deleted < now.began_ms) && self.deleted.is_none() {
            self.there = Some(now.keep());
        }
    }

    fn is_missing(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(there) = &self.there else { return };
        let since = self.missing_since.get_or_insert_with(|| now.keep());
        if now.began_ms.saturating_sub(since.at_ms) > facts.bounds.restored_within_ms {
            let what = format!("the room has been missing for {} ms", now.began_ms - since.at_ms);
            found.add(Invariant::RoomsSurvive, what, &[there, since, now]);
            // Told once.
            (self.there, self.missing_since) = (None, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{History, joined, put, put_sent, rules};

    fn deleted() -> History {
        let history = History::ruled(rules()).call((5, 5), "c", What::Sent(Call::Delete));
        history.call((5, 9), "c", What::Deleted { existed: true })
    }

    #[test]
    fn a_room_may_be_missing_for_a_while_only() {
        let lost = History::ruled(rules()).does(5, What::RoomMissing).holds();
        let restored = lost.does(60_000, What::RoomMissing).does(60_001, joined(1, 1));
        let again = restored.does(70_000, What::RoomMissing).does(130_000, What::RoomMissing);
        again.holds().does(130_001, What::RoomMissing).breaks(Invariant::RoomsSurvive);
    }

    #[test]
    fn a_room_that_may_be_deleted_may_be_missing() {
        let history = History::ruled(rules()).does(5, What::Sent(Call::Delete));
        history.does(6, What::RoomMissing).does(900_000, What::RoomMissing).holds();
        History::new().does(6, What::RoomMissing).does(900_000, What::RoomMissing).holds();
    }

    #[test]
    fn a_deleted_room_that_is_back_is_found() {
        deleted().does(10, joined(1, 1)).breaks(Invariant::RoomsSurvive);
        deleted().call((9, 12), "a", joined(1, 1)).holds();
    }

    #[test]
    fn a_deleted_room_may_be_created_again() {
        let history = deleted().does(10, put_sent(None, rules())).does(11, joined(1, 1)).holds();
        history.does(12, put(Some(1), rules(), PutAs::Created)).does(13, joined(2, 1)).holds();
        let racing = History::ruled(rules()).does(6, put_sent(Some(2), rules()));
        let racing = racing.call((5, 9), "c", What::Deleted { existed: true });
        racing.does(10, joined(1, 1)).holds();
    }
}
