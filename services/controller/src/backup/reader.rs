//! Reading the file line by line: what is no backup, of a later release, cut short or damaged is refused.

use std::io::{self, BufRead, Read};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::format::{End, Header, Line, VERSION};

/// No line of a backup is longer.
const LONGEST_LINE: u64 = 64 << 20;

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Reader<R> {
    input: R,
    hash: Sha256,
    /// Lines read so far.
    lines: u64,
}

/// The file cannot be restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormatError {
    /// The system does not let it be read.
    #[error("it cannot be read")]
    Unreadable(#[from] io::Error),
    /// A pipe, or the like.
    #[error("it can be read only once, and it is read twice: write it to a file first")]
    ReadOnce,
    /// It is something else.
    #[error("it is no backup of Vestibule: its first line is not the header of one")]
    NotABackup,
    /// A later release wrote it.
    #[error(
        "it has format {found}, and this release reads formats up to {VERSION}: restore it with release {release}"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The release that wrote it.
        release: String,
    },
    /// Its end is missing.
    #[error("it is cut short after line {lines}: take another copy of it")]
    CutShort {
        /// The last complete line.
        lines: u64,
    },
    /// Some of it is not what was written.
    #[error("it was damaged or changed, its checksum is another: take another copy of it")]
    Damaged,
    /// A line cannot be what was written.
    #[error("line {line}: {why}")]
    Line {
        /// Which.
        line: u64,
        /// Why not.
        why: String,
    },
}

/// Enough of a header of any format to know that it is one.
#[derive(Deserialize)]
struct AnyHeader {
    backup: AnyVersion,
}

#[derive(Deserialize)]
struct AnyVersion {
    version: u32,
    #[serde(default)]
    release: String,
}

// === impl Reader ===

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub(super) fn begin(input: R) -> Result<(Header, Self), FormatError> {
        let mut reader = Self { input, hash: Sha256::new(), lines: 0 };
        let text = reader.line()?;
        let AnyHeader { backup: AnyVersion { version, release } } =
            serde_json::from_slice(&text).map_err(|_| FormatError::NotABackup)?;
        if version > VERSION {
            return Err(FormatError::Newer { found: version, release });
        }
        reader.take(&text);
        match serde_json::from_slice(&text) {
            Ok(Line::Backup(header)) => Ok((header, reader)),
            Ok(_) => Err(FormatError::NotABackup),
            Err(error) => Err(reader.wrong(error.to_string())),
        }
    }

    /// The next line; `None`: that was all, and it is as it was written.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub(super) fn next(&mut self) -> Result<Option<Line>, FormatError> {
        let text = self.line()?;
        if text.last() != Some(&b'\n') {
            return Err(FormatError::CutShort { lines: self.lines });
        }
        let before = self.lines;
        let line = serde_json::from_slice(&text);
        let Ok(Line::End(End { lines, sha256 })) = line else {
            self.take(&text);
            return line.map(Some).map_err(|error| self.wrong(error.to_string()));
        };
        if lines != before || sha256 != hex::encode(self.hash.clone().finalize()) {
            return Err(FormatError::Damaged);
        }
        self.take(&text);
        if !self.line()?.is_empty() {
            return Err(self.wrong("more follows after it, but it is the end".to_owned()));
        }
        Ok(None)
    }

    /// The bytes of the next line; none at the end of the file.
    fn line(&mut self) -> Result<Vec<u8>, FormatError> {
        let mut text = Vec::new();
        self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text)?;
        Ok(text)
    }

    fn take(&mut self, text: &[u8]) {
        self.hash.update(text);
        self.lines += 1;
    }

    /// What is wrong with the line that was read last.
    pub(super) fn wrong(&self, why: String) -> FormatError {
        FormatError::Line { line: self.lines, why }
    }
}
