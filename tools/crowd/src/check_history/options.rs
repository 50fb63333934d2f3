//! Options of `check-history`: whose histories are read, and how strictly.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use vestibule_history::{Bounds, Invariant};

use crate::crowd::{duration, number::millis};

/// Options of `check-history`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "EXIT CODE\n  \
    0  every promise was kept, as far as the histories show\n  \
    1  one was not, or a history cannot be read; the report says what\n  \
    64 the options make no sense\n\n\
    EXAMPLES\n  \
    VESTIBULE_HISTORY=/var/lib/vestibule/history/ vestibule-admission …\n  \
    vestibule-crowd check-history /var/lib/vestibule/history/\n  \
    vestibule-crowd check-history admission-1.jsonl controller.jsonl --json")]
pub(crate) struct CheckHistoryOptions {
    /// Histories that the services wrote (`VESTIBULE_HISTORY`), or folders of them; those of
    /// all instances
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long, env = "VESTIBULE_JSON")]
    pub(crate) json: bool,

    /// Some instances wrote no history, or began after the rooms were made: conclude nothing from what
    /// is not there
    #[arg(long, env = "VESTIBULE_INCOMPLETE")]
    pub(crate) incomplete: bool,

    /// Promises not to check, by their codes
    #[arg(long, env = "VESTIBULE_SKIP", value_name = "CODE", value_delimiter = ',')]
    pub(crate) skip: Vec<Invariant>,

    /// By how many seconds somebody at the door may be overtaken
    #[arg(long, env = "VESTIBULE_OVERTAKING", value_name = "SECONDS", value_parser = duration::parse)]
    pub(crate) overtaking: Option<Duration>,

    /// The least part of the ceiling that must have been used while people asked, from 0 to 1
    #[arg(long, env = "VESTIBULE_LEAST_USE", value_name = "PART")]
    pub(crate) least_use: Option<f64>,
}

// === impl CheckHistoryOptions ===

impl CheckHistoryOptions {
    /// What the judge goes by.
    pub(crate) fn bounds(&self) -> Bounds {
        let standard = Bounds::default();
        Bounds {
            skipped: self.skip.clone(),
            is_complete: !self.incomplete,
            overtaking_ms: self.overtaking.map_or(standard.overtaking_ms, millis),
            least_use: self.least_use,
            ..standard
        }
    }
}
