//! Histories in which something is wrong, and the report of them.

use std::time::Duration;

use vestibule_history::{FORMAT, Joined, SessionApi, What};

use super::*;
use crate::scenario::Shape;

/// A history in which these first numbers are handed out, one after the other.
fn history(folder: &Path, firsts: &[u64]) -> Result<()> {
    let mut file = File::create(folder.join("admission-1.jsonl"))?;
    let joined = |first| {
        What::Joined(Joined {
            reset_epoch: 1,
            generation: 1,
            first,
            count: 1,
            entered: 0,
            token: None,
            suspended: false,
            again: false,
            api: SessionApi::Visitor,
            region: "local".to_owned(),
            serving_counter: 0,
            networks: None,
        })
    };
    let opened = (1_000, What::Opened { format: FORMAT });
    let joins = (2_000..).zip(firsts).map(|(at_ms, first)| (at_ms, joined(*first)));
    for (at_ms, what) in [opened].into_iter().chain(joins).chain([(9_000, What::Closed)]) {
        let room = matches!(what, What::Joined(_)).then(|| serde_json::from_str("\"sale\""));
        let room = room.transpose()?;
        let event = Event { at_ms, began_ms: at_ms, by: "admission-1".into(), room, what };
        lines::write(&event, &mut file)?;
    }
    Ok(())
}

fn outcome(firsts: &[u64]) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    history(folder.path(), firsts)?;
    let shape = Shape {
        lasts: Duration::from_secs(5),
        kinds: vec![FaultKind::Kill],
        faults: 1,
        visitors: 1,
        operations: 0,
        topology: Topology::Pair,
    };
    let scenario = Scenario::draw(Seed(1), &shape);
    let faults = vec![(1_500, scenario.faults[0].clone())];
    let mut outcome = Outcome::of(&scenario, "nothing", faults);
    outcome.judge(histories_in(folder.path())?)?;
    Ok(outcome)
}

#[test]
fn what_the_judge_finds_is_told_with_the_fault_before_it() -> Result<()> {
    assert!(outcome(&[1, 2])?.holds());
    let outcome = outcome(&[1, 1])?;
    assert_eq!(outcome.violations["unique-numbers"], 1);
    assert!(outcome.stories[0].contains("501 ms after fault 0: kill"), "{:?}", outcome.stories);
    let mut table = Table::default();
    table.add(&outcome);
    assert!(table.to_string().contains("| 1 unique-numbers | 1 |"), "{table}");
    Ok(())
}

#[test]
fn what_nobody_may_see_is_a_violation() -> Result<()> {
    let mut outcome = outcome(&[1])?;
    outcome.take_in(Book::default(), &[], 0, &[], &[]);
    assert!(outcome.holds());
    let mut book = Book::default();
    book.mistakes.push("500".to_owned());
    outcome.take_in(book, &[], 3, &["it panicked".to_owned()], &["it was killed".to_owned()]);
    let counts: Vec<_> = outcome.violations.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    let expected =
        [("did-not-stop", 1), ("ended-by-itself", 1), ("not-served", 3), ("wrong-answer", 1)];
    assert_eq!(counts, expected);
    Ok(())
}
