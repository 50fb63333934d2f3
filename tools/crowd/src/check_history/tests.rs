//! Histories on disk, good and doctored.

use clap::Parser;
use vestibule_history::{Event, FORMAT, What};

use super::*;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    options: CheckHistoryOptions,
}

fn options(args: &[&str]) -> Option<CheckHistoryOptions> {
    Cli::try_parse_from([&["check-history"], args].concat()).ok().map(|cli| cli.options)
}

fn history(folder: &Path, name: &str, counters: &[i64]) -> PathBuf {
    let room: Option<vestibule_domain::RoomId> = Some("sale".parse().unwrap());
    let served = counters
        .iter()
        .map(|serving_counter| What::Served { reset_epoch: 1, serving_counter: *serving_counter });
    let whats = [What::Opened { format: FORMAT }].into_iter().chain(served).chain([What::Closed]);
    let mut text = Vec::new();
    for (at_ms, what) in (1..).zip(whats) {
        let (by, room) = (name.into(), room.clone());
        lines::write(&Event { at_ms, began_ms: at_ms, by, room, what }, &mut text).unwrap();
    }
    let path = folder.join(format!("{name}.jsonl"));
    fs::write(&path, text).unwrap();
    path
}

fn report(args: &[&str]) -> Report {
    judge(&options(args).unwrap()).unwrap()
}

#[test]
fn a_doctored_history_is_found_and_a_good_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let good = history(folder.path(), "a", &[1, 2, 3]);
    let found = report(&[good.to_str().unwrap()]);
    assert!(found.violations.is_empty() && found.figures.events == 5);
    assert!(found.to_string().contains("Nothing contradicts"));

    history(folder.path(), "b", &[0, 0]);
    let found = report(&[folder.path().to_str().unwrap()]);
    assert_eq!(found.violations.len(), 1, "b finds 0 when a has found 1");
    let text = found.to_string();
    assert!(text.contains("serving-counter at 3 in sale") && text.contains("VIOLATIONS: 1"));
    let json = serde_json::to_string_pretty(&found).unwrap();
    assert!(json.contains(r#""invariant": "serving-counter""#), "{json}");
}

#[test]
fn promises_may_be_left_out_by_their_codes() {
    let folder = tempfile::tempdir().unwrap();
    let bad = history(folder.path(), "a", &[3, 1]);
    let bad = bad.to_str().unwrap();
    assert!(report(&[bad, "--skip", "serving-counter,ceiling"]).violations.is_empty());
    assert!(options(&[bad, "--skip", "nonsense"]).is_none());
    assert!(options(&[]).is_none(), "a file is needed");
    assert_eq!(options(&[bad, "--overtaking", "1.5"]).unwrap().bounds().overtaking_ms, 1_500);
    assert!(options(&[bad, "--overtaking", "-1"]).is_none());
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = options(&[folder.path().to_str().unwrap()]).unwrap();
    assert!(judge(&empty).unwrap_err().to_string().contains("no .jsonl file"));
    let path = folder.path().join("other.jsonl");
    fs::write(&path, "hello\n").unwrap();
    let other = options(&[path.to_str().unwrap()]).unwrap();
    assert!(judge(&other).unwrap_err().to_string().contains("other.jsonl, line 1"));
}
