//! A few numbers as a line of bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar for each number, from the lowest for none to the highest for the greatest of them.
pub(super) fn sparkline(numbers: impl Iterator<Item = u64> + Clone) -> String {
    let greatest = numbers.clone().max().unwrap_or(0);
    let bar = |number: u64| {
        // Rounded up, so that somebody is more than nobody.
        let height = (u128::from(number) * 7).div_ceil(u128::from(greatest.max(1)));
        usize::try_from(height).ok().and_then(|height| BARS.get(height)).copied().unwrap_or('█')
    };
    numbers.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_numbers() {
        let bars = |numbers: &[u64]| sparkline(numbers.iter().copied());
        assert_eq!(bars(&[0, 1, 4, 7]), "▁▂▅█");
        assert_eq!(bars(&[0, 0]), "▁▁");
        assert_eq!(bars(&[u64::MAX, 1]), "█▂");
        assert_eq!(bars(&[]), "");
    }
}
