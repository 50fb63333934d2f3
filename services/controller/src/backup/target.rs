//! Where a backup is written to: a file that is there as a whole or not at all, or standard output.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufWriter, Stdout, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process,
};

/// Where a backup is written to.
#[derive(Debug)]
pub(super) enum Target {
    /// Standard output.
    Output(Stdout),
    /// What is there already and is no file, as a pipe.
    Device(File),
    /// A file.
    File(PartialFile),
}

/// A file under a name of its own until it is complete; unless it gets there, it is removed. It is locked for as long as it
/// is written, since in a container every process has the same id, and so the same name for it.
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
    /// If the file cannot be created, or another process of this one's id is writing it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Output(io::stdout()));
        }
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return OpenOptions::new().write(true).open(path).map(Self::Device);
        }
        let path = &where_it_leads(path);
        let partial = partial_of(path);
        remove_leftover(&partial)?;
        // It says who is inside: nobody else may read it.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        lock(&file, &partial)?;
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
            Self::Device(file) => file.write(bytes),
            Self::File(file) => file.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Output(out) => out.flush(),
            Self::Device(file) => file.flush(),
            Self::File(file) => file.out.flush(),
        }
    }
}

/// The file that a link names, though it may not be there yet: the link stays.
fn where_it_leads(path: &Path) -> PathBuf {
    let named =
        fs::read_link(path).map(|to| path.parent().map_or(to.clone(), |from| from.join(&to)));
    fs::canonicalize(path).or(named).unwrap_or_else(|_| path.to_owned())
}

/// Where what is to be at `path` is written until it is complete.
pub(super) fn partial_of(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return path.to_owned();
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", process::id()));
    partial.into()
}

/// Removes what a process of this one's id has left behind when it was killed; not what one is writing.
fn remove_leftover(partial: &Path) -> io::Result<()> {
    // Over NFS only who may write a file can lock it.
    let open = || OpenOptions::new().write(true).open(partial);
    let leftover =
        fs::symlink_metadata(partial).and_then(|found| found.is_file().then(open).transpose());
    let leftover = match leftover {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        leftover => leftover?,
    };
    // Until it is removed: whoever has just created it, and has no lock yet, gets none.
    if let Some(file) = &leftover {
        lock(file, partial)?;
    }
    fs::remove_file(partial)
}

/// Locks `file`, which is still the one of this name, as long as it is open. Where files cannot be locked nobody can tell,
/// and the last one wins.
fn lock(file: &File, path: &Path) -> io::Result<()> {
    let is_free = match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => true,
        Err(TryLockError::WouldBlock) => false,
    };
    let (opened, named) = (file.metadata()?, fs::symlink_metadata(path));
    let is_named =
        named.is_ok_and(|named| (named.dev(), named.ino()) == (opened.dev(), opened.ino()));
    if is_free && is_named {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::ResourceBusy,
        format!("another backup is being written to {}: wait for its end", path.display()),
    ))
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // It has another name if it is complete.
        let _ = fs::remove_file(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

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

    #[test]
    fn what_a_killed_process_of_the_same_id_has_left_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (dir.path().join("backup"), dir.path().join("elsewhere"));
        let leftover = dir.path().join(format!("backup.{}.partial", process::id()));
        fs::write(&elsewhere, "of somebody").unwrap();
        fs::write(&leftover, "half").unwrap();
        fs::set_permissions(&leftover, fs::Permissions::from_mode(0o644)).unwrap();
        drop(Target::open(&path).unwrap());
        symlink(&elsewhere, &leftover).unwrap();
        let mut target = Target::open(&path).unwrap();
        target.write_all(b"whole").unwrap();
        target.complete().unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "of somebody");
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::create_dir(&leftover).unwrap();
        assert!(Target::open(&path).is_err(), "no file of ours");
    }

    #[test]
    fn what_another_process_of_the_same_id_is_writing_is_left_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backup");
        let mut first = Target::open(&path).unwrap();
        first.write_all(b"of the first").unwrap();
        let refused = Target::open(&path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy, "{refused}");
        first.complete().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "of the first");
        drop(Target::open(&path).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_and_is_no_file_stays_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (link, file, pipe) = (dir.path().join("link"), dir.path().join("file"), "/dev/null");
        symlink("file", &link).unwrap();
        for content in ["made", "replaced"] {
            let mut target = Target::open(&link).unwrap();
            target.write_all(content.as_bytes()).unwrap();
            target.complete().unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        let mut target = Target::open(Path::new(pipe)).unwrap();
        target.write_all(b"whole").unwrap();
        target.complete().unwrap();
        assert!(!fs::metadata(pipe).unwrap().is_file());
    }
}
