//! A room as operators write and read it: the settings of `vestibule-domain`, documented. Not the
//! line, which is [`super::RoomStatus`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{
    ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};
use vestibule_domain::{
    OnRedisFailure, QueueingMethod, RoomId, RoomSettings,
    schedule::RoomConfig,
    site::{Branding, BypassRule, CookieAttributes, OriginCommand, Route, SiteBinding},
};
use vestibule_runtime::{Problem, ProblemType, extract::Json};

use super::{refuse, site_schema};

/// A room: what an operator decides about it. Whatever is left out has its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
pub struct Room {
    /// Its name: in every answer, and not needed in requests, whose address has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "on-sale")]
    pub room: Option<RoomId>,
    /// The order in which people enter.
    #[schema(schema_with = queueing_methods)]
    pub queueing_method: QueueingMethod,
    /// The ceiling on live sessions; null: no ceiling. With neither this nor
    /// `new_users_per_minute`, people enter by increments of the serving counter only.
    #[schema(default = json!(null), minimum = 0, maximum = 2_147_483_647)]
    pub total_active_users: Option<u64>,
    /// The most admissions in any 60 seconds; null: no such limit. Not above
    /// `total_active_users`.
    #[schema(default = json!(null), minimum = 0, maximum = 2_147_483_647)]
    pub new_users_per_minute: Option<u64>,
    /// A visitor's session ends after so many seconds without a request.
    #[schema(default = 300, minimum = 1, maximum = 604_800)]
    pub session_duration_seconds: u64,
    /// Whether a visitor's session ends after its duration however busy the visitor is.
    #[schema(default = false)]
    pub disable_session_renewal: bool,
    /// How long a token of the AWS-style call, and its session, is valid.
    #[schema(default = 3600, minimum = 1, maximum = 604_800)]
    pub token_validity_seconds: u64,
    /// A served visitor who does not claim within this time is passed over; null: never.
    #[schema(default = 900, minimum = 1, maximum = 604_800)]
    pub position_expiry_seconds: Option<u64>,
    /// A waiting visitor who has not checked in for so long loses its place; null: never.
    #[schema(default = 300, minimum = 1, maximum = 604_800)]
    pub presence_grace_seconds: Option<u64>,
    /// Whether the serving counter makes up for positions that expired unclaimed, as far as they
    /// were let in by increments.
    #[schema(default = false)]
    pub advance_on_position_expiry: bool,
    /// Hold everyone: nobody enters, whatever else is set.
    #[schema(default = false)]
    pub queue_all: bool,
    /// The room is off: everyone enters, nobody is counted.
    #[schema(default = false)]
    pub suspended: bool,
    /// The `iss` of the room's tokens; null: the service's public address.
    #[schema(default = json!(null), min_length = 1, max_length = 512)]
    pub issuer: Option<String>,
    /// What newcomers are told while Redis cannot be reached: `closed`, to come back; `open`, to
    /// enter, with a short-lived token and without a number.
    #[schema(schema_with = failure_modes)]
    pub on_redis_failure: OnRedisFailure,
    /// Polls per second that the waiting crowd of this room may cost.
    #[schema(default = 2000, minimum = 1, maximum = 1_000_000)]
    pub poll_budget_per_second: u32,
    /// Whether status requests that ask for JSON only are answered in the form of Cloudflare's
    /// waiting rooms.
    #[schema(default = false)]
    pub json_response_enabled: bool,
    /// Hosts and paths that the room covers; of several rooms the most specific one does: an exact
    /// host before a wildcard, then the longer path. No two rooms have the same one.
    #[schema(value_type = Vec<site_schema::Route>)]
    pub routes: Vec<Route>,
    /// Covered requests that pass uncounted; the first rule that matches wins.
    #[schema(value_type = Vec<site_schema::BypassRule>)]
    pub bypass_rules: Vec<BypassRule>,
    /// The header in which the gateway tells the visitor's country; null: none does.
    #[schema(default = json!(null))]
    pub country_header: Option<String>,
    /// How a browser is asked to keep the ticket.
    #[schema(value_type = site_schema::CookieAttributes)]
    pub cookie: CookieAttributes,
    /// Whether a browser is also given the access token, as the cookie
    /// `vestibule_token_{suffix or room}`: for gateways that verify it by themselves.
    #[schema(default = false)]
    pub access_token_cookie: bool,
    /// What the site may order by a header of its answers.
    #[schema(value_type = Vec<site_schema::OriginCommand>)]
    pub origin_commands: Vec<OriginCommand>,
    /// The HTTP status of the waiting page: 200, 202, 429 or 503. Where 2xx would let the request
    /// pass, 503 is sent instead.
    #[schema(default = 200)]
    pub queueing_status_code: u16,
    /// The language of the waiting page for visitors who prefer none that there is: one of `en`,
    /// `de`, `fr`, `es`, `pt`, `it`, `nl`, `pl`, `ja`, `zh`, `ko`, `ar`.
    #[schema(default = "en")]
    pub default_language: String,
}

/// What a document of a room sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// How the line works.
    pub settings: RoomSettings,
    /// Its place in front of a site, without the look, which has calls of its own.
    pub binding: SiteBinding,
}

/// All rooms.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RoomList {
    /// By name.
    pub rooms: Vec<Room>,
}

/// The members of a document, of a room or of an event, as a client sent them, not looked at yet.
#[derive(Debug, Clone, Deserialize)]
pub struct Members(Map<String, Value>);

// === impl Room ===

impl Room {
    /// The room of this name with these settings.
    #[must_use]
    pub fn new(room: RoomId, draft: Draft) -> Self {
        Self { room: Some(room), ..draft.into() }
    }
}

impl Default for Room {
    fn default() -> Self {
        Draft::default().into()
    }
}

impl From<Draft> for Room {
    fn from(Draft { settings, binding }: Draft) -> Self {
        Self {
            room: None,
            queueing_method: settings.queueing_method,
            total_active_users: settings.total_active_users,
            new_users_per_minute: settings.new_users_per_minute,
            session_duration_seconds: settings.session_duration_seconds,
            disable_session_renewal: settings.disable_session_renewal,
            token_validity_seconds: settings.token_validity_seconds,
            position_expiry_seconds: settings.position_expiry_seconds,
            presence_grace_seconds: settings.presence_grace_seconds,
            advance_on_position_expiry: settings.advance_on_position_expiry,
            queue_all: settings.queue_all,
            suspended: settings.suspended,
            issuer: settings.issuer,
            on_redis_failure: settings.on_redis_failure,
            poll_budget_per_second: settings.poll_budget_per_second,
            json_response_enabled: settings.json_response_enabled,
            routes: binding.routes,
            bypass_rules: binding.bypass_rules,
            country_header: binding.country_header,
            cookie: binding.cookie,
            access_token_cookie: binding.access_token_cookie,
            origin_commands: binding.origin_commands,
            queueing_status_code: binding.queueing_status_code,
            default_language: binding.default_language,
        }
    }
}

impl From<Room> for Draft {
    fn from(fields: Room) -> Self {
        let settings = RoomSettings {
            queueing_method: fields.queueing_method,
            total_active_users: fields.total_active_users,
            new_users_per_minute: fields.new_users_per_minute,
            session_duration_seconds: fields.session_duration_seconds,
            disable_session_renewal: fields.disable_session_renewal,
            token_validity_seconds: fields.token_validity_seconds,
            position_expiry_seconds: fields.position_expiry_seconds,
            presence_grace_seconds: fields.presence_grace_seconds,
            advance_on_position_expiry: fields.advance_on_position_expiry,
            queue_all: fields.queue_all,
            suspended: fields.suspended,
            issuer: fields.issuer,
            on_redis_failure: fields.on_redis_failure,
            poll_budget_per_second: fields.poll_budget_per_second,
            json_response_enabled: fields.json_response_enabled,
        };
        let binding = SiteBinding {
            routes: fields.routes,
            bypass_rules: fields.bypass_rules,
            country_header: fields.country_header,
            cookie: fields.cookie,
            access_token_cookie: fields.access_token_cookie,
            origin_commands: fields.origin_commands,
            queueing_status_code: fields.queueing_status_code,
            default_language: fields.default_language,
            branding: Branding::default(),
        };
        Self { settings, binding }
    }
}

// === impl Draft ===

impl Draft {
    /// What `config` sets.
    #[must_use]
    pub fn from_config(config: &RoomConfig) -> Self {
        Self { settings: config.settings.clone(), binding: config.binding.clone() }
    }

    /// Sets it in `config`, whose look stays.
    pub fn put_into(&self, config: &mut RoomConfig) {
        config.settings = self.settings.clone();
        config.binding =
            SiteBinding { branding: config.binding.branding.clone(), ..self.binding.clone() };
    }
}

// === impl Members ===

impl Members {
    pub(super) fn from_inner(members: Map<String, Value>) -> Self {
        Self(members)
    }

    pub(super) fn into_inner(self) -> Map<String, Value> {
        self.0
    }

    /// The document of `room` with these members over the defaults.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn create(self, room: &RoomId) -> Result<Draft, Problem> {
        checked(room, self.0)
    }

    /// The document of `room` with these members over `current`, as a JSON merge patch (RFC 7396);
    /// a null stands for itself where a setting may be null.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn merge(self, room: &RoomId, current: &Draft) -> Result<Draft, Problem> {
        let current = serde_json::to_value(Room::from(current.clone()));
        let Ok(Value::Object(mut merged)) = current else {
            return Err(Problem::new(ProblemType::Internal));
        };
        merge(&mut merged, self.0);
        checked(room, merged)
    }
}

fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, value) in patch {
        match (target.get_mut(&name), value) {
            (Some(Value::Object(target)), Value::Object(patch)) => merge(target, patch),
            (_, value) => drop(target.insert(name, value)),
        }
    }
}

fn checked(room: &RoomId, members: Map<String, Value>) -> Result<Draft, Problem> {
    let text = Value::Object(members).to_string();
    let Json(given) = Json::<Room>::from_bytes(text.as_bytes())?;
    // A document that was read, changed and sent back names its room.
    if given.room.as_ref().is_some_and(|name| name != room) {
        return Err(invalid_room().field("room", "is not the room of the address"));
    }
    let draft = Draft::from(given);
    let errors = draft.settings.errors().into_iter().chain(draft.binding.errors());
    refuse(invalid_room(), errors.collect())?;
    Ok(draft)
}

/// A 400 for a room; the fields are added by the caller.
pub(crate) fn invalid_room() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the room cannot be set like this")
}

pub(super) fn queueing_methods() -> RefOr<Schema> {
    one_of(QueueingMethod::ALL.map(QueueingMethod::name), "The order in which people enter.")
}

fn failure_modes() -> RefOr<Schema> {
    one_of(
        ["closed", "open"],
        "What newcomers are told while Redis cannot be reached: `closed`, to come back; `open`, \
         to enter, with a short-lived token and without a number.",
    )
}

/// One of these words, the first by default.
fn one_of<const N: usize>(words: [&'static str; N], description: &str) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .default(words.first().map(|word| Value::from(*word)))
        .enum_values(Some(words))
        .description(Some(description))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(json: &str) -> Members {
        serde_json::from_str(json).unwrap()
    }

    fn room() -> RoomId {
        "sale".parse().unwrap()
    }

    fn wrong(result: Result<Draft, Problem>) -> Vec<String> {
        result.unwrap_err().errors().iter().map(|error| error.field.to_string()).collect()
    }

    #[test]
    fn both_ways_lose_nothing() {
        let settings = RoomSettings {
            total_active_users: Some(5),
            position_expiry_seconds: None,
            presence_grace_seconds: None,
            disable_session_renewal: true,
            json_response_enabled: true,
            suspended: true,
            issuer: Some("https://x".into()),
            on_redis_failure: OnRedisFailure::Open,
            ..RoomSettings::default()
        };
        let binding = SiteBinding { queueing_status_code: 429, ..SiteBinding::default() };
        let there = Room::from(Draft { settings: settings.clone(), binding: binding.clone() });
        let mut names = serde_json::to_value(&settings).unwrap();
        let of_front = serde_json::to_value(&binding).unwrap();
        names.as_object_mut().unwrap().extend(of_front.as_object().unwrap().clone());
        assert_eq!(serde_json::to_value(&there).unwrap(), names, "the names are the same");
        assert_eq!(Draft::from(there), Draft { settings, binding });
    }

    #[test]
    fn what_is_left_out_has_its_default_and_null_is_a_value() {
        let draft = members("{}").create(&room()).unwrap();
        assert_eq!(draft, Draft::default());
        let never = members(r#"{"position_expiry_seconds":null}"#).create(&room()).unwrap();
        assert_eq!(never.settings.position_expiry_seconds, None);
    }

    #[test]
    fn a_patch_changes_only_what_it_names() {
        let settings = RoomSettings { total_active_users: Some(5), ..RoomSettings::default() };
        let current = Draft { settings: settings.clone(), ..Draft::default() };
        let patch = r#"{"room":"sale","position_expiry_seconds":null,"queue_all":true}"#;
        let patched = members(patch).merge(&room(), &current).unwrap();
        let expected = RoomSettings { position_expiry_seconds: None, queue_all: true, ..settings };
        assert_eq!(patched, Draft { settings: expected, ..Draft::default() });
        let unlimited = members(r#"{"total_active_users":null}"#).merge(&room(), &current).unwrap();
        assert_eq!(unlimited.settings.total_active_users, None);
        let suffix = members(r#"{"cookie":{"suffix":"a"}}"#).merge(&room(), &current).unwrap();
        let both = members(r#"{"cookie":{"partitioned":true}}"#).merge(&room(), &suffix).unwrap();
        assert!(
            both.binding.cookie.partitioned && both.binding.cookie.suffix.is_some(),
            "also inside"
        );
    }

    #[test]
    fn the_wrong_field_is_named() {
        let cases = [
            (r#"{"total_users":5}"#, "total_users"),
            (r#"{"total_active_users":"5"}"#, "total_active_users"),
            (r#"{"total_active_users":-1}"#, "total_active_users"),
            (r#"{"total_active_users":1.5}"#, "total_active_users"),
            (r#"{"total_active_users":2147483648}"#, "total_active_users"),
            (r#"{"session_duration_seconds":0}"#, "session_duration_seconds"),
            (r#"{"session_duration_seconds":null}"#, "session_duration_seconds"),
            (r#"{"queueing_method":"lifo"}"#, "queueing_method"),
            (r#"{"presence_grace_seconds":0}"#, "presence_grace_seconds"),
            (r#"{"disable_session_renewal":null}"#, "disable_session_renewal"),
            (r#"{"total_active_users":5,"new_users_per_minute":6}"#, "new_users_per_minute"),
            (r#"{"issuer":"a b"}"#, "issuer"),
            (r#"{"room":"other"}"#, "room"),
            (r#"{"room":"a b"}"#, "room"),
        ];
        for (json, field) in cases {
            assert_eq!(wrong(members(json).create(&room())), [field], "{json}");
            let current = Draft::default();
            assert_eq!(wrong(members(json).merge(&room(), &current)), [field], "{json}");
        }
        let two = r#"{"token_validity_seconds":0,"poll_budget_per_second":0}"#;
        assert_eq!(wrong(members(two).create(&room())).len(), 2);
    }
}
