//! Pictures of a run, as SVG: over time, and everyone's wait against the time of arrival, as points
//! and as a map. A file for each chooses what is shown; around all of them is one `frame`, and how
//! they look is in `style`.

mod cloud;
mod frame;
mod heat_map;
mod over_time;
mod panels;
mod pictures;
mod scatter;
mod style;

use std::{fs, path::Path};

use anyhow::Context;

use self::cloud::Cloud;
pub(crate) use self::pictures::Pictures;
use crate::record::RunRecord;

/// Draws the pictures that are wanted.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(pictures: &Pictures, run: &RunRecord) -> anyhow::Result<()> {
    if let Some(path) = &pictures.plot {
        put(path, &over_time::draw(run)?)?;
    }
    if let Some(path) = &pictures.scatter {
        put(path, &scatter::draw(&Cloud::new(run))?)?;
    }
    if let Some(path) = &pictures.heat_map {
        put(path, &heat_map::draw(&Cloud::new(run))?)?;
    }
    Ok(())
}

fn put(path: &Path, svg: &str) -> anyhow::Result<()> {
    fs::write(path, svg).with_context(|| format!("writing {}", path.display()))
}
