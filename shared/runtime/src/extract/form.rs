//! The text of a form, as OAuth's calls send it. What its parameters mean is the endpoint's business.

use axum::{
    extract::{FromRequest, Request},
    http::header::CONTENT_TYPE,
};

use super::body::read_body;
use crate::problem::{Problem, ProblemType};

const FORM: &str = "application/x-www-form-urlencoded";

/// The body of a call with `Content-Type: application/x-www-form-urlencoded`, still encoded.
///
/// Rejects with 415 for another type, and otherwise as [`Json`](super::Json) does.
#[derive(Debug, Clone, Default)]
pub struct Form(pub String);

// === impl Form ===

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Self::Rejection> {
        let media_type = request.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
        let media_type = media_type.and_then(|media| media.split(';').next()).unwrap_or_default();
        if !media_type.trim().eq_ignore_ascii_case(FORM) {
            let problem = Problem::new(ProblemType::UnsupportedMediaType);
            return Err(problem.detail(format!("send a form, with Content-Type: {FORM}")));
        }
        let bytes = read_body(request.into_body()).await?;
        String::from_utf8(bytes.into())
            .map(Self)
            .map_err(|_| Problem::new(ProblemType::InvalidRequest).detail("the body is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn read_as(media_type: &str, body: &'static str) -> Result<String, ProblemType> {
        let request = Request::builder().header(CONTENT_TYPE, media_type);
        let request = request.body(Body::from(body)).unwrap();
        Form::from_request(request, &()).await.map(|form| form.0).map_err(|problem| problem.kind())
    }

    #[tokio::test]
    async fn a_form_is_read_and_nothing_else() {
        for media_type in [FORM, "Application/X-WWW-Form-Urlencoded; charset=UTF-8"] {
            assert_eq!(read_as(media_type, "a=b%20c").await.as_deref(), Ok("a=b%20c"));
        }
        let refused = Err(ProblemType::UnsupportedMediaType);
        assert_eq!(read_as("application/json", "{}").await, refused);
        assert_eq!(read_as("", "a=b").await, refused);
    }
}
