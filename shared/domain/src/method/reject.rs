//! Nobody enters, and newcomers are turned away without a place. Visitors in line keep their
//! places, and are not asked to poll.

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
    use crate::{
        check_in::LineConditions,
        plan::TickInput,
        serving::Serving,
        slots::Usage,
        wait::{Estimate, Standby},
    };

    #[test]
    fn nobody_moves_though_seats_are_free() {
        let usage = Usage { ceiling: Some(100), ..Usage::default() };
        let input =
            TickInput { queue_counter: 9, serving_counter: 4, usage, ..TickInput::default() };
        assert_eq!(
            Reject.plan(&input, Standby::default(), &mut Serving::default()).serving_counter,
            4
        );
        assert!(Reject.rejects() && !Reject.is_open());
        assert_eq!(Reject.estimate(&LineConditions::default()), Estimate::UNKNOWN);
    }
}
