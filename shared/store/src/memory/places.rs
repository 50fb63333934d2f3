//! Which places of a room are over, and which are AWS-style visitors', as far as this service has seen: one bit a
//! place, in the chunks in which Redis keeps them, for as long as the room is not reset. A million visitors are 128
//! kB. So nobody enters twice after Redis has lost who has entered, however long ago that was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::presence::chunk::{CHUNK_PLACES, chunk_of};

/// What a bit says of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceBits {
    /// By position: its visitor has entered or left.
    Entered,
    /// By number: its visitor gave up while it waited for a draw.
    GoneFromPools,
    /// By number: it is that of an AWS-style visitor who has not entered.
    Unattended,
}

/// The bits of one chunk: bit n of byte m, counted from the highest, is that of place 8 m + n of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacesChunk {
    pub(crate) of: PlaceBits,
    pub(crate) chunk: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The bits of a room, since its last reset.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    reset_epoch: u64,
    chunks: BTreeMap<(PlaceBits, u64), Vec<u8>>,
    /// Whose the numbers up to here are was read as a whole.
    known_upto: u64,
}

// === impl Places ===

impl Places {
    /// Takes in that the visitors of these positions have entered or left, in this epoch.
    pub(super) fn enter(&mut self, reset_epoch: u64, positions: impl IntoIterator<Item = u64>) {
        self.set(PlaceBits::Entered, reset_epoch, positions);
    }

    /// Takes in that the visitors of these numbers have given up before a draw, in this epoch.
    pub(super) fn leave_pool(&mut self, reset_epoch: u64, numbers: impl IntoIterator<Item = u64>) {
        self.set(PlaceBits::GoneFromPools, reset_epoch, numbers);
    }

    fn set(&mut self, of: PlaceBits, reset_epoch: u64, places: impl IntoIterator<Item = u64>) {
        if !self.begin(reset_epoch) {
            return;
        }
        for place in places {
            let chunk = self.chunks.entry((of, chunk_of(place))).or_default();
            let Ok(bit) = usize::try_from(place % CHUNK_PLACES) else { continue };
            if chunk.len() <= bit / 8 {
                chunk.resize(bit / 8 + 1, 0);
            }
            chunk[bit / 8] |= 0x80 >> (bit % 8);
        }
    }

    /// Takes in what Redis holds of a chunk. What is over stays so; an AWS-style visitor may have entered.
    pub(super) fn take(&mut self, reset_epoch: u64, read: PlacesChunk) {
        let PlacesChunk { of, chunk, bytes } = read;
        if !self.begin(reset_epoch) || bytes.is_empty() && !self.chunks.contains_key(&(of, chunk)) {
            return;
        }
        let known = self.chunks.entry((of, chunk)).or_default();
        if of == PlaceBits::Unattended {
            *known = bytes;
            return;
        }
        if known.len() < bytes.len() {
            known.resize(bytes.len(), 0);
        }
        for (known, read) in known.iter_mut().zip(bytes) {
            *known |= read;
        }
    }

    /// Takes in that all chunks were read when this was the highest number, in this epoch.
    pub(super) fn note_known(&mut self, reset_epoch: u64, queue_counter: u64) {
        if self.begin(reset_epoch) {
            self.known_upto = self.known_upto.max(queue_counter);
        }
    }

    /// The epoch that they are of.
    pub(crate) fn reset_epoch(&self) -> u64 {
        self.reset_epoch
    }

    /// Up to which number it is known which are AWS-style visitors', in this epoch.
    pub(crate) fn known_upto(&self, reset_epoch: u64) -> u64 {
        if self.reset_epoch == reset_epoch { self.known_upto } else { 0 }
    }

    /// All that say something.
    pub(crate) fn chunks(&self) -> Vec<PlacesChunk> {
        let says = self.chunks.iter().filter(|(_, bytes)| bytes.iter().any(|byte| *byte > 0));
        says.map(|((of, chunk), bytes)| PlacesChunk {
            of: *of,
            chunk: *chunk,
            bytes: bytes.clone(),
        })
        .collect()
    }

    /// Whether something of this epoch counts. A later epoch than all before begins anew.
    fn begin(&mut self, reset_epoch: u64) -> bool {
        if reset_epoch > self.reset_epoch {
            *self = Self { reset_epoch, ..Self::default() };
        }
        reset_epoch == self.reset_epoch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(of: PlaceBits, bytes: &[u8]) -> PlacesChunk {
        PlacesChunk { of, chunk: 0, bytes: bytes.to_vec() }
    }

    #[test]
    fn what_is_over_stays_so_and_a_reset_begins_anew() {
        let mut places = Places::default();
        places.enter(7, [1, 10, CHUNK_PLACES + 2]);
        places.take(7, read(PlaceBits::Entered, &[0, 0, 0b1000_0000]));
        places.take(7, read(PlaceBits::Entered, &[0b0000_0001]));
        let second = PlacesChunk { chunk: 1, ..read(PlaceBits::Entered, &[0b0010_0000]) };
        let first = read(PlaceBits::Entered, &[0b0100_0001, 0b0010_0000, 0b1000_0000]);
        assert_eq!(places.chunks(), [first, second]);
        places.enter(6, [5]);
        assert_eq!(places.chunks().len(), 2, "of before a reset");
        places.enter(8, []);
        assert_eq!((places.chunks().len(), places.reset_epoch()), (0, 8));
    }

    #[test]
    fn an_aws_style_visitor_who_has_entered_is_none_any_more() {
        let mut places = Places::default();
        places.take(7, read(PlaceBits::Unattended, &[0b0110_0000]));
        places.note_known(7, 2);
        places.take(7, read(PlaceBits::Unattended, &[0b0010_0000]));
        assert_eq!(places.chunks(), [read(PlaceBits::Unattended, &[0b0010_0000])]);
        places.take(7, read(PlaceBits::Unattended, &[]));
        assert!(places.chunks().is_empty());
        assert_eq!((places.known_upto(7), places.known_upto(8)), (2, 0));
    }
}
