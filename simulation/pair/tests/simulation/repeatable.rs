//! The same seed gives the same run.

use vestibule_simulation::{Scenario, Seed, Shape, run};

use crate::bounds;

#[test]
fn the_same_seed_gives_the_same_run_on_any_thread() {
    for seed in 0..16 {
        let scenario = Scenario::draw(Seed(seed), &Shape::default());
        let first = run(&scenario, &bounds(), true).unwrap();
        let again = std::thread::spawn(move || run(&scenario, &bounds(), false).unwrap());
        let again = again.join().unwrap();
        assert_eq!((first.digest, first.commands), (again.digest, again.commands), "seed {seed}");
        assert!(!first.trace.is_empty() && again.trace.is_empty());
    }
}

#[test]
fn another_seed_gives_another_run() {
    let digest = |seed| {
        run(&Scenario::draw(Seed(seed), &Shape::default()), &bounds(), false).unwrap().digest
    };
    assert_ne!(digest(1), digest(2));
}
