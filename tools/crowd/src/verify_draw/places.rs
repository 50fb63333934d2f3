//! Every place of a draw: that each is taken once, and all of them in a file.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use vestibule_domain::Draw;

/// Checks that every position of the draw is taken exactly once, on every core: one bit each.
///
/// # Errors
/// A position that is taken twice or lies outside; as many are taken by nobody.
pub(super) fn all_taken_once(draw: &Draw) -> Result<(), u64> {
    let taken: Vec<AtomicU64> = (0..draw.count().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    (0..draw.count()).into_par_iter().try_for_each(|index| take(draw, &taken, index))
}

/// Takes the place of the draw's `index`-th number.
fn take(draw: &Draw, taken: &[AtomicU64], index: u64) -> Result<(), u64> {
    let number = draw.first() + index;
    let position = draw.position(number).ok_or(number)?;
    let place = position.checked_sub(draw.first()).ok_or(position)?;
    let word = usize::try_from(place / 64).ok().and_then(|word| taken.get(word));
    let bit = 1 << (place % 64);
    let before = word.ok_or(position)?.fetch_or(bit, Ordering::Relaxed);
    if place < draw.count() && before & bit == 0 { Ok(()) } else { Err(position) }
}

/// Writes every queue number with its position, as CSV.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(draw: &Draw, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "queue_number,position")?;
    for number in (draw.first()..).take(usize::try_from(draw.count()).unwrap_or(usize::MAX)) {
        let position = draw.position(number).unwrap_or(number);
        writeln!(file, "{number},{position}")?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_a_draw_is_taken_once() {
        for count in [1, 2, 63, 64, 65, 5_000] {
            assert_eq!(all_taken_once(&Draw::new(7, count, [3; 32])), Ok(()));
        }
    }

    #[test]
    fn a_place_that_is_taken_twice_is_found() {
        let draw = Draw::new(7, 100, [3; 32]);
        let taken = [AtomicU64::new(0), AtomicU64::new(0)];
        assert_eq!(take(&draw, &taken, 5), Ok(()));
        assert_eq!(take(&draw, &taken, 5), Err(draw.position(12).unwrap()));
        assert_eq!(take(&draw, &taken, 100), Err(107), "who took no part has no place");
        assert_eq!(take(&draw, &[], 5), Err(draw.position(12).unwrap()));
    }
}
