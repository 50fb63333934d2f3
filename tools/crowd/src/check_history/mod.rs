//! `check-history`: reads what the services of a real run wrote down, and tells whether every promise
//! was kept. It needs no service and no Redis. What the promises are, and what counts as broken, is in
//! `vestibule-history`; the simulation asks the same judge.

mod options;

use std::{
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use vestibule_history::{Report, lines};

pub(crate) use self::options::CheckHistoryOptions;
use crate::output;

/// Reads, judges, tells. Returns whether nothing was found.
pub(crate) fn run(options: &CheckHistoryOptions) -> anyhow::Result<bool> {
    let report = judge(options)?;
    if options.json {
        output::print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        output::print(&report.to_string())?;
    }
    Ok(report.holds())
}

fn judge(options: &CheckHistoryOptions) -> anyhow::Result<Report> {
    let mut readers = Vec::new();
    for path in files(&options.files)? {
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        readers.push(lines::Reader::new(path.display().to_string(), BufReader::new(file)));
    }
    Ok(Report::judge(options.bounds(), lines::merge(readers))?)
}

/// The files, and for each folder those in it.
fn files(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            files.extend(histories_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn histories_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = folder.display();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {name}"))?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    ensure!(!paths.is_empty(), "there is no .jsonl file in {name}");
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
