//! Queries of the AWS-style calls: which event.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::extract::Query;

/// Which event. Rejects with `{"message":"Missing required request parameters: [event_id]"}`.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// The event: a room's name, or its `aws_event_id`.
    #[param(min_length = 1, max_length = 256)]
    pub(crate) event_id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for EventQuery {
    type Rejection = AwsError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        let query = Query::<Self>::from_query(parts.uri.query().unwrap_or_default());
        match query {
            Ok(Query(query)) if !query.event_id.trim().is_empty() => Ok(query),
            _ => Err(AwsError::bad_request("Missing required request parameters: [event_id]")),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn read(uri: &str) -> Option<String> {
        let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
        EventQuery::from_request_parts(&mut parts, &()).await.ok().map(|query| query.event_id)
    }

    #[tokio::test]
    async fn the_event_must_be_there_and_not_blank() {
        assert_eq!(read("/x?event_id=Sample&more=1").await.as_deref(), Some("Sample"));
        for uri in ["/x", "/x?event=1", "/x?event_id=", "/x?event_id=%20", "/x?event_id"] {
            assert_eq!(read(uri).await, None, "{uri}");
        }
    }
}
