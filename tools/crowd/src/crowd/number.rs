//! The few conversions between whole numbers and fractions that the figures need, in one place so
//! that the lint exceptions stand in one place too. No arithmetic lives here.

use std::time::Duration;

/// A count as a fraction; exact up to 2^53, far beyond any crowd.
#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^53")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

/// A 64-bit count as a fraction; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts here stay far below 2^53")]
pub(crate) fn real64(count: u64) -> f64 {
    count as f64
}

/// A signed level as a fraction; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "levels here stay far below 2^53")]
pub(crate) fn level(count: i64) -> f64 {
    count as f64
}

/// Rounds a fraction down to an index; what is negative or no number becomes 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(crate) fn index(fraction: f64) -> usize {
    fraction.floor() as usize
}

/// Rounds a fraction to the nearest whole number; what is no number becomes 0.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub(crate) fn whole(fraction: f64) -> i64 {
    fraction.round() as i64
}

/// Rounds a fraction to the nearest count; what is negative or no number becomes 0.
pub(crate) fn natural(fraction: f64) -> u64 {
    u64::try_from(whole(fraction)).unwrap_or(0)
}

/// A number in half the room; seven digits of it.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough where it is used")]
pub(crate) fn short(fraction: f64) -> f32 {
    fraction as f32
}

/// A span as whole milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Seconds as a duration: negative, absurd and not-a-number values become zero.
pub(crate) fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(Duration::ZERO)
}
