//! Why a call is not let through, and what that costs whoever made it: later and later answers where wrong tokens and
//! signatures come from, and else none.

use axum::{
    http::{HeaderValue, header::CONNECTION},
    response::Response,
};
use vestibule_runtime::{Problem, ProblemType};
use vestibule_token::SigV4Error;

use super::origin::Origin;
use crate::{access::Refused, state::Controller};

/// Why a call is not let through.
#[derive(Debug)]
pub(super) enum Refusal {
    /// No token: nothing was guessed.
    Nothing,
    /// Nobody's token.
    Wrong,
    /// Not signed as it must be.
    Signature(SigV4Error),
    /// The body that was signed cannot be read.
    Body(Problem),
    /// It is not known yet whose token it is.
    NotYet,
    /// The token may not do this.
    Forbidden(Refused),
}

// === impl Refusal ===

impl Refusal {
    /// Counts it, and gives `answer` when it is time.
    pub(super) async fn answered(
        &self,
        controller: &Controller,
        origin: Origin,
        mut answer: Response,
    ) -> Response {
        let reason = match self {
            Self::Nothing => "nothing",
            Self::Wrong | Self::Signature(_) => "wrong",
            Self::NotYet | Self::Body(_) => return answer,
            Self::Forbidden(refused) => {
                tracing::info!(reason = %refused, "a call was refused");
                refused.lacks
            }
        };
        controller.metrics.count_refused(reason);
        let guessed = match self {
            Self::Wrong => "nobody has this token".to_owned(),
            Self::Signature(error) => error.to_string(),
            _ => return answer,
        };
        let Origin { peer, client, .. } = origin;
        if controller.guesses.slow_down(peer, client, &guessed).await.is_err() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

pub(super) fn not_yet() -> Problem {
    Problem::new(ProblemType::RedisUnavailable)
}
