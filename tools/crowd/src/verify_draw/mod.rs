//! `verify-draw`: checks a published draw, offline if one likes, and computes places from it.
//!
//! It trusts nothing but its own arithmetic: the record is read as a stranger's. Reading it is in
//! `source`, what must hold in `examination`, every place in `places`, and what all of that is
//! worth in `verdict`. It needs no service, no Redis and no secret.

mod examination;
mod options;
mod places;
mod source;
mod verdict;

use std::path::Path;

use anyhow::Context;
use vestibule_domain::draw::{Draw, DrawRecord};

use self::examination::{Examination, Finding};
pub(crate) use self::options::VerifyDrawOptions;
use crate::{
    output,
    report::layout::{Section, sections},
};

/// What is said of a draw that was held before the room was reset.
const SUPERSEDED: &str = "\nThis draw is over: the room was reset since. Queue numbers that were given after the reset are \
    others', and took no part in it; whoever took part has lost the place.\n";

/// Reads, checks, tells. Says whether everything holds.
///
/// # Errors
/// When the record cannot be had, or the positions cannot be written.
pub(crate) async fn run(options: &VerifyDrawOptions) -> anyhow::Result<bool> {
    let (report, holds) = verify(options).await?;
    output::print(&report)?;
    Ok(holds)
}

async fn verify(options: &VerifyDrawOptions) -> anyhow::Result<(String, bool)> {
    let record = source::read(options).await?;
    let mut examination = Examination::new(&record, options.commitment.as_deref());
    if let Some(draw) = examination.draw.clone() {
        let places = check_places(&draw, options).await;
        examination.findings.push(places);
        if let Some(path) = &options.all {
            places::write(&draw, path)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    let report = report(&record, &examination, options);
    Ok((report, examination.holds()))
}

async fn check_places(draw: &Draw, options: &VerifyDrawOptions) -> Finding {
    let count = draw.count();
    if options.quick {
        return Finding::Unchecked("places: not all were checked (--quick)".to_owned());
    }
    if count > options.up_to {
        let most = options.up_to;
        return Finding::Unchecked(format!("places: {count} are more than --up-to {most}"));
    }
    let draw = draw.clone();
    let checked = tokio::task::spawn_blocking(move || places::all_taken_once(&draw)).await;
    match checked {
        Ok(Ok(())) => Finding::Holds(format!("places: all {count} are taken exactly once")),
        Ok(Err(position)) => Finding::Broken(format!("places: {position} is not taken once")),
        Err(error) => Finding::Broken(format!("places: could not be checked: {error}")),
    }
}

fn report(record: &DrawRecord, examination: &Examination, options: &VerifyDrawOptions) -> String {
    let mut checked = Section::new("The record").row("commitment", "", record.commitment.as_str());
    let mut told = Vec::new();
    if let Some(draw) = &examination.draw {
        let (first, count) = (draw.first(), draw.count());
        let numbers = format!("{count}: queue numbers {first} to {}", first + count - 1);
        checked = checked.row("took part", "", numbers);
        told.extend(options.number.iter().map(|number| tell(draw, *number)));
        told.extend(options.all.as_deref().map(written));
    }
    for finding in &examination.findings {
        let (verdict, text) = finding.parts();
        checked = checked.row(verdict, "", text);
    }
    let mut report = format!("Draw of event {} in room {}\n", record.event, record.room);
    if record.superseded {
        report += SUPERSEDED;
    }
    report += &sections(&[checked]);
    if !told.is_empty() {
        report = report + "\n" + &told.join("\n") + "\n";
    }
    match verdict::sections(record, examination, options.commitment.is_some()) {
        Some(worth) => report + &sections(&worth),
        None => report + "\nThis record proves nothing.\n",
    }
}

fn tell(draw: &Draw, number: u64) -> String {
    match draw.position(number) {
        Some(position) => {
            let (place, count) = (position - draw.first() + 1, draw.count());
            format!("Queue number {number} drew place {place} of {count}: position {position}")
        }
        None => format!("Queue number {number} took no part: it stands at position {number}"),
    }
}

fn written(path: &Path) -> String {
    format!("Every position is in {}", path.display())
}

#[cfg(test)]
mod tests;
