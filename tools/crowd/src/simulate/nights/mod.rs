//! The judge on the command line: many short nights, each with rooms, visitors, operators and faults by its
//! seed. What the judge does is in `vestibule-simulation`; here it is asked, and what it says is printed.

mod command_line;
mod options;

use std::{
    fmt::Write,
    sync::{Arc, atomic::AtomicBool},
};

use serde_json::json;
use vestibule_simulation::{BrokenNight, Nights, Tally};

pub(crate) use self::options::NightsOptions;
use super::stop;
use crate::{
    crowd::{CrowdOptions, duration::human, number::real64},
    output,
    progress::Progress,
};

/// Failing seeds that a summary names per invariant.
const NAMED: usize = 10;

/// Judges the nights that were asked for, and says whether nothing broke.
pub(super) async fn run(
    options: &NightsOptions,
    crowd: &CrowdOptions,
    as_json: bool,
) -> anyhow::Result<bool> {
    let nights = Arc::new(options.nights(crowd));
    let playing = Arc::clone(&nights);
    let tally = stop::when_asked(move |stops| play_all(&playing, &stops)).await?;
    let (finding, everything) = (Arc::clone(&nights), options.shows_everything());
    let failure = match tally.first_broken() {
        Some(seed) => {
            let find = move || BrokenNight::find(&finding, seed, everything);
            tokio::task::spawn_blocking(find).await??
        }
        None => None,
    };
    let again = failure.as_ref().map(|night| command_line::again(&nights, night));
    if as_json {
        let mut failure = json!(failure);
        if let Some(line) = again {
            failure["command_line"] = line.into();
        }
        output::print(&format!("{:#}\n", json!({ "summary": tally, "failure": failure })))?;
    } else {
        if let Some((night, line)) = failure.zip(again) {
            output::print(&format!("{night}\nAgain:\n  {line}\n\n"))?;
        }
        output::print(&text(&tally))?;
    }
    Ok(tally.broken.is_empty())
}

fn play_all(nights: &Nights, stops: &AtomicBool) -> anyhow::Result<Tally> {
    let mut progress = Progress::new();
    let all = nights.seeds.end - nights.seeds.start;
    nights.play_all(stops, |tally| {
        progress.show(|| {
            let (played, broken) = (tally.nights, tally.broken_nights());
            let sentence = format!("{played} of {all} nights, something broke in {broken}");
            (real64(played) / real64(all), sentence)
        });
    })
}

/// The summary for people.
fn text(tally: &Tally) -> String {
    let mut out = format!(
        "{} nights, {} of virtual time in {}: {:.1} virtual minutes per minute; {} entries, \
         {} commands\n",
        tally.nights,
        human(tally.virtual_seconds),
        human(tally.real_seconds),
        tally.virtual_seconds / tally.real_seconds.max(0.001),
        tally.entries,
        tally.commands,
    );
    for (invariant, seeds) in &tally.broken {
        let named: Vec<_> = seeds.iter().take(NAMED).map(ToString::to_string).collect();
        let (count, named) = (seeds.len(), named.join(", "));
        let more = if count > NAMED { ", …" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(out, "BROKEN: {invariant} in {count} nights: seeds {named}{more}");
    }
    if tally.broken.is_empty() {
        out.push_str("Nothing broke.\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_the_seeds() {
        let broken = [("rate", vec![4, 7]), ("waits", (0..11).collect())].into();
        let tally = Tally { virtual_seconds: 90.0, real_seconds: 1.0, broken, ..Tally::default() };
        let text = text(&tally);
        assert!(text.contains("90 s of virtual time in 1 s: 90.0 virtual"), "{text}");
        assert!(text.contains("BROKEN: rate in 2 nights: seeds 4, 7\n"), "{text}");
        assert!(text.contains("waits in 11 nights: seeds 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"));
    }
}
