//! Where a backup is written to: a file that is there as a whole or not at all, or standard output.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Stdout, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process,
};

/// Where a backup is written to.
#[derive(Debug)]
pub(super) enum Target {
    /// Standard output.
    Output(Stdout),
    /// A file.
    File(PartialFile),
}

/// A file under a name of its own until it is complete; unless it gets there, it is removed.
#[derive(Debug)]
pub(super) struct PartialFile {
    out: BufWriter<File>,
    partial: PathBuf,
    path: PathBuf,
}

// === impl Target ===

impl Target {
    /// Opens it; `-` is standard output.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Output(io::stdout()));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".{}.partial", process::id()));
        let partial = PathBuf::from(partial);
        // It says who is inside: nobody else may read it.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        let out = BufWriter::new(file);
        Ok(Self::File(PartialFile { out, partial, path: path.to_owned() }))
    }

    /// All is written: the file gets its name.
    ///
    /// # Errors
    /// If the system did not take everything.
    pub(super) fn complete(mut self) -> io::Result<()> {
        self.flush()?;
        if let Self::File(file) = &self {
            file.out.get_ref().sync_all()?;
            fs::rename(&file.partial, &file.path)?;
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Output(out) => out.write(bytes),
            Self::File(file) => file.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Output(out) => out.flush(),
            Self::File(file) => file.out.flush(),
        }
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // It has another name if it is complete.
        let _ = fs::remove_file(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backup");
        fs::write(&path, "before").unwrap();
        let mut target = Target::open(&path).unwrap();
        target.write_all(b"half").unwrap();
        drop(target);
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
        let mut target = Target::open(&path).unwrap();
        target.write_all(b"whole").unwrap();
        target.complete().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
