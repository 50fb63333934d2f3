//! Secrets that are given as a value or as a file.
//!
//! Every secret `X` of a service is an option `X` and an option `X_FILE`; exactly one is given, or at most one of those
//! that may be several.
//! Nothing here prints a secret.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use secrecy::{ExposeSecret, SecretString};

/// A secret as the options have it, before it was read.
#[derive(Debug, Clone, Copy)]
pub struct SecretSource<'a> {
    /// The environment variable of the value; the file's is the same with `_FILE`.
    pub variable: &'static str,
    /// The value, if given. Empty counts as not given.
    pub value: Option<&'a SecretString>,
    /// The file, if given. Empty counts as not given.
    pub file: Option<&'a Path>,
    /// Fewest bytes that it must have.
    pub min_bytes: usize,
}

/// A secret cannot be used. Messages name the variable, never the value.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Neither value nor file.
    #[error("{variable} or {variable}_FILE is required")]
    Missing {
        /// The variable.
        variable: &'static str,
    },
    /// Value and file.
    #[error("{variable} and {variable}_FILE are both given: give one of them")]
    Ambiguous {
        /// The variable.
        variable: &'static str,
    },
    /// The file cannot be read, or is not text.
    #[error("{variable}_FILE: cannot read {}", path.display())]
    Unreadable {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Too short to be safe.
    #[error("{variable} must have at least {min_bytes} bytes, it has {bytes}")]
    TooShort {
        /// The variable.
        variable: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it must be.
        min_bytes: usize,
    },
}

// === impl SecretSource ===

impl SecretSource<'_> {
    /// Reads the secret, without its final newline.
    ///
    /// # Errors
    /// If it is missing, given twice, unreadable or too short.
    pub fn read(self) -> Result<SecretString, SecretError> {
        let text = self.text()?.ok_or(SecretError::Missing { variable: self.variable })?;
        self.check(text)
    }

    /// Reads several secrets, one a line; none, if neither value nor file is given. Empty lines do not count.
    ///
    /// # Errors
    /// If they are given twice or unreadable, or one is too short.
    pub fn read_lines(self) -> Result<Vec<SecretString>, SecretError> {
        let text = self.text()?.unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| self.check(line.to_owned())).collect()
    }

    /// Reads a text that has secrets in it, in a form of its own; `None`: neither value nor file is given.
    ///
    /// # Errors
    /// If it is given twice, unreadable or too short.
    pub fn read_any(self) -> Result<Option<SecretString>, SecretError> {
        self.text()?.map(|text| self.check(text)).transpose()
    }

    /// What was given, if anything was.
    fn text(self) -> Result<Option<String>, SecretError> {
        let variable = self.variable;
        let value = self.value.filter(|value| !value.expose_secret().is_empty());
        let file = self.file.filter(|file| !file.as_os_str().is_empty());
        match (value, file) {
            (Some(value), None) => Ok(Some(value.expose_secret().to_owned())),
            (None, Some(path)) => read_file(variable, path).map(Some),
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(SecretError::Ambiguous { variable }),
        }
    }

    fn check(self, mut text: String) -> Result<SecretString, SecretError> {
        // Editors and `echo` end files with one; both services must see the same secret.
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        let Self { variable, min_bytes, .. } = self;
        if text.len() < min_bytes {
            return Err(SecretError::TooShort { variable, bytes: text.len(), min_bytes });
        }
        Ok(text.into())
    }
}

fn read_file(variable: &'static str, path: &Path) -> Result<String, SecretError> {
    fs::read_to_string(path).map_err(|source| {
        let path = path.to_owned();
        SecretError::Unreadable { variable, path, source }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::NamedTempFile;

    use super::*;

    fn read(value: Option<&str>, file: Option<&Path>) -> Result<String, SecretError> {
        let value = value.map(SecretString::from);
        let source =
            SecretSource { variable: "VESTIBULE_X", value: value.as_ref(), file, min_bytes: 4 };
        source.read().map(|secret| secret.expose_secret().to_owned())
    }

    fn file(content: &[u8]) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        file
    }

    #[test]
    fn value_and_file_mean_the_same() {
        assert_eq!(read(Some("abcd"), None).unwrap(), "abcd");
        for content in ["abcd", "abcd\n", "abcd\r\n"] {
            assert_eq!(read(None, Some(file(content.as_bytes()).path())).unwrap(), "abcd");
            assert_eq!(read(Some(content), None).unwrap(), "abcd");
        }
        assert_eq!(read(Some("abcd\n\n"), None).unwrap(), "abcd\n");
    }

    #[test]
    fn exactly_one_is_given() {
        let given = file(b"abcd");
        let missing = read(None, None).unwrap_err().to_string();
        assert_eq!(missing, "VESTIBULE_X or VESTIBULE_X_FILE is required");
        assert!(matches!(read(Some(""), None), Err(SecretError::Missing { .. })));
        let both = read(Some("abcd"), Some(given.path()));
        assert!(matches!(both, Err(SecretError::Ambiguous { .. })));
        assert_eq!(read(Some(""), Some(given.path())).unwrap(), "abcd");
        assert_eq!(read(Some("abcd"), Some(Path::new(""))).unwrap(), "abcd");
    }

    #[test]
    fn several_are_read_line_by_line() {
        let lines = |text: &str| {
            let value = SecretString::from(text);
            let (variable, min_bytes) = ("VESTIBULE_X", 4);
            let source = SecretSource { variable, value: Some(&value), file: None, min_bytes };
            let exposed = |secrets: Vec<SecretString>| {
                secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect::<Vec<_>>()
            };
            source.read_lines().map(exposed).map_err(|error| error.to_string())
        };
        assert_eq!(lines("").unwrap(), [""; 0]);
        assert_eq!(lines("abcd\r\n\nefgh\n").unwrap(), ["abcd", "efgh"]);
        let short = "VESTIBULE_X must have at least 4 bytes, it has 3";
        assert_eq!(lines("abcd\nabc"), Err(short.to_owned()));
    }

    #[test]
    fn bad_secrets_are_explained_and_not_shown() {
        let short = read(Some("abc\n"), None).unwrap_err();
        assert_eq!(short.to_string(), "VESTIBULE_X must have at least 4 bytes, it has 3");
        assert!(!format!("{short:?}").contains("abc"));
        let unreadable = read(None, Some(Path::new("/nowhere/secret"))).unwrap_err();
        assert_eq!(unreadable.to_string(), "VESTIBULE_X_FILE: cannot read /nowhere/secret");
        let binary = read(None, Some(file(&[0xff; 8]).path()));
        assert!(matches!(binary, Err(SecretError::Unreadable { .. })));
    }
}
