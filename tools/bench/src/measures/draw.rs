//! The cost of a place in a draw of a million, which is computed at every request.

use std::{hint::black_box, time::Instant};

use vestibule_domain::Draw;

use super::Bench;
use crate::report::{Figures, Target, Unit};

const PARTICIPANTS: u64 = 1_000_000;
/// Places computed in a round.
const PLACES: u32 = 20_000;
/// The distance of the queue numbers, so that they are spread over the whole draw.
const STRIDE: u64 = 48_271;
const MICROS: Target = Target::Below(20.0);

/// Measures what a place costs.
#[expect(clippy::disallowed_methods, reason = "any seed will do")]
pub(crate) fn draw(bench: &Bench) -> Figures {
    let draw = Draw::new(1, PARTICIPANTS, rand::random());
    let rounds = (0..bench.options.rounds).map(|_| micros_per_place(&draw));
    Figures::of("draw").add("a place of a million", Unit::Micros, rounds).with_target(MICROS)
}

fn micros_per_place(draw: &Draw) -> f64 {
    let start = Instant::now();
    for nth in 0..u64::from(PLACES) {
        black_box(draw.position(1 + nth * STRIDE % PARTICIPANTS));
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(PLACES)
}
