//! Nobody enters, and newcomers are turned away without a place. Those in line keep theirs, and
//! nobody is asked to come back by itself.

use super::Method;

#[derive(Debug)]
pub(super) struct Reject;

impl Method for Reject {
    fn name(&self) -> &'static str {
        "reject"
    }

    fn rejects(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{advance::Survey, check_in::Standing, slots::Use, wait::Estimate};

    #[test]
    fn nobody_moves_though_seats_are_free() {
        let usage = Use { ceiling: Some(100), ..Use::default() };
        let survey = Survey { queue_counter: 9, serving_counter: 4, usage, ..Survey::default() };
        assert_eq!(Reject.plan(&survey, 5).serving_counter, 4);
        assert!(Reject.rejects() && !Reject.is_open());
        assert_eq!(Reject.estimate(&Standing::default()), Estimate::UNKNOWN);
    }
}
