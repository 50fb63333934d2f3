//! Webhooks, as operators write and read them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::{Position, Url};
use utoipa::ToSchema;
use vestibule_domain::{
    FieldError,
    access::RoomScope,
    schedule::moment,
    webhook::{self, Delivery, EventKind, EventStream, Webhook as Stored},
};
use vestibule_token::WebhookSecret;

use crate::{fingerprint::fingerprint, webhooks::WebhookDraft};

/// A webhook that is wanted.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookRequest {
    /// Where events are sent: `https://…`. Whoever may read webhooks sees it.
    #[schema(max_length = 2048, example = "https://hooks.example.com/vestibule")]
    url: String,
    /// Whether it may be `http://…`, which is sent to only within a private network or this machine.
    #[serde(default)]
    #[schema(required = false)]
    allow_http: bool,
    /// Of what it is told; if left out, of what happens in rooms, and of alarms. The four events of AWS-style rooms must
    /// be named.
    #[serde(default)]
    #[schema(required = false, value_type = Option<Vec<String>>, example = json!(["alarm.firing", "alarm.resolved"]))]
    events: Option<BTreeSet<String>>,
    /// Of which rooms. A webhook for some rooms is not told what is of no room.
    #[serde(default)]
    #[schema(required = false)]
    rooms: RoomScope,
    /// Whether it is told anything. It goes on where it stopped, as far as that is kept.
    #[serde(default = "yes")]
    #[schema(required = false, default = true)]
    enabled: bool,
    /// Whether what has happened so far, and was not told, is left out: then it goes on with what happens from now on.
    #[serde(default)]
    #[schema(required = false)]
    skip: bool,
    /// What its events are signed with: `whsec_` and the base64 of 24 to 64 random bytes. If left out it keeps the one
    /// that it has, or gets one. Another one than it has replaces that, which signs for a day, too.
    #[serde(default)]
    #[schema(required = false, value_type = Option<String>, write_only)]
    secret: Option<String>,
}

/// A webhook, without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Webhook {
    /// Its name.
    name: String,
    /// Where events are sent.
    url: String,
    /// Whether they may be sent in the clear.
    allow_http: bool,
    /// Of what it is told.
    events: BTreeSet<String>,
    /// Of which rooms.
    rooms: RoomScope,
    /// Whether an operator wants it to be told.
    enabled: bool,
    /// Since when it is not told all the same, because nothing reached it for a day, or because it answered 410; null:
    /// it is. A `PUT` switches it on again.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    disabled_at: Option<u64>,
    /// Why.
    disabled_because: Option<String>,
    /// Until when a secret before signs, too; null: there is none.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    old_secret_until: Option<u64>,
    /// When it was made.
    #[serde(with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    created_at: u64,
    /// The token by which it was made.
    created_by: String,
    /// How it gets on.
    delivery: WebhookDelivery,
}

/// How a webhook gets on.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct WebhookDelivery {
    /// When it was told something last; null: never.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    last_told_at: Option<u64>,
    /// How many attempts in a row have failed.
    failures: u32,
    /// When the first of them was; null: none has.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<u64>,
    /// When it is tried again; null: at once.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt_at: Option<u64>,
    /// When an attempt failed last; null: none ever has.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    last_failure_at: Option<u64>,
    /// What was answered then, or why nothing was.
    last_failure: Option<String>,
    /// When it was noticed last that events were forgotten before it was told; null: never.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime)]
    missed_at: Option<u64>,
    /// How many rooms, and events of single visitors, wait to be tried again while the others go on.
    held_up: usize,
    /// The last events that were given up, the latest last: it took others, and not them.
    put_aside: Vec<PutAside>,
}

/// An event that a webhook is not told any more.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct PutAside {
    /// Its name, which the receiver got as `webhook-id`.
    id: String,
    /// What happened.
    r#type: String,
    /// The room; null: it is of none.
    room: Option<String>,
    /// When it was given up.
    #[serde(with = "moment")]
    #[schema(value_type = String, format = DateTime)]
    at: u64,
    /// What was answered last, or why nothing was.
    answer: String,
}

/// A webhook that was made or changed.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewWebhook {
    /// The webhook.
    #[serde(flatten)]
    pub(crate) about: Webhook,
    /// Its secret, if it is a new one that was made here. It is told this once.
    #[schema(example = "whsec_…")]
    pub(crate) secret: Option<String>,
}

/// All webhooks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookList {
    /// By name.
    pub(crate) webhooks: Vec<Webhook>,
}

/// What came of an event that was sent for a test.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookTest {
    /// Whether the receiver has it.
    pub(crate) told: bool,
    /// What was answered, or why nothing was.
    #[schema(example = "it answered 500 Internal Server Error")]
    pub(crate) answer: String,
    /// The name of the event, which the receiver got as `webhook-id`.
    pub(crate) id: String,
}

// === impl WebhookRequest ===

impl WebhookRequest {
    /// Whether it names a secret.
    pub(crate) fn has_secret(&self) -> bool {
        self.secret.is_some()
    }

    /// Checked.
    ///
    /// # Errors
    /// What is wrong, by field; never the secret.
    pub(crate) fn check(self) -> Result<WebhookDraft, Vec<FieldError>> {
        let mut wrong = Vec::new();
        let mut refuse = |field: &'static str, reason: String| {
            wrong.push(FieldError { field: field.into(), reason });
        };
        let secret = self.secret.as_deref().map(WebhookSecret::parse).transpose();
        let secret = secret.unwrap_or_else(|error| {
            refuse("secret", error.to_string());
            None
        });
        let events = self.events.unwrap_or_else(usual_events);
        if events.is_empty() {
            refuse("events", "must name at least one; leave it out for the usual ones".to_owned());
        }
        if let Some(unknown) = events.iter().find(|name| name.parse::<EventKind>().is_err()) {
            let known: Vec<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
            refuse("events", format!("{unknown:?} is no event; there are {}", known.join(", ")));
        }
        let Self { url, allow_http, rooms, enabled, skip, .. } = self;
        let draft = WebhookDraft { url, allow_http, events, rooms, enabled, skip, secret };
        if let Err(reason) = draft.check() {
            refuse("url", reason);
        }
        if wrong.is_empty() { Ok(draft) } else { Err(wrong) }
    }
}

// === impl Webhook ===

impl Webhook {
    /// A webhook, and what was noted of how it gets on, of all `noted`.
    pub(crate) fn new(name: &str, stored: &Stored, noted: &BTreeMap<String, String>) -> Self {
        let delivery = EventStream::ALL.into_iter().filter_map(|stream| {
            let noted: Delivery = serde_json::from_str(noted.get(&stream.noted_as(name))?).ok()?;
            Some(WebhookDelivery::from(noted.go_on(stored, stream)))
        });
        Self {
            name: name.to_owned(),
            url: stored.url.clone(),
            allow_http: stored.allow_http,
            events: stored.events.clone(),
            rooms: stored.rooms.clone(),
            enabled: stored.enabled,
            disabled_at: stored.disabled.as_ref().map(|disabled| disabled.at),
            disabled_because: stored.disabled.as_ref().map(|disabled| disabled.why.clone()),
            old_secret_until: stored.old_secrets.last().map(|old| old.until),
            created_at: stored.created_at_ms / 1_000,
            created_by: stored.created_by.clone(),
            delivery: delivery.reduce(WebhookDelivery::join).unwrap_or_default(),
        }
    }

    /// As the audit log has it. The path and the query of an address let whoever knows them post there: of them it has a
    /// hash.
    pub(crate) fn noted(name: &str, stored: &Stored) -> Value {
        let webhook = Self::new(name, stored, &BTreeMap::new());
        let (origin, rest) = parts_of(&webhook.url);
        let mut noted = serde_json::to_value(&webhook).unwrap_or_default();
        if let Some(members) = noted.as_object_mut() {
            members.remove("delivery");
            members.insert("url".to_owned(), origin.into());
            members.insert("url_rest_sha256".to_owned(), fingerprint(&rest).into());
        }
        noted
    }
}

impl From<Delivery> for WebhookDelivery {
    fn from(noted: Delivery) -> Self {
        let moment = |ms: u64| Some(ms / 1_000).filter(|seconds| *seconds > 0);
        let last_failure = noted.last_failure.clone();
        let last_failure = last_failure.as_ref();
        Self {
            last_told_at: moment(noted.last_told_ms),
            failures: noted.failed(),
            failing_since: moment(noted.failing_since_ms),
            next_attempt_at: moment(noted.tried_again_ms()),
            last_failure_at: last_failure.and_then(|failure| moment(failure.at_ms)),
            last_failure: last_failure.map(|failure| failure.why.clone()),
            missed_at: moment(noted.missed_at_ms),
            held_up: noted.parked.len(),
            put_aside: noted.put_aside.into_iter().map(PutAside::from).collect(),
        }
    }
}

impl WebhookDelivery {
    /// Of both streams.
    fn join(self, other: Self) -> Self {
        let (earlier, later) = if self.last_failure_at < other.last_failure_at {
            (self, other)
        } else {
            (other, self)
        };
        let soonest = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let mut put_aside = [earlier.put_aside, later.put_aside].concat();
        put_aside.sort_by_key(|event| event.at);
        Self {
            last_told_at: earlier.last_told_at.max(later.last_told_at),
            failures: earlier.failures.max(later.failures),
            failing_since: soonest(earlier.failing_since, later.failing_since),
            next_attempt_at: soonest(earlier.next_attempt_at, later.next_attempt_at),
            last_failure_at: later.last_failure_at,
            last_failure: later.last_failure,
            missed_at: earlier.missed_at.max(later.missed_at),
            held_up: earlier.held_up + later.held_up,
            put_aside,
        }
    }
}

impl From<webhook::PutAside> for PutAside {
    fn from(noted: webhook::PutAside) -> Self {
        let webhook::PutAside { id, kind, room, at_ms, why } = noted;
        let room = Some(room).filter(|room| !room.is_empty());
        Self { id, r#type: kind, room, at: at_ms / 1_000, answer: why }
    }
}

/// The scheme, the host and the port of an address, and what is behind them.
fn parts_of(url: &str) -> (String, String) {
    match Url::parse(url) {
        Ok(url) => (url.origin().ascii_serialization(), url[Position::BeforePath..].to_owned()),
        Err(_) => (String::new(), url.to_owned()),
    }
}

fn usual_events() -> BTreeSet<String> {
    let usual = EventKind::ALL.iter().filter(|kind| !kind.is_aws_style());
    usual.map(|kind| kind.name().to_owned()).collect()
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(request: Value) -> Result<WebhookDraft, Vec<FieldError>> {
        serde_json::from_value::<WebhookRequest>(request).unwrap().check()
    }

    #[test]
    fn what_is_left_out_is_the_usual() {
        let draft = checked(json!({ "url": "https://a.example" })).unwrap();
        assert!(draft.enabled && !draft.allow_http && draft.secret.is_none());
        assert_eq!(draft.events.len(), 6);
        assert!(!draft.events.contains("token_generated"));
    }

    /// With Slack, Teams and others whoever knows the path may post there.
    #[test]
    fn of_an_address_the_audit_log_has_the_origin_and_a_hash() {
        let noted = |url: &str| {
            let stored = json!({
                "url": url, "allow_http": false, "events": [], "rooms": [], "enabled": true, "secret": "sealed",
                "created_at_ms": 0, "created_by": "root",
            });
            Webhook::noted("ops", &serde_json::from_value(stored).unwrap())
        };
        for (url, origin, rest) in [
            (
                "https://hooks.example/services/T0/B0/xyz",
                "https://hooks.example",
                "/services/T0/B0/xyz",
            ),
            ("https://hooks.example:8443?key=xyz", "https://hooks.example:8443", "/?key=xyz"),
            ("https://[2001:db8::1]:8443#xyz", "https://[2001:db8::1]:8443", "/#xyz"),
            ("https:hooks.example\\xyz?to=a://b", "https://hooks.example", "/xyz?to=a://b"),
            ("https://hooks.example", "https://hooks.example", "/"),
            ("xyz", "", "xyz"),
        ] {
            let noted = noted(url);
            assert_eq!(
                (&noted["url"], &noted["url_rest_sha256"]),
                (&json!(origin), &json!(fingerprint(rest)))
            );
            assert!(!noted.to_string().contains("xyz"), "{noted}");
        }
        assert_eq!(fingerprint("").len(), 16);
    }

    #[test]
    fn everything_that_is_wrong_is_named_and_no_secret() {
        let wrong = checked(json!({
            "url": "http://a.example", "events": ["room.*"], "secret": "whsec_c2hvcnQ=",
        }));
        let wrong = wrong.unwrap_err();
        let fields: Vec<_> = wrong.iter().map(|error| &*error.field).collect();
        assert_eq!(fields, ["secret", "events", "url"]);
        assert!(wrong.iter().all(|error| !error.reason.contains("c2hvcnQ")));
        assert!(checked(json!({ "url": "https://a.example", "events": [] })).is_err());
    }
}
