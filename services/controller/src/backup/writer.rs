//! Writing the file.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::format::{End, Line};

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    hash: Sha256,
    lines: u64,
}

// === impl Writer ===

impl<W: Write> Writer<W> {
    /// Begins a file in `out`.
    pub(super) fn new(out: W) -> Self {
        Self { out, hash: Sha256::new(), lines: 0 }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn add(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.hash.update(&text);
        self.lines += 1;
        self.out.write_all(&text)
    }

    /// Adds the last line, and returns what the file was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn end(mut self) -> io::Result<W> {
        let sha256 = hex::encode(self.hash.clone().finalize());
        self.add(&Line::End(End { lines: self.lines, sha256 }))?;
        self.out.flush()?;
        Ok(self.out)
    }
}
