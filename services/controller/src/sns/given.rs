//! The certificates of SNS that an option gives.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use vestibule_token::{SnsCertificate, SnsError};

/// A certificate that was given cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenCertificatesError {
    /// The folder, or a file in it, cannot be read.
    #[error("VESTIBULE_SNS_CERTIFICATES: {path} cannot be read")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is none.
    #[error("VESTIBULE_SNS_CERTIFICATES: {path}")]
    Wrong {
        /// Which.
        path: PathBuf,
        /// Why.
        source: SnsError,
    },
}

/// Reads the files of a folder that end with `.pem`.
///
/// # Errors
/// [`GivenCertificatesError`].
pub(crate) fn read_given(
    folder: &Path,
) -> Result<BTreeMap<String, SnsCertificate>, GivenCertificatesError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        |source| GivenCertificatesError::Unreadable { path, source }
    };
    let mut given = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        let is_pem = path.extension().is_some_and(|extension| extension == "pem");
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| is_pem) else {
            continue;
        };
        let pem = fs::read(&path).map_err(unreadable(&path))?;
        let wrong = |source| GivenCertificatesError::Wrong { path: path.clone(), source };
        given.insert(name.to_owned(), SnsCertificate::read(&pem).map_err(wrong)?);
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_certificate_of_the_folder_is_read_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
        let certificate =
            include_bytes!("../../../../shared/token/src/sns/fixtures/certificate.pem");
        put("a.pem", certificate);
        put("README", b"none");
        assert_eq!(read_given(folder.path()).unwrap().into_keys().collect::<Vec<_>>(), ["a.pem"]);
        put("b.pem", b"none");
        let wrong = read_given(folder.path()).unwrap_err();
        assert!(wrong.to_string().ends_with("b.pem"), "{wrong}");
        assert!(read_given(&folder.path().join("none")).is_err());
    }
}
