//! Which bits of a room this instance has set in the generation under way, so that it does not set them
//! again. Once a second it does all the same, so that Redis hears that the room is heard.

use rustc_hash::FxHashMap;
use vestibule_domain::presence::{
    Band, Spot,
    chunk::{CHUNK_PLACES, chunk_of},
};

use super::room_state::RoomState;

/// After so long without a check-in Redis is told again, ms: a leader calls a crowd silent of which nothing
/// is heard for some seconds (`domain::tick`).
const HEARD_EVERY_MS: u64 = 1_000;
/// Words of 64 bits in a chunk.
const WORDS: usize = (CHUNK_PLACES / 64) as usize;

/// The bits that were set, of one room.
#[derive(Debug, Default)]
pub(super) struct SentCheckIns {
    /// Of another state of the room nothing is known.
    state: Option<RoomState>,
    /// Redis's time when it last took check-ins in, ms.
    heard_ms: u64,
    bands: FxHashMap<Band, Generation>,
}

/// The bits of one generation: by pool and chunk.
#[derive(Debug, Default)]
struct Generation {
    number: u64,
    chunks: FxHashMap<(Option<u32>, u64), Box<[u64]>>,
}

// === impl SentCheckIns ===

impl SentCheckIns {
    /// Whether this bit need not be sent at `now_ms`: it is set in the generation under way, and something of
    /// the room was sent lately.
    pub(super) fn holds(&self, state: &RoomState, (spot, band): (Spot, Band), now_ms: u64) -> bool {
        let generation = self.bands.get(&band).filter(|generation| {
            self.state.as_ref() == Some(state) && generation.number == band.generation(now_ms)
        });
        let generation = generation.filter(|_| now_ms < self.heard_ms + HEARD_EVERY_MS);
        generation.is_some_and(|generation| generation.holds(spot))
    }

    /// Notes that these bits were set at `now_ms`.
    pub(super) fn note(&mut self, state: &RoomState, check_ins: &[(Spot, Band)], now_ms: u64) {
        if self.state.as_ref() != Some(state) {
            *self = Self { state: Some(state.clone()), ..Self::default() };
        }
        self.heard_ms = now_ms;
        for (spot, band) in check_ins {
            let number = band.generation(now_ms);
            let generation = self.bands.entry(*band).or_default();
            if generation.number != number {
                *generation = Generation { number, ..Generation::default() };
            }
            generation.note(*spot);
        }
    }
}

// === impl Generation ===

impl Generation {
    fn holds(&self, spot: Spot) -> bool {
        let (key, word, bit) = place_of(spot);
        self.chunks.get(&key).is_some_and(|chunk| chunk[word] & bit != 0)
    }

    fn note(&mut self, spot: Spot) {
        let (key, word, bit) = place_of(spot);
        let chunk = self.chunks.entry(key).or_insert_with(|| vec![0; WORDS].into());
        chunk[word] |= bit;
    }
}

/// Its chunk, the word in the chunk, and the bit in the word.
fn place_of(spot: Spot) -> ((Option<u32>, u64), usize, u64) {
    let (chunk, offset) = (chunk_of(spot.place()), spot.place() % CHUNK_PLACES);
    let word = usize::try_from(offset / 64).unwrap_or_default();
    ((spot.pool(), chunk), word, 1 << (offset % 64))
}

#[cfg(test)]
mod tests {
    use vestibule_domain::RoomId;

    use super::*;

    fn state(generation: u32) -> RoomState {
        RoomState { room: RoomId::new("r").unwrap(), reset_epoch: 1, generation }
    }

    #[test]
    fn a_bit_is_known_for_its_generation_and_for_one_state_of_the_room() {
        let band = Band::for_interval(1_000);
        let spot = Spot::Position(CHUNK_PLACES + 77);
        let mut sent = SentCheckIns::default();
        assert!(!sent.holds(&state(1), (spot, band), 64_000));
        sent.note(&state(1), &[(spot, band)], 64_000);
        assert!(sent.holds(&state(1), (spot, band), 64_999));
        assert!(!sent.holds(&state(1), (spot, band), 65_000), "the room must be heard");
        sent.note(&state(1), &[(spot, band)], 95_900);
        assert!(sent.holds(&state(1), (spot, band), 95_999));
        assert!(!sent.holds(&state(1), (spot, band), 96_000), "the next generation");
        assert!(!sent.holds(&state(2), (spot, band), 95_999), "a restored room has lost its bits");
        assert!(!sent.holds(&state(1), (spot, Band::for_interval(90_000)), 95_999));
        let pooled = Spot::Pool { draw: 0, number: CHUNK_PLACES + 77 };
        assert!(!sent.holds(&state(1), (pooled, band), 95_999));
        sent.note(&state(1), &[(pooled, band)], 96_000);
        assert!(!sent.holds(&state(1), (spot, band), 96_000));
        assert!(sent.holds(&state(1), (pooled, band), 96_000));
    }
}
