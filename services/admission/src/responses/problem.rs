//! A flow's error as a problem document: the one place where it meets HTTP.

use vestibule_issuance::{SignerError, problem_of};
use vestibule_runtime::problem::{Problem, ProblemType};

use crate::flows::{FlowError, Unproven};

impl From<FlowError> for Problem {
    fn from(error: FlowError) -> Self {
        match &error {
            FlowError::Store(error) => problem_of(error),
            FlowError::NoSigningKey => Self::new(ProblemType::RedisUnavailable),
            FlowError::Signer(SignerError::Overloaded) => Self::new(ProblemType::Overloaded),
            FlowError::ForeignTicket => Self::new(ProblemType::InvalidTicket)
                .field("Vestibule-Ticket", "it is of before a reset; join again"),
            FlowError::Stranger => Self::new(ProblemType::InvalidTicket)
                .field("Vestibule-Ticket", "its session is bound to another client; join again"),
            FlowError::Signer(SignerError::Failed(_)) | FlowError::RequestId(_) => {
                Self::internal(&error)
            }
        }
    }
}

impl From<Unproven> for Problem {
    fn from(unproven: Unproven) -> Self {
        Self::new(ProblemType::InvalidDpopProof).field("DPoP", unproven.to_string())
    }
}

#[cfg(test)]
mod tests {
    use vestibule_store::StoreError;

    use super::*;

    #[test]
    fn whatever_is_temporary_says_when_to_try_again() {
        for (error, temporary) in [
            (FlowError::Store(StoreError::Unavailable("away".into())), true),
            (FlowError::Store(StoreError::RoomMissing), true),
            (FlowError::Store(StoreError::Rewound), true),
            (FlowError::Store(StoreError::Overloaded), true),
            (FlowError::Store(StoreError::Unexpected("data".into())), false),
            (FlowError::NoSigningKey, true),
            (FlowError::Signer(SignerError::Overloaded), true),
            (FlowError::Signer(SignerError::Failed("refused".into())), false),
            (FlowError::ForeignTicket, false),
            (FlowError::Stranger, false),
        ] {
            assert_eq!(error.is_temporary(), temporary, "{error}");
            let problem = Problem::from(error);
            assert_eq!(problem.kind().default_retry_after().is_some(), temporary);
        }
    }
}
