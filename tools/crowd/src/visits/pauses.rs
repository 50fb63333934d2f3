//! How long somebody waits before the next call.

use std::time::Duration;

use rand::{Rng, rngs::SmallRng};

use super::Answer;
use crate::crowd::number::seconds;

/// Seconds until the next check-in when the answer does not say.
const DEFAULT_CHECK_IN: f64 = 2.0;
/// No answer may make a visitor come back sooner than this, in seconds.
const SOONEST_CHECK_IN: f64 = 0.05;

/// Until the next check-in, as the answer says it.
pub(super) fn told(answer: &Answer) -> Duration {
    seconds(answer.next_check_in_seconds.unwrap_or(DEFAULT_CHECK_IN).max(SOONEST_CHECK_IN))
}

/// A pause of `base` seconds, lengthened by up to `spread` of itself, so that a crowd that was
/// turned away together does not come back together.
pub(super) fn jittered(base: f64, spread: f64, rng: &mut SmallRng) -> Duration {
    seconds(base * (1.0 + spread * rng.random::<f64>()))
}

/// The pause before the `nth` try in a row (from 0) after a broken connection, before jitter.
pub(super) fn backoff(nth: u32) -> f64 {
    0.1 * f64::from(1_u32 << nth.min(5))
}
