//! The operator's side of a rehearsal: reads a room's limits from the controller, creates the room
//! when asked to, and samples its live figures, so that the report can set what the controller saw
//! beside what the visitors saw. Visitors never come through here.

use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, Method, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use tokio::time::{Instant, MissedTickBehavior, interval};
use vestibule_domain::QueueingMethod;

use crate::{http, record::RoomSample, visits::Recorder};

/// How often the room's live figures are read.
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// A call without an answer by then has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// What a room may limit for one network.
const PER_NETWORK: [&str; 3] =
    ["joins_per_network_per_minute", "places_per_network", "seats_per_network"];

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
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known_method")]
    pub(crate) queueing_method: Option<QueueingMethod>,
}

/// One room as its controller offers it.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    http: Client,
    room: String,
    token: Option<SecretString>,
}

// === impl Controller ===

impl Controller {
    /// The controller at `base`, for one room.
    ///
    /// # Errors
    /// When there can be no client.
    pub(crate) fn new(base: &Url, room: &str, token: Option<SecretString>) -> anyhow::Result<Self> {
        Ok(Self { http: http::client(CALL_TIMEOUT)?, room: http::room_at(base, room), token })
    }

    /// Creates or replaces the room with these limits. It answers AWS-style calls, which ghosts make. What one network
    /// may have is what it may by default, if the crowd `has_networks`; otherwise anything, since all come from one.
    ///
    /// # Errors
    /// When the controller cannot be reached or refuses.
    pub(crate) async fn create(
        &self,
        limits: &RoomLimits,
        has_networks: bool,
    ) -> anyhow::Result<()> {
        let mut room = serde_json::to_value(limits)?;
        room["aws_style_api"] = true.into();
        for limit in PER_NETWORK.into_iter().filter(|_| !has_networks) {
            room[limit] = serde_json::Value::Null;
        }
        let request = self.request(Method::PUT, "").json(&room);
        http::exchange(request).await.context("creating the room").map(drop)
    }

    /// Reads the room's limits.
    ///
    /// # Errors
    /// When the controller cannot be reached, or does not know the room.
    pub(crate) async fn limits(&self) -> anyhow::Result<RoomLimits> {
        self.get("").await.context("reading the room's limits")
    }

    /// Notes the room's live figures twice a second, for as long as it is polled. A sample that
    /// fails is simply missing: the crowd must not stop because the controller did.
    pub(crate) async fn sample(&self, recorder: &Recorder) {
        let mut ticks = interval(SAMPLE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            if let Ok(status) = self.get("/status").await {
                let at = recorder.since_start(Instant::now());
                recorder.write(|book| book.sample(RoomSample { at, ..status }));
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, of_room: &str) -> anyhow::Result<T> {
        let body = http::exchange(self.request(Method::GET, of_room)).await?;
        serde_json::from_slice(&body).context("the controller's answer makes no sense")
    }

    fn request(&self, method: Method, of_room: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{of_room}", self.room));
        match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret().trim()),
            None => request,
        }
    }
}

/// A method that this tool does not know counts as none that is known.
fn known_method<'de, D: Deserializer<'de>>(from: D) -> Result<Option<QueueingMethod>, D::Error> {
    let method = Option::<serde_json::Value>::deserialize(from)?;
    Ok(method.and_then(|method| serde_json::from_value(method).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_does_not_print() {
        let base = "http://127.0.0.1:1".parse().unwrap();
        let controller = Controller::new(&base, "demo", Some("secret".into())).unwrap();
        assert!(!format!("{controller:?}").contains("secret"));
    }

    #[test]
    fn absent_limits_are_null_and_an_unknown_session_is_left_out() {
        let limits = RoomLimits { total_active_users: Some(5), ..RoomLimits::default() };
        let json = serde_json::to_string(&limits).unwrap();
        assert_eq!(json, r#"{"total_active_users":5,"new_users_per_minute":null}"#);
    }

    #[test]
    fn a_method_of_a_later_release_is_not_known() {
        let limits = |json: &str| serde_json::from_str::<RoomLimits>(json).unwrap();
        let known = limits(r#"{"queueing_method": "random"}"#);
        assert_eq!(known.queueing_method, Some(QueueingMethod::Random));
        assert_eq!(limits(r#"{"queueing_method": "tombola"}"#), RoomLimits::default());
    }
}
