//! Short nights by chance, with the faults that the services withstand, and every seed that ever failed.

use std::collections::BTreeSet;

use vestibule_simulation::{FaultKind, Scenario, Seed, Shape, run};

use crate::bounds;

/// How many.
const NIGHTS: u64 = 200;

/// Seeds that failed once, and what was wrong then.
const FAILED_ONCE: [(u64, &str); 17] = [
    (92, "an admission that had not heard of a reset refused the tickets that it had just given"),
    (1181, "the judge took a snapshot that came late for a later one"),
    (1387, "an admission that had not heard of a reset refused the tickets of another"),
    (3048, "an admission that had not heard of a room for seconds said that there is none"),
    (4226, "the judge took a room that was made anew for the one before"),
    (6279, "the same"),
    (7174, "an admission refused the tickets of a room that was made in place of a deleted one"),
    (8405, "the judge took a room that was made anew for the one before"),
    (10398, "an admission refused the tickets of a room that was made in place of a deleted one"),
    (
        26535,
        "the judge took a room whose counter an operator had taken below zero for one with seats",
    ),
    (40513, "the same"),
    (46101, "the same"),
    (63291, "the same"),
    (78163, "the same"),
    (85779, "the same"),
    (89859, "the same"),
    (91776, "the same"),
];

/// The same, with hostile visitors and AWS-style clients in them. Each call that services make more shifts what a
/// seed brings, so these nights need not bring again what they once did; `store/tests/contract/door.rs` and
/// `joins.rs` have each case of the scripts by itself.
const FAILED_IN_COMPANY: [(u64, &str); 9] = [
    (623, "a seat went past somebody whose request had ended a tenth of a second before"),
    (985, "the judge took seats that an operator took away again for free ones"),
    (1139, "a seat that had been free for long was given away with some that had just come free"),
    (1225, "of two instances that asked at once the quicker one got a seat for its own visitor"),
    (1662, "a seat went past somebody whose answer was lost"),
    (2635, "a newcomer went past somebody at the door, and the rate was not spread evenly"),
    (3813, "the judge took those for asking whom an instance that was away had not asked for"),
    (5289, "a newcomer went past those who had been served a moment before"),
    (6323, "somebody was passed who had just become next"),
];

/// Nights of splits that failed once: in both a second replica is promoted while the first split lasts, or just after
/// it.
const FAILED_IN_SPLITS: [(u64, &str); 2] = [
    (327, "of two sides the later one's serving counter was taken, and not the higher one"),
    (434, "a room went on before those had spoken who were awaited since the last time"),
];

/// Nights of everything that failed once.
const FAILED_IN_ALL: [(u64, &str); 33] = [
    (82, "how far a leader had served was known by a push alone, and nobody heard that"),
    (100_176, "a new leader did not wait for somebody whom only others knew"),
    (
        111_529,
        "who alone knew of a key that Redis had lost stopped without putting it back; and again: who had just read one \
        forgot it, since Redis did not say what time it was",
    ),
    (112_893, "two services did not hear that they were asked, since nobody listened for them"),
    (113_287, "who had just changed a config did not remember it"),
    (113_322, "a room followed a jump of the clock, since those who called first had just started"),
    (130_158, "somebody was told to wait for all numbers that a reconciliation had left out"),
    (151_762, "nobody but a new leader heard that what was seen was asked for"),
    (
        163_798,
        "the judge called those asking in vain whom an even rate lets in one after the other",
    ),
    (164_833, "a room that had lost its settings alone forgot what its line had counted"),
    (100_506, "who alone knew that somebody had entered stopped before it was asked"),
    (30_140, "who alone knew that somebody had entered stopped while Redis was away"),
    (22_965, "a session was put back as it was before somebody renewed it who had stopped since"),
    (
        29_658,
        "a session stood in for another that nobody had told of, until it was said to have ended; and again: a leader that \
        had just started did not know whom to wait for",
    ),
    (25_287, "who had won by chance entered past others when the order of arrival counted again"),
    (23_315, "who asked in vain for a seat to be held lost its place"),
    (29_342, "the same, of another room"),
    (23_515, "the judge knew of no numbers that visitors brought from the other side of a split"),
    (307_319, "the judge closed before it was told of joins that were under way at the end"),
    (316_487, "the same"),
    (103_400, "an admission that had just started wrote to a server that all others had left"),
    (304_784, "an admission that had just started read rooms before it knew the time"),
    (309_527, "the same"),
    (330_048, "the same"),
    (341_464, "the same"),
    (321_399, "the judge knew of no deletion before a split that is finished on its other side"),
    (
        601_513,
        "a leader that had come from another server did not know what was deleted on this one",
    ),
    (
        509_788,
        "the judge took seats for free whose sessions somebody who was silent may have renewed",
    ),
    (
        342_538,
        "an AWS-style client was passed by all who were behind it in a room with several seats",
    ),
    (
        319_332,
        "a newcomer went past those who had been served before a loss, since nobody was at the door",
    ),
    (
        5_002_592,
        "the judge took those who came one after the other for somebody who waits all the time",
    ),
    (
        5_007_802,
        "the judge took a replica that lags in a split for its end, and three servers for two",
    ),
    (
        5_060_586,
        "who had entered a room whose line was lost, and which was deleted then, counted for the next one of its name",
    ),
];

/// Seeds that failed in nights of nothing but these two kinds, and what was wrong.
const FAILED_IN_TWO: [(u64, [FaultKind; 2], &str); 7] = [
    (47, [FaultKind::Split, FaultKind::LoseKey], "leaders on both sides had one epoch"),
    (592, [FaultKind::Split, FaultKind::LoseKey], "somebody who was awaited came back unheard"),
    (1267, [FaultKind::Split, FaultKind::LoseKey], "what was left out counted as people"),
    (20_109, [FaultKind::Split, FaultKind::Upgrade], "a lost room was said not to exist"),
    (20_059, [FaultKind::Split, FaultKind::Upgrade], "who had told what it saw had stopped"),
    (
        20_134,
        [FaultKind::Split, FaultKind::Wipe],
        "a room was deleted that was made in the place of a deleted one",
    ),
    (343, [FaultKind::Split, FaultKind::LoseKey], "the judge knew of no numbers heard late"),
];

/// What the services withstand today.
fn withstood() -> Shape {
    Shape { faults: FaultKind::withstood(), hostile: 0.0, aws: 0.0, ..everything() }
}

/// Everything but limits per network, which have nights of their own in `limited.rs`.
fn everything() -> Shape {
    Shape { limited: 0.0, ..Shape::default() }
}

/// What they withstood when the seeds failed that are named here: with other kinds they would draw other nights.
fn withstood_once() -> Shape {
    let mut shape = withstood();
    shape.faults.retain(|kind| !matches!(kind, FaultKind::Split | FaultKind::LoseKey));
    shape
}

/// The same, among hostile visitors and AWS-style clients.
fn in_company() -> Shape {
    let Shape { hostile, aws, .. } = Shape::default();
    Shape { hostile, aws, ..withstood_once() }
}

/// Nights of nothing but splits.
fn split() -> Shape {
    Shape { faults: vec![FaultKind::Split], ..withstood() }
}

fn check(shape: &Shape, seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let scenario = Scenario::draw(Seed(seed), shape);
        let outcome = run(&scenario, &bounds(), false).unwrap();
        let broken: BTreeSet<_> = outcome.broken.iter().map(|broken| broken.invariant).collect();
        assert!(broken.is_empty(), "seed {seed}: {broken:?}");
    }
}

#[test]
fn nothing_breaks_in_200_short_nights() {
    // On two threads: each night runs on one.
    std::thread::scope(|scope| {
        scope.spawn(|| check(&withstood(), (0..NIGHTS).step_by(2)));
        check(&withstood(), (1..NIGHTS).step_by(2));
    });
}

#[test]
fn nothing_breaks_in_50_nights_of_splits() {
    check(&split(), 0..50);
    check(&split(), FAILED_IN_SPLITS.iter().map(|(seed, _)| *seed));
}

#[test]
fn what_failed_once_does_not_fail_again() {
    check(&withstood_once(), FAILED_ONCE.iter().map(|(seed, _)| *seed));
    check(&in_company(), FAILED_IN_COMPANY.iter().map(|(seed, _)| *seed));
    check(&everything(), FAILED_IN_ALL.iter().map(|(seed, _)| *seed));
}

#[test]
fn nights_of_two_kinds_of_faults_that_failed_once_do_not_fail_again() {
    for (seed, faults, _) in FAILED_IN_TWO {
        check(&Shape { faults: faults.to_vec(), ..everything() }, [seed]);
    }
}
