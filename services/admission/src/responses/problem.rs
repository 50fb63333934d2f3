//! A flow's error as a problem document: the one place where it meets HTTP.

use vestibule_issuance::{SignerError, problem_of};
use vestibule_runtime::problem::{Problem, ProblemType};

use crate::{
    challenges::Demand,
    flows::{FlowError, Unproven},
};

impl From<FlowError> for Problem {
    fn from(error: FlowError) -> Self {
        match &error {
            FlowError::Store(error) => problem_of(error),
            FlowError::NoSigningKey => Self::new(ProblemType::RedisUnavailable),
            FlowError::OverLimit { limit, wait_s } => {
                Self::new(ProblemType::NetworkLimit).detail(limit.name()).retry_after(*wait_s)
            }
            FlowError::Signer(SignerError::Overloaded) => Self::new(ProblemType::Overloaded),
            FlowError::WithoutCookie => Self::new(ProblemType::Overloaded).detail(
                "a page of another site has sent this without cookies; open the address itself",
            ),
            FlowError::ForeignTicket => Self::new(ProblemType::InvalidTicket)
                .field("Vestibule-Ticket", "it is of before a reset; join again"),
            FlowError::ProviderAway => Self::new(ProblemType::ChallengeUnavailable),
            FlowError::ChallengeRequired(demand) => challenge_required(demand),
            FlowError::Stranger => Self::new(ProblemType::InvalidTicket)
                .field("Vestibule-Ticket", "its session is bound to another client; join again"),
            FlowError::Signer(SignerError::Failed(_)) | FlowError::RequestId(_) => {
                Self::internal(&error)
            }
        }
    }
}

/// 403 with the challenge, so that an app needs no further call to get it.
fn challenge_required(demand: &Demand) -> Problem {
    let problem = Problem::new(ProblemType::ChallengeRequired);
    let problem = problem.member("challenge", serde_json::to_value(demand).unwrap_or_default());
    match demand.refused {
        Some(reason) => problem.field("Vestibule-Challenge", reason),
        None => problem.detail("solve `challenge`, and send the solution in Vestibule-Challenge"),
    }
}

impl From<Unproven> for Problem {
    fn from(unproven: Unproven) -> Self {
        Self::new(ProblemType::InvalidDpopProof).field("DPoP", unproven.to_string())
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::challenge::ChallengeProvider;
    use vestibule_domain::network_limits::NetworkLimit;
    use vestibule_store::StoreError;

    use super::*;
    use crate::challenges::Task;

    fn demand() -> Demand {
        let provider = ChallengeProvider::Turnstile;
        Demand { provider, task: Task::Widget { site_key: "1x".into() }, refused: None }
    }

    #[test]
    fn whatever_is_temporary_says_when_to_try_again() {
        for (error, temporary) in [
            (FlowError::Store(StoreError::Unavailable("away".into())), true),
            (FlowError::Store(StoreError::RoomMissing), true),
            (FlowError::Store(StoreError::Rewound), true),
            (FlowError::Store(StoreError::Overloaded), true),
            (FlowError::Store(StoreError::Unexpected("data".into())), false),
            (FlowError::NoSigningKey, true),
            (FlowError::OverLimit { limit: NetworkLimit::Seats, wait_s: 9 }, true),
            (FlowError::Signer(SignerError::Overloaded), true),
            (FlowError::Signer(SignerError::Failed("refused".into())), false),
            (FlowError::ForeignTicket, false),
            (FlowError::ProviderAway, true),
            (FlowError::WithoutCookie, true),
            (FlowError::ChallengeRequired(Box::new(demand())), false),
            (FlowError::Stranger, false),
        ] {
            assert_eq!(error.is_temporary(), temporary, "{error}");
            let problem = Problem::from(error);
            assert_eq!(problem.kind().default_retry_after().is_some(), temporary);
        }
    }
}
