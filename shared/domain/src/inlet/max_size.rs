//! The max-size inlet: how many people may be inside, or on their way, when more are served.

use serde::{Deserialize, Serialize};

use super::MOST;
use crate::FieldError;

/// Serves people in the place of those who a site says have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MaxSizeInlet {
    /// So many people at most are inside, or served and may still enter, when it serves more: from 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub max_size: u64,
}

// === impl MaxSizeInlet ===

impl MaxSizeInlet {
    pub(super) fn errors(self, passes_over: bool) -> Vec<FieldError> {
        let size = (!(1..=MOST).contains(&self.max_size)).then(|| FieldError {
            field: "max_size_inlet.max_size".into(),
            reason: format!("must be from 1 to {MOST}, and is {}", self.max_size),
        });
        // Whoever is served and never comes would keep a place for ever, and some always do.
        let expiry = (!passes_over).then(|| FieldError {
            field: "max_size_inlet".into(),
            reason: "needs a position_expiry_seconds: who is served and never comes would count for ever".into(),
        });
        size.into_iter().chain(expiry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_size_and_those_who_never_come_are_passed_over() {
        assert_eq!(MaxSizeInlet { max_size: 1 }.errors(true), []);
        let none = MaxSizeInlet { max_size: 0 }.errors(true);
        assert_eq!(none[0].field, "max_size_inlet.max_size");
        let errors = MaxSizeInlet { max_size: 1 }.errors(false);
        assert!(errors[0].reason.contains("position_expiry_seconds"));
    }
}
