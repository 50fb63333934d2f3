//! What is known to be wrong, by the rows of the issues that will mend it. Each row is a night written by
//! hand in which the judge finds it: the test that it is found runs always, and the test that nothing is
//! wrong is ignored until it is mended.

mod redis;

/// Declares for each row that something is found now, and that nothing is after it is mended.
macro_rules! known_wrong {
    ($($(#[doc = $doc:literal])* $name:ident by $issue:literal: $night:expr, finds $found:expr;)*) => {
        $(mod $name {
            use super::*;

            $(#[doc = $doc])*
            #[test]
            fn is_found() {
                let broken = crate::broken(&$night);
                let found: &[&str] = &$found;
                assert!(found.iter().any(|one| broken.contains(one)), "{broken:?}");
            }

            #[test]
            #[ignore = $issue]
            fn is_mended() {
                let broken = crate::broken(&$night);
                assert!(broken.is_empty(), "{broken:?}");
            }
        })*
    };
}
pub(crate) use known_wrong;
