//! Which pictures of a run are wanted: the same options for a rehearsal and for a simulation.

use std::path::PathBuf;

use anyhow::bail;
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

// === impl Pictures ===

impl Pictures {
    /// Refuses a picture in a folder that is not there, before there is anything to draw: a run may take hours.
    ///
    /// # Errors
    /// Which folder that is.
    pub(crate) fn check_folders(&self) -> anyhow::Result<()> {
        for path in [&self.plot, &self.scatter, &self.heat_map].into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let path = path.display();
                bail!("{path} cannot be written: there is no folder {}", folder.display());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_said_before_the_run() {
        let pictures = |path: &str| Pictures { plot: Some(path.into()), ..Pictures::default() };
        assert!(pictures("plot.svg").check_folders().is_ok());
        let error = pictures("/nowhere/at/all/plot.svg").check_folders().unwrap_err().to_string();
        assert!(error.contains("there is no folder /nowhere/at/all"), "{error}");
    }
}
