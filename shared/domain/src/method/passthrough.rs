//! Everyone enters at once, beyond the limits, and is counted all the same. The line stays as it
//! is: a visitor who has not entered has the same position when another method takes over.

use super::Method;
use crate::{check_in::LineConditions, wait::Estimate};

#[derive(Debug)]
pub(super) struct Passthrough;

impl Method for Passthrough {
    fn name(&self) -> &'static str {
        "passthrough"
    }

    fn is_open(&self) -> bool {
        true
    }

    fn estimate(&self, _conditions: &LineConditions) -> Estimate {
        Estimate::from_seconds(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{plan::TickInput, serving::Serving, wait::Standby};

    #[test]
    fn the_line_stays_as_it_is() {
        let input = TickInput { queue_counter: 9, serving_counter: 4, ..TickInput::default() };
        assert_eq!(
            Passthrough.plan(&input, Standby::default(), &mut Serving::default()).serving_counter,
            4
        );
        assert!(Passthrough.is_open() && !Passthrough.rejects());
    }
}
