//! The query string, read as a type.
//!
//! A query is parsed the fast way first; only one that fails is parsed again to find out which
//! parameter is wrong.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;
use serde_urlencoded::Deserializer;

use super::reason;
use crate::problem::{Problem, ProblemType};

const DETAIL: &str = "the query string does not have the expected form";

/// The parameters after the `?`. Rejects with 400, naming the parameter and the reason.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<T>(pub T);

// === impl Query ===

impl<T: DeserializeOwned> Query<T> {
    /// Reads a query string, without its `?`.
    ///
    /// # Errors
    /// [`ProblemType::InvalidRequest`], naming the parameter and the reason.
    pub fn from_query(query: &str) -> Result<Self, Problem> {
        serde_urlencoded::from_str(query).map(Self).map_err(|_| explain::<T>(query))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Self::from_query(parts.uri.query().unwrap_or_default())
    }
}

#[cold]
fn explain<T: DeserializeOwned>(query: &str) -> Problem {
    let deserializer = Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    match serde_path_to_error::deserialize::<_, T>(deserializer) {
        Err(error) => reason::problem(DETAIL, &error),
        // Not reached: the same reader has just refused the same text.
        Ok(_) => Problem::new(ProblemType::InvalidRequest).detail(DETAIL),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Range {
        event_id: String,
        from: Option<u32>,
    }

    fn wrong(query: &str) -> (String, String) {
        let problem = Query::<Range>::from_query(query).unwrap_err();
        assert_eq!(problem.kind(), ProblemType::InvalidRequest);
        let error = problem.errors()[0].clone();
        (error.field.into_owned(), error.reason.into_owned())
    }

    #[test]
    fn parameters_are_decoded_and_others_ignored() {
        let Query(range) = Query::<Range>::from_query("event_id=a%20b+c&from=7&more=1").unwrap();
        assert_eq!(range, Range { event_id: "a b c".to_owned(), from: Some(7) });
    }

    #[test]
    fn the_wrong_parameter_is_named() {
        assert_eq!(wrong(""), ("event_id".to_owned(), "missing field `event_id`".to_owned()));
        let (field, reason) = wrong("event_id=S&from=x");
        assert_eq!((field.as_str(), reason.as_str()), ("from", "invalid digit found in string"));
        assert_eq!(wrong("event_id=S&event_id=T").0, "event_id");
    }
}
