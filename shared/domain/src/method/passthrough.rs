//! Everyone enters at once, over the limits, and is counted all the same. The line behind stays as
//! it is: whoever has not come in meanwhile stands where it stood when another method takes over.

use super::Method;
use crate::{check_in::Standing, wait::Estimate};

#[derive(Debug)]
pub(super) struct Passthrough;

impl Method for Passthrough {
    fn name(&self) -> &'static str {
        "passthrough"
    }

    fn is_open(&self) -> bool {
        true
    }

    fn estimate(&self, _standing: &Standing) -> Estimate {
        Estimate::of(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advance::Survey;

    #[test]
    fn the_line_stays_as_it_is() {
        let survey = Survey { queue_counter: 9, serving_counter: 4, ..Survey::default() };
        assert_eq!(Passthrough.plan(&survey, 5).serving_counter, 4);
        assert!(Passthrough.is_open() && !Passthrough.rejects());
    }
}
