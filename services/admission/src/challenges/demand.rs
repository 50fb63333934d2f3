//! What a newcomer is asked to solve.

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::challenge::ChallengeProvider;
use vestibule_token::Puzzle;

/// A challenge to solve. For `proof_of_work` it is ALTCHA's: find the `number` of at most `maxnumber` that has
/// this hash behind `salt`, and send base64 of JSON with `algorithm`, `challenge`, `number`, `salt` and
/// `signature`. For other providers, send the token that their widget gives for `site_key`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Demand {
    /// Whose challenge it is.
    pub(crate) provider: ChallengeProvider,
    /// What it is.
    #[serde(flatten)]
    pub(crate) task: Task,
    /// Why what the newcomer has shown does not count; `None`: it has shown nothing.
    #[serde(skip)]
    pub(crate) refused: Option<&'static str>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Task {
    /// Solve our puzzle.
    Puzzle(Puzzle),
    /// Use the provider's widget.
    Widget {
        /// Its public key.
        site_key: String,
    },
}

// === impl Demand ===

impl Demand {
    /// The puzzle, if it is ours.
    pub(crate) fn puzzle(&self) -> Option<&Puzzle> {
        match &self.task {
            Task::Puzzle(puzzle) => Some(puzzle),
            Task::Widget { .. } => None,
        }
    }

    /// The public key of the provider's widget, if it is another's.
    pub(crate) fn site_key(&self) -> Option<&str> {
        match &self.task {
            Task::Puzzle(_) => None,
            Task::Widget { site_key } => Some(site_key),
        }
    }
}
