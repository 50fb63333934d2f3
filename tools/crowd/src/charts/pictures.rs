//! Which pictures of a run are wanted: the same options for a rehearsal and for a simulation.

use std::path::PathBuf;

use clap::Args;

/// Files to draw into.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Pictures {
    /// Draw the run over time into this SVG file
    #[arg(long, env = "VESTIBULE_PLOT", value_name = "FILE", help_heading = "The report")]
    pub(crate) plot: Option<PathBuf>,

    /// Draw everyone's wait against the time of arrival into this SVG file
    #[arg(long, env = "VESTIBULE_SCATTER", value_name = "FILE", help_heading = "The report")]
    pub(crate) scatter: Option<PathBuf>,

    /// Draw how many waited how long, by time of arrival, into this SVG file
    #[arg(long, env = "VESTIBULE_HEAT_MAP", value_name = "FILE", help_heading = "The report")]
    pub(crate) heat_map: Option<PathBuf>,
}
