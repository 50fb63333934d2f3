//! A part of all traces, as options have it.

/// A number from 0 to 1.
pub(super) fn parse_fraction(text: &str) -> Result<f64, String> {
    let fraction = text.parse().ok().filter(|fraction| (0.0..=1.0).contains(fraction));
    fraction.ok_or_else(|| "a fraction is a number from 0 to 1, such as 0.01".to_owned())
}
