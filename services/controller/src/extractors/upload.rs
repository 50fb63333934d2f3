//! A file as a request's body: its bytes, up to a limit, and what it says that it is.

use std::time::Duration;

use axum::{
    body::{self, Bytes},
    extract::Request,
    http::header::CONTENT_TYPE,
};
use http_body_util::LengthLimitError;
use tokio::time::timeout;
use vestibule_runtime::{Problem, ProblemType};

/// How long a file may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A file that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    /// Its media type, in lower case and without parameters.
    pub(crate) media_type: String,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

// === impl Upload ===

impl Upload {
    /// Reads the body of `request`, of at most `max` bytes.
    ///
    /// # Errors
    /// 413 for a longer one, 408 for one that does not arrive.
    pub(crate) async fn read(request: Request, max: usize) -> Result<Self, Problem> {
        let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|text| text.split(';').next()).unwrap_or_default();
        let media_type = media_type.trim().to_ascii_lowercase();
        let bytes = timeout(TIMEOUT, body::to_bytes(request.into_body(), max)).await;
        let bytes = bytes.map_err(|_| Problem::new(ProblemType::RequestTimeout))?;
        let bytes = bytes.map_err(|error| {
            if error.into_inner().downcast_ref::<LengthLimitError>().is_some() {
                Problem::new(ProblemType::PayloadTooLarge)
                    .detail(format!("it may have at most {max} bytes"))
            } else {
                Problem::new(ProblemType::InvalidRequest).detail("the body could not be read")
            }
        })?;
        Ok(Self { media_type, bytes })
    }
}
