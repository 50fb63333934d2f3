//! Noting everything that is wrong with a document, each with its path.

use vestibule_domain::FieldError;

/// What is wrong with one part of a document, and with what is below it.
#[derive(Debug)]
pub(crate) struct Wrong<'a> {
    path: String,
    errors: &'a mut Vec<FieldError>,
}

// === impl Wrong ===

impl<'a> Wrong<'a> {
    /// Notes in `errors` what is wrong with the part at `path`.
    pub(crate) fn new(path: &str, errors: &'a mut Vec<FieldError>) -> Self {
        Self { path: path.to_owned(), errors }
    }

    /// The same for a part of it.
    pub(crate) fn below(&mut self, name: &str) -> Wrong<'_> {
        Wrong { path: self.at(name), errors: self.errors }
    }

    /// Notes what is wrong with the field of this path; an empty one: the part as a whole. There is nothing to go on with.
    pub(crate) fn note<T>(&mut self, field: &str, reason: impl Into<String>) -> Option<T> {
        self.errors.push(FieldError { field: self.at(field).into(), reason: reason.into() });
        None
    }

    /// Notes what a check has found.
    pub(crate) fn extend(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        for FieldError { field, reason } in errors {
            self.note::<()>(&field, reason);
        }
    }

    /// How much is wrong so far, with the whole document.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    fn at(&self, name: &str) -> String {
        match (self.path.as_str(), name) {
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        }
    }
}
