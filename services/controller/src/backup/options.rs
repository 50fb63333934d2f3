//! The options of both commands.

use std::path::PathBuf;

use clap::Args;
use vestibule_domain::reconciliation::UNSEEN_NUMBERS;

/// What to back up, and where to.
#[derive(Debug, Clone, Args)]
pub struct BackupOptions {
    /// File to write, or `-` for standard output. A file of this name is replaced once the new one is complete. Only
    /// its owner may read it.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,

    /// Close every room first, for a move: nobody changes it any more, so the file is its last word and nothing is
    /// left out. Stop all controllers before. Until one runs again, on this Redis or where the file is restored,
    /// those inside stay inside and everybody else is told to come back.
    #[arg(long)]
    pub close: bool,
}

/// What to restore.
#[derive(Debug, Clone, Args)]
pub struct RestoreOptions {
    /// File that `backup` has written.
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,

    /// How many numbers of each room may have been handed out since the backup: so many are left out, so that nobody
    /// is given a number that somebody holds. Say more if more may have come. [default: 100000; none after
    /// `backup --close`]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub unseen_numbers: Option<u64>,
}

// === impl RestoreOptions ===

impl RestoreOptions {
    /// How many numbers are left out; `is_closed`: nobody could change a room after the backup.
    pub(super) fn unseen(&self, is_closed: bool) -> Option<u64> {
        self.unseen_numbers.or((!is_closed).then_some(UNSEEN_NUMBERS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_out_unless_the_rooms_were_closed() {
        let options =
            |unseen_numbers| RestoreOptions { from: PathBuf::from("backup"), unseen_numbers };
        assert_eq!(options(None).unseen(true), None);
        assert_eq!(options(None).unseen(false), Some(100_000), "as --help says");
        assert_eq!(options(Some(7)).unseen(true), Some(7), "the old Redis may have gone on");
    }
}
