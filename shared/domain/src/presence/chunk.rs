//! Chunks: a line's bits are kept in pieces, so that no key is large, none is read as a whole without
//! need, and those whose places are over can go. Within a chunk people are counted by blocks.

/// The places of one chunk. Their bits and Redis's header fit in an allocation of 16 KB.
pub const CHUNK_PLACES: u64 = 130_560;
/// The places of one block: the chunk's bytes divide evenly into blocks.
pub const BLOCK_PLACES: u64 = 8_160;
/// The blocks of one chunk.
pub const BLOCKS: u64 = CHUNK_PLACES / BLOCK_PLACES;

/// The chunk of `place`. Bit 0 of chunk 0 stays empty, because places begin at 1.
#[must_use]
pub fn chunk_of(place: u64) -> u64 {
    place / CHUNK_PLACES
}

/// The block of `place`, counted from the beginning of the line.
#[must_use]
pub fn block_of(place: u64) -> u64 {
    place / BLOCK_PLACES
}

/// The first and the last place of `block`.
#[must_use]
pub fn places_of(block: u64) -> (u64, u64) {
    (block * BLOCK_PLACES, (block + 1) * BLOCK_PLACES - 1)
}
