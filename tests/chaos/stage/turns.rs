//! What becomes of the servers, as it happens: a history of its own, for the judge. No service knows it.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use vestibule_history::{Event, FORMAT, ServersAre, What, lines};

use crate::{crowd::Times, report::now_ms};

/// Who writes this history, and the name of its file.
const NAME: &str = "servers";

/// What became of the servers, and when, unix ms. Of a split, those apart are named as instances are here.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Vec<(u64, ServersAre)>>);

// === impl Turns ===

impl Turns {
    /// Notes what the servers are from now on. Returns the time.
    pub(crate) fn note(&self, are: ServersAre) -> u64 {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at_ms = now_ms();
        turns.push((at_ms, are));
        at_ms
    }

    /// Each split: from when a replica lagged until the servers were whole again.
    pub(crate) fn splits(&self) -> Vec<Times> {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut splits = Vec::new();
        let mut began_ms = None;
        for (at_ms, are) in turns.iter() {
            match are {
                ServersAre::Split { since_ms, .. } => began_ms = began_ms.or(Some(*since_ms)),
                ServersAre::Healed => splits.extend(began_ms.take().map(|from| from..=*at_ms)),
                ServersAre::Lagging => {}
            }
        }
        splits.extend(began_ms.map(|from| from..=u64::MAX));
        splits
    }

    /// Writes it beside the histories of the services, in which these have other names.
    pub(crate) fn write(&self, histories: &Path) -> Result<()> {
        let turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return Ok(()) };
        let names = Names::read(histories)?;
        let events =
            turns.iter().map(|(at_ms, are)| (*at_ms, What::Servers(names.as_written(are))));
        let opened = (first.0, What::Opened { format: FORMAT });
        let mut file = File::create(histories.join(format!("{NAME}.jsonl")))?;
        for (at_ms, what) in [opened].into_iter().chain(events).chain([(last.0, What::Closed)]) {
            let event = Event { at_ms, began_ms: at_ms, by: Arc::from(NAME), room: None, what };
            lines::write(&event, &mut file)?;
        }
        Ok(())
    }
}

/// Each history's file, and who writes in it.
#[derive(Debug)]
struct Names(Vec<(PathBuf, Arc<str>)>);

// === impl Names ===

impl Names {
    fn read(histories: &Path) -> Result<Self> {
        let mut names = Vec::new();
        for file in fs::read_dir(histories)? {
            let path = file?.path();
            let Some(line) = BufReader::new(File::open(&path)?).lines().next() else { continue };
            let first: Event =
                serde_json::from_str(&line?).with_context(|| path.display().to_string())?;
            names.push((path, first.by));
        }
        Ok(Self(names))
    }

    /// The same, with every name that those apart have had.
    fn as_written(&self, are: &ServersAre) -> ServersAre {
        match are {
            ServersAre::Split { since_ms, apart } => {
                let is_apart = |path: &Path| apart.iter().any(|name| is_of(path, name));
                let apart = self.0.iter().filter(|(path, _)| is_apart(path));
                let apart = apart.map(|(_, by)| Arc::clone(by)).collect();
                ServersAre::Split { since_ms: *since_ms, apart }
            }
            other => other.clone(),
        }
    }
}

/// Where an instance of this name writes its history when it is started for the `start`th time.
pub(super) fn history(histories: &Path, instance: &str, start: u32) -> PathBuf {
    histories.join(format!("{instance}-{start}.jsonl"))
}

/// Whether the instance of this name wrote this.
fn is_of(history: &Path, instance: &str) -> bool {
    let stem = history.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.rsplit_once('-').is_some_and(|(name, _)| name == instance)
}

#[test]
fn those_apart_are_named_as_their_histories_name_them() {
    let folder = tempfile::tempdir().unwrap();
    for (instance, start, by) in [("a-1", 1, "eu-7"), ("a-1", 2, "eu-8"), ("a-2", 1, "eu-9")] {
        let event = Event {
            at_ms: 3,
            began_ms: 3,
            by: Arc::from(by),
            room: None,
            what: What::Opened { format: FORMAT },
        };
        let file = File::create(history(folder.path(), instance, start)).unwrap();
        lines::write(&event, file).unwrap();
    }
    // One that was killed before it wrote anything.
    File::create(history(folder.path(), "a-1", 3)).unwrap();
    let turns = Turns::default();
    turns.write(folder.path()).unwrap();
    assert!(!folder.path().join("servers.jsonl").exists(), "nothing happened");
    let since_ms = turns.note(ServersAre::Lagging);
    turns.note(ServersAre::Split { since_ms, apart: vec![Arc::from("a-1")] });
    let healed_ms = turns.note(ServersAre::Healed);
    assert_eq!(turns.splits(), [since_ms..=healed_ms]);
    turns.write(folder.path()).unwrap();
    let written = fs::read_to_string(folder.path().join("servers.jsonl")).unwrap();
    let written: Vec<Event> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let What::Servers(ServersAre::Split { apart, .. }) = &written[2].what else { panic!() };
    let mut apart: Vec<&str> = apart.iter().map(AsRef::as_ref).collect();
    apart.sort_unstable();
    assert_eq!((apart, written.len()), (vec!["eu-7", "eu-8"], 5));
}
