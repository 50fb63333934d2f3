//! Equal chances: in a random room how often someone gets in does not depend on when or how often
//! they look, nor on when they came.

use vestibule_domain::{QueueingMethod, RoomSettings};

use crate::{
    crowd::{Crowd, Entry, Habit},
    world::{World, patient},
};

crate::on_both_servers!(everyone_has_the_same_chance_whatever_their_habit,);

const VISITORS: usize = 1_200;
const SEATS: u64 = 40;
/// Admissions to look at: a thousand and more of each habit.
const ADMISSIONS: usize = 5_500;
/// The first of them, while the line was forming, are left out.
const WARM_UP: usize = 300;
/// What chi-square with four degrees of freedom stays below in 999 of 1,000 cases.
const CHI_SQUARE_4: f64 = 18.467;

async fn everyone_has_the_same_chance_whatever_their_habit(world: World) {
    let method = QueueingMethod::Random;
    world.open(RoomSettings { queueing_method: method, ..patient(SEATS) }).await;
    let mut crowd = Crowd::at(&world).await;
    let habits: Vec<Habit> = Habit::ALL.into_iter().cycle().take(VISITORS).collect();
    for few in habits.chunks(5) {
        crowd.join(few).await;
        let left: Vec<Habit> = crowd.step().await.iter().map(|entry| entry.habit).collect();
        if !left.is_empty() {
            crowd.join(&left).await;
        }
    }
    let warm = crowd.entries.len();
    println!("warm {warm}");
    let start = std::time::Instant::now();
    while crowd.entries.len() < ADMISSIONS {
        let left: Vec<Habit> = crowd.step().await.iter().map(|entry| entry.habit).collect();
        if !left.is_empty() {
            // Whoever leaves comes back as someone else.
            crowd.join(&left).await;
        }
    }
    println!("{:?} virtual {} s, serving {}", start.elapsed(), (crowd.now_ms()-crate::world::START_MS)/1000, crowd.room.serving_counter);
    let entries = &crowd.entries[WARM_UP..];
    let counts = Habit::ALL.map(|habit| entries.iter().filter(|e| e.habit == habit).count());
    println!("{counts:?} {}", chi_square(&counts));
    println!("{}", correlation(entries));
    for habit in Habit::ALL {
        let of: Vec<_> = crowd.entries.iter().filter(|e| e.habit == habit).collect();
        let mean: u64 = of.iter().map(|e| e.entered_at - e.joined_at).sum::<u64>() / of.len() as u64;
        let won: u64 = of.iter().filter_map(|e| Some(crowd.won.get(&e.number)?.0 - e.joined_at)).sum::<u64>() / of.len() as u64;
        let looks: u64 = of.iter().filter_map(|e| Some(crowd.won.get(&e.number)?.1)).sum::<u64>();
        let (l1, l2) = of.iter().fold((0.0, 0.0), |a, e| (a.0 + crate::crowd::luck_of(e.number), a.1 + 1.0));
        println!("{habit:?} until won {won} looks as winner {looks} of {} luck {}", of.len(), l1 / l2);
        let line: Vec<_> = crowd.line.values().filter(|v| v.habit == habit).collect();
        let winners = line.iter().filter(|v| v.waiter.stake.wins(v.luck)).count();
        let lucks: f64 = line.iter().map(|v| v.luck - f64::from(v.waiter.stake.credit) / 16777216.0).sum::<f64>() / line.len() as f64;
        println!("{habit:?} mean wait {mean} in line {} winners {winners} mean luck left {lucks}", line.len());
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn chi_square(counts: &[usize]) -> f64 {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

#[expect(clippy::cast_precision_loss, reason = "numbers and seconds")]
fn correlation(entries: &[Entry]) -> f64 {
    let n = entries.len() as f64;
    let pairs: Vec<(f64, f64)> = (entries.iter())
        .map(|e| (e.number as f64, (e.entered_at - e.joined_at) as f64))
        .collect();
    let mean = |f: fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let cov: f64 = pairs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let vx: f64 = pairs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    let vy: f64 = pairs.iter().map(|(_, y)| (y - my).powi(2)).sum();
    cov / (vx * vy).sqrt()
}
