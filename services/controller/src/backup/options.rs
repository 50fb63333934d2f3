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
    /// is given a number that somebody holds. Say more if more may have come; after `backup --close`, 0 if no controller
    /// has run on the old Redis since. [default: 100000; after `backup --close` none, for an hour]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    pub unseen_numbers: Option<u64>,
}

/// A file of `backup --close` is the last word for so long, unless somebody says that nothing has opened the rooms since.
const LAST_WORD_SECONDS: u64 = 3600;

/// Why it is not known how many numbers are to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnseenError {
    /// The rooms were closed long ago.
    #[error(
        "the rooms were closed for it {} minutes ago, and a controller that has run on the old Redis since has opened them again: if none has, say `--unseen-numbers 0`, else how many numbers may have been handed out, or restore a later backup",
        seconds / 60
    )]
    ClosedLongAgo {
        /// How long.
        seconds: u64,
    },
    /// The rooms were open.
    #[error(
        "the rooms were open when it was made, so numbers may have been handed out since: `--unseen-numbers 0` is for files of `backup --close`"
    )]
    WasOpen,
}

// === impl RestoreOptions ===

impl RestoreOptions {
    /// How many numbers are left out; `closed_for`: nobody could change a room for so many seconds, unless a controller
    /// has opened it again; `None`: the rooms were open when the backup was made.
    ///
    /// # Errors
    /// See [`UnseenError`].
    pub(super) fn unseen(&self, closed_for: Option<u64>) -> Result<Option<u64>, UnseenError> {
        match (self.unseen_numbers, closed_for) {
            (Some(0), Some(_)) => Ok(None),
            (Some(0), None) => Err(UnseenError::WasOpen),
            (Some(count), _) => Ok(Some(count)),
            (None, None) => Ok(Some(UNSEEN_NUMBERS)),
            (None, Some(seconds)) if seconds > LAST_WORD_SECONDS => {
                Err(UnseenError::ClosedLongAgo { seconds })
            }
            (None, Some(_)) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unseen(
        unseen_numbers: Option<u64>,
        closed_for: Option<u64>,
    ) -> Result<Option<u64>, UnseenError> {
        RestoreOptions { from: PathBuf::from("backup"), unseen_numbers }.unseen(closed_for)
    }

    #[test]
    fn numbers_are_left_out_unless_the_rooms_were_closed() {
        assert_eq!(unseen(None, Some(5)), Ok(None));
        assert_eq!(unseen(None, None), Ok(Some(100_000)), "as --help says");
        assert_eq!(unseen(Some(7), Some(5)), Ok(Some(7)), "the old Redis may have gone on");
        assert_eq!(unseen(Some(0), None), Err(UnseenError::WasOpen));
    }

    #[test]
    fn whether_rooms_stayed_closed_for_long_somebody_has_to_say() {
        assert_eq!(unseen(None, Some(3_600)), Ok(None));
        let refused = unseen(None, Some(3_661)).unwrap_err();
        assert_eq!(refused, UnseenError::ClosedLongAgo { seconds: 3_661 });
        let said = refused.to_string();
        assert!(said.contains("61 minutes") && said.contains("--unseen-numbers 0"), "{said}");
        assert_eq!(unseen(Some(0), Some(3_661)), Ok(None));
        assert_eq!(unseen(Some(9), Some(3_661)), Ok(Some(9)));
    }
}
