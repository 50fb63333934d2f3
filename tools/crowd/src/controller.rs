//! The operator's side of a rehearsal: reads a room's limits from the controller, creates the room
//! when asked to, and samples its live figures, so that the report can set what the controller saw
//! beside what the visitors saw. Visitors never come through here.

use std::{convert::Infallible, fmt, str::FromStr, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use http_body_util::Full;
use hyper::{
    Method, Request, Uri,
    body::Bytes,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::{
    client::{self, Http},
    crowd::Ground,
    method::QueueingMethod,
    record::RoomSample,
};

/// How often the room's live figures are read.
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The controller's API token; never printed.
#[derive(Clone)]
pub(crate) struct ApiToken(String);

/// A room's limits, as far as a rehearsal measures against them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoomLimits {
    /// How many may be inside at once; `None` = any number.
    pub(crate) total_active_users: Option<u32>,
    /// How many may enter in any minute; `None` = any number.
    pub(crate) new_users_per_minute: Option<u32>,
    /// How long a session lasts, in seconds; not sent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_duration_seconds: Option<u32>,
    /// The order in which people enter; not sent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queueing_method: Option<QueueingMethod>,
}

/// Live figures of a room.
#[derive(Debug, Deserialize)]
struct RoomStatus {
    active_users: i64,
    waiting: i64,
    #[serde(default)]
    admitted_last_minute: Option<i64>,
}

/// One room as its controller offers it.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    http: Http,
    room: Uri,
    status: Uri,
    token: Option<HeaderValue>,
}

// === impl ApiToken ===

impl FromStr for ApiToken {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.trim().to_owned()))
    }
}

impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiToken(…)")
    }
}

// === impl Controller ===

impl Controller {
    /// The controller at `base`, for one room.
    ///
    /// # Errors
    /// When the address or the token cannot be sent.
    pub(crate) fn new(base: &Uri, room: &str, token: Option<&ApiToken>) -> anyhow::Result<Self> {
        let base = base.to_string();
        let room = format!("{}/v1/rooms/{room}", base.trim_end_matches('/'));
        let bearer = |token: &ApiToken| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.0))?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        };
        Ok(Self {
            http: client::http(),
            status: format!("{room}/status").parse()?,
            room: room.parse()?,
            token: token.map(bearer).transpose().context("the API token cannot be sent")?,
        })
    }

    /// Creates or replaces the room with these limits.
    ///
    /// # Errors
    /// When the controller cannot be reached or refuses.
    pub(crate) async fn create(&self, limits: &RoomLimits) -> anyhow::Result<()> {
        let body = serde_json::to_vec(limits)?;
        self.exchange(Method::PUT, &self.room, body.into()).await.context("creating the room")?;
        Ok(())
    }

    /// Reads the room's limits.
    ///
    /// # Errors
    /// When the controller cannot be reached, or does not know the room.
    pub(crate) async fn limits(&self) -> anyhow::Result<RoomLimits> {
        self.get(&self.room).await.context("reading the room's limits")
    }

    /// Notes the room's live figures twice a second, for as long as it is polled. A sample that
    /// fails is simply missing: the crowd must not stop because the controller did.
    pub(crate) async fn sample(&self, ground: Arc<Ground>) {
        let mut ticks = interval(SAMPLE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            if let Ok(status) = self.get::<RoomStatus>(&self.status).await {
                ground.recorder.note_room(RoomSample {
                    at: ground.recorder.since_start(Instant::now()),
                    active_users: status.active_users,
                    waiting: status.waiting,
                    admitted_last_minute: status.admitted_last_minute,
                });
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, uri: &Uri) -> anyhow::Result<T> {
        let body = self.exchange(Method::GET, uri, Bytes::new()).await?;
        serde_json::from_slice(&body).context("the controller's answer makes no sense")
    }

    async fn exchange(&self, method: Method, uri: &Uri, body: Bytes) -> anyhow::Result<Bytes> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        let answer = timeout(CALL_TIMEOUT, self.http.request(request)).await;
        let response = answer.with_context(|| format!("no answer from {uri}"))?;
        let response = response.with_context(|| format!("cannot reach {uri}"))?;
        let status = response.status();
        let body = client::read(response.into_body()).await.context("the answer broke off")?;
        if !status.is_success() {
            bail!("{uri} answered {status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_does_not_print() {
        let token: ApiToken = " secret\n".parse().unwrap();
        assert_eq!(token.0, "secret");
        assert!(!format!("{token:?}").contains("secret"));
        let base = "http://127.0.0.1:1".parse().unwrap();
        let controller = Controller::new(&base, "demo", Some(&token)).unwrap();
        assert!(!format!("{controller:?}").contains("secret"));
    }

    #[test]
    fn absent_limits_are_null_and_an_unknown_session_is_left_out() {
        let limits = RoomLimits { total_active_users: Some(5), ..RoomLimits::default() };
        let json = serde_json::to_string(&limits).unwrap();
        assert_eq!(json, r#"{"total_active_users":5,"new_users_per_minute":null}"#);
    }
}
