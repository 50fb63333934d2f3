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
    /// The public key of its widget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(crate) site_key: Option<String>,
    /// The puzzle.
    #[serde(flatten)]
    #[schema(value_type = Puzzle)]
    pub(crate) puzzle: Option<Puzzle>,
    /// Why what the newcomer has shown does not count; `None`: it has shown nothing.
    #[serde(skip)]
    pub(crate) refused: Option<&'static str>,
}
