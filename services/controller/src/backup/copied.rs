//! Which rooms a backup holds, and what became of them while the others were copied. Of each it is known by its reset
//! epoch whether a tombstone is its own: one of that epoch or a later one.

use std::collections::BTreeMap;

use vestibule_domain::RoomId;
use vestibule_store::Piece;

/// The rooms that were copied, each with its reset epoch then.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Copied(BTreeMap<RoomId, u64>);

// === impl Copied ===

impl Copied {
    /// Takes in a piece of a room. Its line makes it whole.
    pub(super) fn take(&mut self, room: &RoomId, piece: &Piece) {
        if piece.key() == "line" {
            let epoch = field_of_line(piece, "reset_epoch").and_then(|text| text.parse().ok());
            self.0.insert(room.clone(), epoch.unwrap_or(0));
        }
    }

    /// Whether it has all of this room.
    pub(super) fn has(&self, room: &RoomId) -> bool {
        self.0.contains_key(room)
    }

    /// The rooms.
    pub(super) fn rooms(&self) -> Vec<RoomId> {
        self.0.keys().cloned().collect()
    }

    /// How many of them were not deleted since. Restored, the others are deleted, too.
    pub(super) fn count_left(&self, tombstones: &BTreeMap<RoomId, u64>) -> usize {
        self.0.len() - self.deleted(tombstones).count()
    }

    /// Those that were deleted, each with its tombstone. One that is there all the same was made anew, and what it is now
    /// was not copied.
    pub(super) fn deleted(
        &self,
        tombstones: &BTreeMap<RoomId, u64>,
    ) -> impl Iterator<Item = (&RoomId, u64)> {
        let buried = |room, epoch| tombstones.get(room).copied().filter(|buried| *buried >= epoch);
        self.0.iter().filter_map(move |(room, epoch)| Some((room, buried(room, *epoch)?)))
    }
}

/// What a piece says in this field, if it is a room's line.
pub(super) fn field_of_line<'a>(piece: &'a Piece, field: &str) -> Option<&'a str> {
    match piece {
        Piece::Hash { key, fields } if key == "line" => fields.get(field).map(String::as_str),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(name: &str) -> RoomId {
        RoomId::new(name).unwrap()
    }

    fn piece(key: &str, epoch: u64) -> Piece {
        let fields = BTreeMap::from([("reset_epoch".to_owned(), epoch.to_string())]);
        Piece::Hash { key: key.to_owned(), fields }
    }

    #[test]
    fn what_became_of_a_room_is_told_by_its_epoch() {
        let (sale, vip) = (room("sale"), room("vip"));
        let mut copied = Copied::default();
        copied.take(&sale, &piece("settings", 5));
        assert!(!copied.has(&sale), "its line is missing");
        copied.take(&sale, &piece("line", 5));
        copied.take(&vip, &piece("line", 7));
        assert_eq!(copied.rooms(), [sale.clone(), vip.clone()]);
        let of_one_before = BTreeMap::from([(sale.clone(), 4), (room("other"), 9)]);
        assert_eq!(copied.count_left(&of_one_before), 2);
        for epoch in [5, 6] {
            let tombstones = BTreeMap::from([(sale.clone(), epoch)]);
            assert_eq!(copied.count_left(&tombstones), 1);
            assert_eq!(copied.deleted(&tombstones).collect::<Vec<_>>(), [(&sale, epoch)]);
        }
    }
}
