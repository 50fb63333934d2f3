//! Chance as scripts have it: the numbers of C's `lrand48`, which begin anew with each process.

const BITS_48: u64 = (1 << 48) - 1;
const MOST: u64 = 0x7fff_ffff;

/// The generator of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Random(u64);

// === impl Random ===

impl Default for Random {
    fn default() -> Self {
        Self(0x1234_abcd_330e)
    }
}

impl Random {
    /// As `math.randomseed`.
    pub(crate) fn seed(&mut self, seed: u32) {
        self.0 = u64::from(seed) << 16 | 0x330e;
    }

    /// A number from 0 up to but not including 1.
    #[expect(clippy::cast_precision_loss, reason = "31 bits fit")]
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & BITS_48;
        ((self.0 >> 17) % MOST) as f64 / MOST as f64
    }
}
