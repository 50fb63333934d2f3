//! Prints an error with all its causes, for logs and for the terminal.
//!
//! Not for answers to clients: see [`crate::Problem::internal`].

use std::{
    error::Error,
    fmt::{self, Display, Formatter},
};

/// Displays as `what: because: because`.
#[derive(Debug)]
pub struct ErrorChain<'a>(pub &'a dyn Error);

impl Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot join")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn causes_follow_the_error() {
        let error = Outer(std::io::Error::other("connection refused"));
        assert_eq!(ErrorChain(&error).to_string(), "cannot join: connection refused");
    }
}
