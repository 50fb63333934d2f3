//! Waiting until every admission applies a change, so that the caller can rely on it as soon as the
//! call is answered. An instance that does not follow delays the call by one second at most.

use std::{convert::Infallible, time::Duration};

use axum::{
    http::{HeaderName, HeaderValue},
    response::{IntoResponse, IntoResponseParts, Response, ResponseParts},
};
use tokio::time::{Instant, sleep};
use vestibule_domain::RoomId;
use vestibule_store::{Store, StoreError};

/// Header that says that some admissions do not apply the change yet.
pub(crate) const BEHIND: HeaderName = HeaderName::from_static("vestibule-behind");
/// How long a call waits for the admissions.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it checks whether they follow.
const PAUSE: Duration = Duration::from_millis(10);

/// How far a change has come. As a part of a response: the header `Vestibule-Behind`, if need be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rollout {
    /// Every running admission applies it.
    Complete,
    /// So many running admissions do not apply it yet.
    Behind(usize),
    /// Redis stopped answering after it had taken the change.
    Unknown,
}

// === impl Rollout ===

impl Rollout {
    /// Notifies the admissions that `room` was changed, and waits until they apply the change, for a
    /// second at most.
    pub(crate) async fn of_change(store: &Store, room: &RoomId) -> Self {
        Self::of_changes(store, std::slice::from_ref(room)).await
    }

    /// The same for several rooms at once.
    pub(super) async fn of_changes(store: &Store, rooms: &[RoomId]) -> Self {
        let names = || rooms.iter().map(RoomId::as_str).collect::<Vec<_>>().join(",");
        match wait(store, rooms).await {
            Ok(behind) if behind.is_empty() => Self::Complete,
            Ok(instances) => {
                tracing::warn!(
                    room = %names(),
                    ?instances,
                    "admissions do not apply a change of the room yet"
                );
                Self::Behind(instances.len())
            }
            Err(error) => {
                tracing::warn!(room = %names(), %error, "cannot tell whether the admissions apply a change");
                Self::Unknown
            }
        }
    }

    fn header(self) -> Option<HeaderValue> {
        let text = match self {
            Self::Complete => return None,
            Self::Behind(1) => "1 instance has not taken this in yet".to_owned(),
            Self::Behind(count) => format!("{count} instances have not taken this in yet"),
            Self::Unknown => "instances may not have taken this in yet".to_owned(),
        };
        HeaderValue::try_from(text).ok()
    }
}

impl IntoResponseParts for Rollout {
    type Error = Infallible;

    fn into_response_parts(self, mut response: ResponseParts) -> Result<ResponseParts, Infallible> {
        if let Some(value) = self.header() {
            response.headers_mut().insert(BEHIND, value);
        }
        Ok(response)
    }
}

impl IntoResponse for Rollout {
    fn into_response(self) -> Response {
        (self, ()).into_response()
    }
}

/// The instances that are still behind when the wait is over.
async fn wait(store: &Store, rooms: &[RoomId]) -> Result<Vec<String>, StoreError> {
    // Revisions rise: who has come to the last one has all of them.
    let mut last = None;
    for room in rooms {
        last = Some(store.note_change(room).await?);
    }
    let Some(revision) = last else { return Ok(Vec::new()) };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let behind = store.lagging(revision).await?;
        if behind.is_empty() || Instant::now() >= deadline {
            return Ok(behind);
        }
        sleep(PAUSE).await;
    }
}
