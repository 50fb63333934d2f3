//! Pictures of a run, as SVG: over time, and everyone's wait against the time of arrival, as points
//! and as a map. The files of this folder choose what is shown; how it looks is in `style`.

mod canvas;
mod heat_map;
mod over_time;
mod scatter;
mod style;

use std::{fs, path::Path};

use anyhow::Context;

use crate::{
    cli::Pictures,
    duration::human,
    record::RunRecord,
    report::{Setting, arrivals_and_waits, pearson},
};

/// Draws the pictures that are wanted.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(pictures: &Pictures, run: &RunRecord, setting: &Setting) -> anyhow::Result<()> {
    type Draw = fn(&RunRecord, &Setting) -> anyhow::Result<String>;
    let wanted: [(_, Draw); 3] = [
        (&pictures.plot, over_time::draw),
        (&pictures.scatter, |run, setting| scatter::draw(&Cloud::of(run, setting))),
        (&pictures.heat_map, |run, setting| heat_map::draw(&Cloud::of(run, setting))),
    ];
    for (path, draw) in wanted {
        path.iter().try_for_each(|path: &std::path::PathBuf| put(path, &draw(run, setting)?))?;
    }
    Ok(())
}

fn put(path: &Path, svg: &str) -> anyhow::Result<()> {
    fs::write(path, svg).with_context(|| format!("writing {}", path.display()))
}

/// Everyone's arrival and wait, and what to write above them.
#[derive(Debug)]
struct Cloud {
    title: String,
    subtitle: String,
    /// Seconds of arrival and of waiting.
    points: Vec<(f64, f64)>,
}

// === impl Cloud ===

impl Cloud {
    fn of(run: &RunRecord, setting: &Setting) -> Self {
        let points = arrivals_and_waits(run);
        let method = setting.method.map_or(String::new(), |method| format!(": {}", method.name()));
        let mut subtitle = vec![format!("{} visitors {}", setting.visitors, setting.arrival())];
        subtitle.extend(conditions(setting));
        subtitle.extend(pearson(&points).map(|r| format!("correlation {}", signed(r))));
        let title = format!("Wait by time of arrival{method}");
        Self { title, subtitle: subtitle.join(", "), points }
    }

    /// The last arrival and the longest wait, in seconds.
    fn reach(&self) -> (f64, f64) {
        self.points.iter().fold((0.0, 0.0), |most, p| (most.0.max(p.0), most.1.max(p.1)))
    }
}

/// A correlation with a real minus.
fn signed(r: f64) -> String {
    format!("{r:+.3}").replace('-', "\u{2212}")
}

/// Under which conditions the crowd came.
fn conditions(setting: &Setting) -> Vec<String> {
    let mut parts = vec![format!("staying {}", human(setting.stay_seconds))];
    parts.extend(setting.ceiling.map(|ceiling| format!("ceiling {ceiling}")));
    parts.extend(setting.rate_per_minute.map(|rate| format!("{rate} new visitors per minute")));
    if setting.abandon > 0.0 {
        parts.push(format!("{:.0}% close the tab while waiting", setting.abandon * 100.0));
    }
    parts
}
