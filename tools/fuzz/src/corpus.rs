//! Inputs that are kept: files of `corpus/{target}/`. Text or bytes, one input a file, named after what it is.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Where the corpus of a target is.
#[must_use]
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// All inputs of a target, by the names of their files.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn read(target: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder(target))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        inputs.push((name, fs::read(entry.path())?));
    }
    inputs.sort();
    Ok(inputs)
}
