//! Options of `verify-draw`: whose record is read, and what is asked of it.

use std::path::PathBuf;

use clap::Args;
use reqwest::Url;
use vestibule_domain::RoomId;

use crate::http::base_url;

/// Draws of more people than this are not checked place by place unless one asks for it.
const MOST_PLACES: u64 = 10_000_000;

/// Options of `verify-draw`.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "What to check",
    after_long_help = "EXIT CODE\n  \
    0  everything holds\n  \
    1  something does not, or there is nothing to check yet; the report says what\n  \
    64 the options make no sense\n\n\
    EXAMPLES\n  \
    vestibule-crowd verify-draw --file draw.json --number 17 --number 4711\n  \
    curl https://example.com/v1/rooms/sale/draw | vestibule-crowd verify-draw --file -"
)]
pub(crate) struct VerifyDrawOptions {
    /// The published record, as a file; - reads it from stdin
    #[arg(
        long,
        env = "VESTIBULE_FILE",
        value_name = "FILE",
        required_unless_present = "admission",
        help_heading = "The record"
    )]
    pub(crate) file: Option<PathBuf>,

    /// Admission service that publishes it, as http://host:port; not asked if there is a --file
    #[arg(long, env = "VESTIBULE_ADMISSION", value_name = "URL", value_parser = base_url,
          requires = "room", help_heading = "The record")]
    pub(crate) admission: Option<Url>,

    /// Room that the draw was held in
    #[arg(long, env = "VESTIBULE_ROOM", value_parser = |text: &str| RoomId::new(text),
          help_heading = "The record")]
    pub(crate) room: Option<RoomId>,

    /// The commitment as it was published before the pre-queue, if you noted it
    #[arg(long, env = "VESTIBULE_COMMITMENT", value_name = "HEX", value_parser = commitment)]
    pub(crate) commitment: Option<String>,

    /// Queue number to tell the place of; give several
    #[arg(long, env = "VESTIBULE_NUMBER", value_name = "K", value_delimiter = ',')]
    pub(crate) number: Vec<u64>,

    /// Write every queue number with its position into this CSV file
    #[arg(long, env = "VESTIBULE_ALL", value_name = "FILE")]
    pub(crate) all: Option<PathBuf>,

    /// Do not check that every place is taken exactly once
    #[arg(long, env = "VESTIBULE_QUICK")]
    pub(crate) quick: bool,

    /// Check every place in draws of at most so many people
    #[arg(long, env = "VESTIBULE_UP_TO", value_name = "N", default_value_t = MOST_PLACES)]
    pub(crate) up_to: u64,
}

fn commitment(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("a commitment is 64 hex digits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::{Command, parse};

    fn options(args: &[&str]) -> Option<VerifyDrawOptions> {
        let args = ["vestibule-crowd", "verify-draw"].iter().chain(args).map(OsString::from);
        match parse(args) {
            Ok(Command::VerifyDraw(options)) => Some(*options),
            _ => None,
        }
    }

    #[test]
    fn a_file_or_a_room_is_asked() {
        let from_file = options(&["--file", "-", "--number", "1,2", "--number", "3"]).unwrap();
        assert_eq!(from_file.number, [1, 2, 3]);
        assert!(options(&["--admission", "http://a:1", "--room", "sale"]).is_some());
        for nonsense in [
            &[][..],
            &["--admission", "http://a:1"],
            &["--file", "-", "--commitment", "abc"],
            &["--file", "-", "--number", "x"],
        ] {
            assert!(options(nonsense).is_none(), "{nonsense:?}");
        }
    }

    #[test]
    fn commitments_may_be_written_in_capitals() {
        let noted = options(&["--file", "-", "--commitment", &"AB".repeat(32)]).unwrap();
        assert_eq!(noted.commitment, Some("ab".repeat(32)));
    }
}
