//! A request's body as a whole, within bounds. What is in it is not known here.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::problem::{Problem, ProblemType};

/// Longest request body that is read, in bytes. No operation needs a tenth of it.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// How long a body may take to arrive. A slow client occupies no more than its connection meanwhile.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A body of at most [`MAX_BODY_BYTES`].
///
/// # Errors
/// 413 for a longer one, 408 if it does not arrive within [`BODY_TIMEOUT`], and 400 if it breaks off.
pub async fn read_body(body: Body) -> Result<Bytes, Problem> {
    // The timer is armed only if the body is not there yet.
    let bytes = timeout(BODY_TIMEOUT, gather(Limited::new(body, MAX_BODY_BYTES))).await;
    let bytes = bytes.map_err(|_| Problem::new(ProblemType::RequestTimeout))?;
    bytes.map_err(|error| {
        if error.downcast_ref::<LengthLimitError>().is_some() {
            Problem::new(ProblemType::PayloadTooLarge)
                .detail(format!("a body may have at most {MAX_BODY_BYTES} bytes"))
        } else {
            Problem::new(ProblemType::InvalidRequest).detail("the body could not be read")
        }
    })
}

/// Copies what comes into one piece of memory: each piece that is kept keeps all of what was read with it, kilobytes for
/// every byte that comes alone.
async fn gather(mut body: Limited<Body>) -> Result<Bytes, axum::BoxError> {
    let mut gathered = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            gathered.extend_from_slice(&data);
        }
    }
    Ok(gathered.into())
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;
    use crate::testing::sent_body;

    #[tokio::test]
    async fn bytes_that_come_alone_keep_nothing_in_memory_but_themselves() {
        let read = Bytes::from(vec![b'x'; 8 << 10]);
        let (rest, body) = sent_body();
        let mut reading = Box::pin(read_body(body));
        rest.send(read.slice(..1)).unwrap();
        let is_awaited =
            std::future::poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx).is_pending()));
        assert!(is_awaited.await);
        assert!(read.is_unique(), "what was read at once may go");
        rest.send(read.slice(1..3)).unwrap();
        drop(rest);
        assert_eq!(reading.await.unwrap(), "xxx");
    }
}
