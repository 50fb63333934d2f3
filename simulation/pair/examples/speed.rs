//! How fast the simulation is: virtual minutes per real minute, of a busy room and of a quiet one, on
//! one core. `cargo run --release -p vestibule-simulation --example speed`
#![expect(clippy::disallowed_methods, reason = "it measures real time")]

use std::time::Instant;

use serde_json::json;
use vestibule_history::Bounds;
use vestibule_simulation::{Cast, Part, Person, Role, RoomPlan, Scenario, Seed, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Virtual time, ms.
const LENGTH_MS: u64 = 300_000;
const STAYS_MS: u64 = 60_000;

fn main() {
    // 5,000 waiting and 500 inside, once everyone is there: as many come as leave.
    speed("busy", 500, 5_500, 500 * LENGTH_MS / STAYS_MS);
    speed("quiet", 500, 20, 100);
}

fn speed(name: &str, ceiling: u64, at_once: u64, later: u64) {
    let rush = (0..at_once).map(|nth| 2_000 + nth);
    let rest = (0..later).map(|nth| 8_000 + nth * (LENGTH_MS - 8_000) / later.max(1));
    let part = |(number, arrives_ms)| {
        let person = Person {
            arrives_ms,
            patience_ms: None,
            returns_after_ms: None,
            stays_ms: STAYS_MS / 2 + number * 7_919 % STAYS_MS,
            says_goodbye: true,
            hidden: false,
            throttled: false,
            tabs: 1,
            browses: false,
        };
        Part { number, room: 0, role: Role::Polite(person), origin: None }
    };
    let settings = json!({ "total_active_users": ceiling, "session_duration_seconds": 300 });
    let scenario = Scenario {
        seed: Seed(1),
        length_ms: LENGTH_MS,
        services: (3, 2),
        regions: vec!["eu".to_owned()],
        rooms: vec![RoomPlan { name: "sale".to_owned(), settings }],
        cast: Cast((0..).zip(rush.chain(rest)).map(part).collect()),
        operations: Vec::new(),
        faults: Vec::new(),
        defect: None,
    };
    let begun = Instant::now();
    let bounds = Bounds { has_all_visitors: true, ..Bounds::default() };
    let outcome = run(&scenario, &bounds, false).expect("an event loop");
    let real = begun.elapsed().as_secs_f64();
    let virtual_seconds = f64::from(u32::try_from(LENGTH_MS / 1000).unwrap_or(u32::MAX));
    println!(
        "{name}: {:.0} virtual minutes per real minute; {} commands, {} entries, ceiling used {:.2} %, \
         digest {:016x}, broken {}",
        virtual_seconds / real,
        outcome.commands,
        outcome.figures.entries,
        outcome.figures.used.unwrap_or(0.0) * 100.0,
        outcome.digest,
        outcome.broken.len(),
    );
    for broken in outcome.broken.iter().take(3) {
        println!("  {broken}");
    }
}
