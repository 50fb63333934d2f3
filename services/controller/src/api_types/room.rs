//! A room as operators write and read it: its name, its settings and its place in front of a site,
//! in one document. Not the line, which is [`super::RoomStatus`].

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use vestibule_domain::{RoomId, RoomSettings, schedule::RoomConfig};
use vestibule_page::Accent;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{Branding, SiteBinding};

use super::{Members, members::merged_schema, refuse};

/// A room, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Room {
    room: RoomId,
    #[serde(flatten)]
    draft: Draft,
}

/// What a document of a room sets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Draft {
    /// How the line works.
    #[serde(flatten)]
    pub settings: RoomSettings,
    /// Its place in front of a site, without the branding, which has calls of its own.
    #[serde(flatten)]
    pub binding: SiteBinding,
}

/// All rooms.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RoomList {
    /// By name.
    pub rooms: Vec<Room>,
}

#[derive(Deserialize, ToSchema)]
struct RoomName {
    /// Its name: in every answer, and not needed in requests, whose address has it.
    #[serde(default)]
    #[schema(value_type = Option<String>, default = json!(null), example = "on-sale")]
    room: Option<RoomId>,
}

// === impl Room ===

impl Room {
    /// The room of this name with these settings.
    #[must_use]
    pub fn new(room: RoomId, draft: Draft) -> Self {
        Self { room, draft }
    }
}

impl PartialSchema for Room {
    fn schema() -> RefOr<Schema> {
        let parts = [RoomName::schema(), RoomSettings::schema(), SiteBinding::schema()];
        merged_schema(
            "A room: what an operator decides about it. Whatever is left out has its default.",
            parts,
        )
    }
}

impl ToSchema for Room {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        RoomSettings::schemas(schemas);
        SiteBinding::schemas(schemas);
    }
}

// === impl Draft ===

impl Draft {
    /// What `config` sets.
    #[must_use]
    pub fn from_config(config: &RoomConfig) -> Self {
        let binding = SiteBinding { branding: Branding::default(), ..config.binding.clone() };
        Self { settings: config.settings.clone(), binding }
    }

    /// Sets it in `config`, whose branding stays, and whose clients keep the secrets of which nothing is said.
    pub fn put_into(&self, config: &mut RoomConfig) {
        config.settings = self.settings.clone();
        let branding = config.binding.branding.clone();
        let before = std::mem::replace(&mut config.binding, self.binding.clone());
        config.binding.branding = branding;
        config.binding.keep_secrets_of(&before);
    }
}

// === impl Members ===

impl Members {
    /// The document of `room` with these members over the defaults.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn create(mut self, room: &RoomId) -> Result<Draft, Problem> {
        let RoomName { room: name } = self.take()?;
        // A document that was read, changed and sent back names its room.
        if name.is_some_and(|name| name != *room) {
            return Err(invalid_room().field("room", "is not the room of the address"));
        }
        // A room that is stored without it has it on: see there.
        self.0.entry("aws_style_api").or_insert(false.into());
        let draft = Draft { settings: self.take()?, binding: self.take()? };
        self.refuse_rest()?;
        let errors = draft.settings.errors().into_iter().chain(draft.binding.errors());
        refuse(invalid_room(), errors.chain(Accent::error(&draft.binding)).collect())?;
        Ok(draft)
    }

    /// The document of `room` with these members over `current`, as a JSON merge patch (RFC 7396);
    /// a null stands for itself where a setting may be null.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn merge(self, room: &RoomId, current: &Draft) -> Result<Draft, Problem> {
        self.over(current)?.create(room)
    }
}

/// A 400 for a room; the fields are added by the caller.
pub(crate) fn invalid_room() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the room cannot be set like this")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use vestibule_domain::OnRedisFailure;

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
        let draft = Draft { settings: settings.clone(), binding: binding.clone() };
        let mut names = serde_json::to_value(&settings).unwrap();
        let of_front = serde_json::to_value(&binding).unwrap();
        names.as_object_mut().unwrap().extend(of_front.as_object().unwrap().clone());
        assert_eq!(serde_json::to_value(&draft).unwrap(), names, "the names are the same");
        let Value::Object(mut sent) = names else { unreachable!() };
        sent.insert("room".into(), "sale".into());
        let sent = members(&Value::Object(sent).to_string());
        assert_eq!(sent.create(&room()).unwrap(), draft);
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
            (r#"{"branding":{}}"#, "branding"),
            (r#"{"message":5}"#, "message"),
            (r#"{"message":{"de":5}}"#, "message.de"),
            (r#"{"closed_message":{"xx":"x"}}"#, "closed_message.xx"),
            (r#"{"title":""}"#, "title"),
            (r#"{"sold_out":null}"#, "sold_out"),
            (r##"{"accent_colour":"#fff"}"##, "accent_colour"),
            (r##"{"accent_colour":"#ffcc00"}"##, "accent_colour"),
            (r#"{"logo_alt":{"xx":"x"}}"#, "logo_alt.xx"),
            (r#"{"cookie":{"same_site":"x"}}"#, "cookie.same_site"),
        ];
        for (json, field) in cases {
            assert_eq!(wrong(members(json).create(&room())), [field], "{json}");
            let current = Draft::default();
            assert_eq!(wrong(members(json).merge(&room(), &current)), [field], "{json}");
        }
        let two = r#"{"token_validity_seconds":0,"poll_budget_per_second":0}"#;
        assert_eq!(wrong(members(two).create(&room())).len(), 2);
    }

    /// The bounds are written twice in the settings' file, in the schema and in the check.
    #[test]
    fn documented_bounds_and_defaults_are_those_in_force() {
        let RefOr::T(Schema::Object(schema)) = RoomSettings::schema() else { unreachable!() };
        let defaults = serde_json::to_value(RoomSettings::default()).unwrap();
        let mut bounded = 0;
        for (name, property) in &schema.properties {
            let property = serde_json::to_value(property).unwrap();
            // What is left out of an answer while it has its default is told by its parts.
            if let Some(default) = defaults.get(name) {
                assert_eq!(property.get("default"), Some(default), "{name}");
            }
            let bound = |name: &str| property.get(name).and_then(Value::as_f64);
            let (Some(low), Some(high)) = (bound("minimum"), bound("maximum")) else { continue };
            bounded += 1;
            for (value, is_sound) in
                [(low, true), (low - 1.0, false), (high, true), (high + 1.0, false)]
            {
                #[expect(clippy::cast_possible_truncation, reason = "bounds are whole numbers")]
                let sent = members(&format!(r#"{{"{name}":{}}}"#, value as i64));
                assert_eq!(sent.create(&room()).is_ok(), is_sound, "{name}: {value}");
            }
        }
        assert_eq!(bounded, 13, "settings with bounds");
    }
}
