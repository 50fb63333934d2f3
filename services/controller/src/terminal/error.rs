//! What can go wrong at the terminal, in words that say what to do about it.

use std::{fmt, io};

use hyper::StatusCode;
use serde::Deserialize;

use super::files::{FileError, Files};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    /// No controller answers.
    #[error(
        "no controller answers at {url}: {reason}\nIs it running, and is that its address? \
        --controller-url or VESTIBULE_CONTROLLER_URL says where it is."
    )]
    Unreachable {
        /// Where it was looked for.
        url: String,
        /// What happened.
        reason: String,
    },
    /// It shows a certificate that is not trusted.
    #[error(
        "what answers at {url} shows a certificate that is not trusted: {reason}\n--controller-ca or VESTIBULE_CONTROLLER_CA \
        names the file with the authority that has signed it. An authority's own certificate cannot be a server's: make one \
        with basicConstraints=CA:FALSE."
    )]
    Untrusted {
        /// Who answers.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The token is nobody's.
    #[error(
        "the controller at {url} does not know this token. \
        VESTIBULE_API_TOKEN or VESTIBULE_API_TOKEN_FILE is shown to it."
    )]
    WrongToken {
        /// Who was asked.
        url: String,
    },
    /// The controller has refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What the controller has answered is not what it should be.
    #[error("{url} does not answer like a controller of this release: {reason}")]
    Strange {
        /// Who was asked.
        url: String,
        /// What is odd.
        reason: String,
    },
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output is gone, or the runtime does not start.
    #[error("cannot write")]
    Output(#[from] io::Error),
}

/// A problem document, as a controller answers it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Refusal {
    /// Its status.
    pub(crate) status: u16,
    title: String,
    detail: Option<String>,
    /// What is wrong, field by field.
    pub(crate) errors: Vec<WrongField>,
    /// Rooms that were changed before it failed.
    done: Vec<String>,
}

/// A field and what is wrong with it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WrongField {
    /// Its path.
    pub(crate) field: String,
    /// What is wrong.
    pub(crate) reason: String,
}

// === impl TerminalError ===

impl TerminalError {
    /// That of a call for `room`, which it names if there is none.
    pub(super) fn of_room(self, room: &str) -> Self {
        let Self::Refused(mut refusal) = self else { return self };
        if refusal.status == StatusCode::NOT_FOUND && refusal.detail.is_none() {
            refusal.detail = Some(format!(
                "there is no room `{room}`; `vestibule-controller room list` lists those that there are"
            ));
        }
        Self::Refused(refusal)
    }

    /// The fields that were refused in the order of the files, each with its place there.
    pub(super) fn in_files(self, files: &Files) -> Self {
        let Self::Refused(mut refusal) = self else { return self };
        refusal.errors.sort_by_key(|error| files.place_of(&error.field).cloned());
        for error in &mut refusal.errors {
            if let Some(place) = files.place_of(&error.field) {
                error.field = format!("{place}: {}", error.field);
            }
        }
        Self::Refused(refusal)
    }
}

// === impl Refusal ===

impl Refusal {
    /// That of an answer without a problem document.
    pub(super) fn bare(status: StatusCode) -> Self {
        let title = format!("the controller answered {status}");
        Self { status: status.as_u16(), title, ..Self::default() }
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.detail.as_deref().unwrap_or(&self.title))?;
        for WrongField { field, reason } in &self.errors {
            write!(f, "\n  {field}: {reason}")?;
        }
        if !self.done.is_empty() {
            write!(
                f,
                "\nThese rooms were changed before: {}. Apply it again.",
                self.done.join(", ")
            )?;
        }
        Ok(())
    }
}
