//! Equal chances: in a random room how soon someone gets in depends neither on when nor on how
//! often they look, nor on when they came.

use std::collections::BTreeMap;

use vestibule_domain::{QueueingMethod, RoomSettings};

use crate::{
    crowd::{Crowd, Entry, Habit},
    world::{World, patient},
};

crate::on_every_server!(everyone_has_the_same_chance_whatever_their_habit);

const VISITORS: usize = 1_200;
const SEATS: u64 = 40;
/// Admissions after the line has formed: a thousand and more of each habit.
const ADMISSIONS: usize = 5_400;
/// What chi-square with four degrees of freedom stays below in 999 of 1,000 cases.
const CHI_SQUARE_4: f64 = 18.467;
/// Some 950 pairs without any connection correlate less in 999 of 1,000 cases.
const CORRELATION: f64 = 0.1;

/// 1,160 people wait for four seats a second, for 22 minutes.
async fn everyone_has_the_same_chance_whatever_their_habit(world: World) {
    let method = QueueingMethod::Random;
    world.open(RoomSettings { queueing_method: method, ..patient(SEATS) }).await;
    let mut crowd = Crowd::at(&world).await;
    (crowd.step_ms, crowd.steps_a_tick) = (500, 2);
    let habits: Vec<Habit> = Habit::ALL.into_iter().cycle().take(VISITORS).collect();
    // They come over a minute, so that hidden tabs do not all look in the same moment.
    for few in habits.chunks(10) {
        crowd.join(few).await;
        step(&mut crowd).await;
    }
    let warm_up = crowd.entries.len();
    let (formed, formed_at) = (crowd.line.keys().copied().collect::<Vec<_>>(), crowd.now_ms());
    while crowd.entries.len() < warm_up + ADMISSIONS {
        step(&mut crowd).await;
        assert!(crowd.room.active <= SEATS);
    }
    let counts = counts(&crowd.entries[warm_up..]);
    println!("{counts:?}, chi-square {:.2}", chi_square(&counts));
    assert!(counts.iter().all(|count| *count >= 1_000), "{counts:?}");
    assert!(chi_square(&counts) < CHI_SQUARE_4, "{counts:?}");
    let correlation = correlation(&crowd, &formed, formed_at);
    println!("number and wait correlate by {correlation:.3}");
    assert!(correlation.abs() < CORRELATION, "{correlation}");
    assert!(crowd.room.serving_counter < 100, "nobody is served in order: {:?}", crowd.room);
}

/// Whoever leaves comes back as someone else with the same habit.
async fn step(crowd: &mut Crowd<'_>) {
    let left: Vec<Habit> = crowd.step().await.iter().map(|entry| entry.habit).collect();
    if !left.is_empty() {
        crowd.join(&left).await;
    }
}

fn counts(entries: &[Entry]) -> [usize; 5] {
    Habit::ALL.map(|habit| entries.iter().filter(|entry| entry.habit == habit).count())
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn chi_square(counts: &[usize]) -> f64 {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

/// Pearson's, of queue number and wait, of those who stood in line at `from`, ms: whoever still does
/// has waited until now.
#[expect(clippy::cast_precision_loss, reason = "numbers and ms")]
fn correlation(crowd: &Crowd<'_>, numbers: &[u64], from: u64) -> f64 {
    let entered_at: BTreeMap<u64, u64> =
        crowd.entries.iter().map(|entry| (entry.number, entry.entered_at)).collect();
    let until = |number: &u64| entered_at.get(number).copied().unwrap_or_else(|| crowd.now_ms());
    let x: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
    let y: Vec<f64> = numbers.iter().map(|number| (until(number) - from) as f64).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let product = |a: &[f64], b: &[f64]| {
        let (a0, b0) = (mean(a), mean(b));
        a.iter().zip(b).map(|(a, b)| (a - a0) * (b - b0)).sum::<f64>()
    };
    product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt()
}
