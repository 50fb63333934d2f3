//! A room's settings: what an operator decides, with documentation, defaults and bounds. The API
//! reads and writes this type, and its documentation is made from the comments here. Events
//! override a part of it ([`crate::schedule::Overrides`]). The state of the line is in
//! [`crate::RoomSnapshot`].
//!
//! Settings are also read as another release has stored them. So a setting that is not known here is left out, of an
//! event's and of a site's, too; the API refuses it where it reads a request.

use serde::{Deserialize, Serialize};
use vestibule_site::{LocalText, TextBounds};

use crate::{
    FieldError, Labels, QueueingMethod,
    challenge::Challenge,
    inlet::{Inlets, MaxSizeInlet, PeriodicInlet},
    network_limits::{self, NetworkLimitMode},
};

/// The largest limit: that of a signed 32-bit number, as in other products.
pub const MAX_LIMIT: u64 = 2_147_483_647;
/// The longest duration of any setting, in seconds: a week.
pub const MAX_SECONDS: u64 = 7 * 24 * 3600;

/// The longest event id of AWS-style clients, in characters.
pub const LONGEST_EVENT_ID: usize = 256;

/// The longest time, in ms, after which the session of an admitted visitor is checked again.
pub const LONGEST_RECHECK_MS: u64 = 30_000;

/// What a message to visitors may be.
const MESSAGE: TextBounds = TextBounds { characters: 500, has_lines: true };
/// What a room's title may be.
const TITLE: TextBounds = TextBounds { characters: 100, has_lines: false };

/// What newcomers, and those whose session has ended meanwhile, are told while Redis cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnRedisFailure {
    /// To come back: 503 and `Retry-After`.
    #[default]
    Closed,
    /// To enter, with a short-lived token and without a number.
    Open,
}

/// How a visitor at the waiting page enters when its turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Enter {
    /// By itself, if the page is in front; otherwise a seat is held, and the visitor called.
    #[default]
    Automatic,
    /// By a button; a seat is held until it is pressed.
    Button,
}

/// What a visitor's session is bound to when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BindSessions {
    /// Nothing: whoever has the ticket has the session.
    #[default]
    None,
    /// The network that its visitor comes from.
    Network,
    /// The network, and the user agent.
    NetworkAndAgent,
}

/// Everything an operator sets for a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct RoomSettings {
    /// The order in which people enter.
    pub queueing_method: QueueingMethod,
    /// The ceiling on live sessions; null: no ceiling. With neither this nor
    /// `new_users_per_minute`, people enter by increments of the serving counter only.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 2_147_483_647))]
    pub total_active_users: Option<u64>,
    /// The most admissions in any 60 seconds; null: no such limit. Not above
    /// `total_active_users`.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 2_147_483_647))]
    pub new_users_per_minute: Option<u64>,
    /// A visitor's session ends after so many seconds without a request.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub session_duration_seconds: u64,
    /// Whether a visitor's session ends after its duration however busy the visitor is.
    pub disable_session_renewal: bool,
    /// How long a token of the AWS-style call, and its session, is valid.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub token_validity_seconds: u64,
    /// A served visitor who does not claim within this time is passed over; null: never.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub position_expiry_seconds: Option<u64>,
    /// A waiting visitor who has not checked in for so long loses its place; null: never.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub presence_grace_seconds: Option<u64>,
    /// Whether the serving counter makes up for positions that expired unclaimed, as far as they
    /// were let in by increments.
    pub advance_on_position_expiry: bool,
    /// Hold everyone: nobody enters, whatever else is set.
    pub queue_all: bool,
    /// The room is off: everyone enters, nobody is counted.
    pub suspended: bool,
    /// The `iss` of the room's tokens; null: the service's public address. Not one of a room as an OpenID provider,
    /// `{public address}/oidc/…`.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 512))]
    pub issuer: Option<String>,
    /// What newcomers, and those whose session has ended meanwhile, are told while Redis cannot be reached: `closed`, to
    /// come back; `open`, to enter, with a short-lived token and without a number.
    pub on_redis_failure: OnRedisFailure,
    /// Polls per second that the waiting crowd of this room may cost.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000_000))]
    pub poll_budget_per_second: u32,
    /// How a visitor at the waiting page enters when its turn comes: `automatic`, a page in front enters
    /// and leads on by itself, and a hidden one calls its visitor; `button`, by a button.
    pub enter: Enter,
    /// How long a seat is held, once, for a visitor who was called or shown the button; null: as learned
    /// from how long people take, 10 to 60 seconds. At most a twentieth of the seats is held.
    #[cfg_attr(feature = "openapi", schema(minimum = 10, maximum = 60))]
    pub turn_hold_seconds: Option<u64>,
    /// Whether status requests that ask for JSON only are answered in the form of Cloudflare's
    /// waiting rooms.
    pub json_response_enabled: bool,
    /// Whether the room's visitors may use the AWS-style calls. A room that was stored by a release without this
    /// setting has it on.
    #[serde(default = "as_before")]
    pub aws_style_api: bool,
    /// What AWS-style clients call the room, besides its name: any text of 1 to 256 characters that is no other room's
    /// name, event id or OpenID client; null: its name alone. It is the `aud` of the tokens of these calls. A text that
    /// could be a room's name needs a token for that room, too. One that is given up stays the room's until the last
    /// token of its AWS-style clients has ended.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 256))]
    pub aws_event_id: Option<String>,
    /// Moves the serving counter on once in each period, unless the room's alarm is raised
    /// (`PUT /v1/rooms/{room}/inlet/alarm`); null: nothing does. For rooms without `total_active_users` and
    /// `new_users_per_minute`.
    pub periodic_inlet: Option<PeriodicInlet>,
    /// Moves the serving counter on in the place of those of whom a site says (`POST /v1/rooms/{room}/inlet`) that they
    /// have left; null: nothing does. For rooms without `total_active_users` and `new_users_per_minute`.
    pub max_size_inlet: Option<MaxSizeInlet>,
    /// The topics of Amazon SNS, by their ARNs, whose messages are believed at `POST /v1/rooms/{room}/inlet/sns`: at most
    /// 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(max_items = 10, default = json!([]),
        example = json!(["arn:aws:sns:eu-west-1:123456789012:exits"])))]
    pub sns_topics: Vec<String>,
    /// Whether AWS-style clients are shown a serving counter that follows the seats of a room with limits: their turn
    /// comes only when a seat is free for them, and is kept for ten seconds. Otherwise a few more are called than there
    /// are seats, so that none stays empty, and wait at the door.
    pub serving_counter_follows_seats: bool,
    /// The most newcomers of one network in any minute; null: no such limit. Whoever comes beyond it is told to come
    /// back: 429. A network is the first 24 bits of an IPv4 address, 56 of an IPv6 address, unless the deployment says
    /// otherwise. The default, as those of the next two, does not hold for private addresses.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub joins_per_network_per_minute: Option<u64>,
    /// The most places in line of one network: such as were taken within an hour, and neither used nor given back;
    /// null: no such limit.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub places_per_network: Option<u64>,
    /// The most sessions at a time that began in one network; null: no such limit. The default is a fiftieth of
    /// `total_active_users` (or of those who enter within a session, by `new_users_per_minute`), from 20 to 500.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub seats_per_network: Option<u64>,
    /// Whether these limits are kept (`enforce`), or visitors beyond them are only counted (`log`).
    pub network_limit_mode: NetworkLimitMode,
    /// What newcomers have to show before they get a place.
    pub challenge: Challenge,
    /// What a visitor's session is bound to: `network`, the network that it began in; `network_and_agent`, the user
    /// agent too. Whoever sends its ticket from elsewhere is a newcomer. `none`: nothing.
    pub bind_sessions: BindSessions,
    /// A session ends so many seconds after it began, however busy its visitor is; null: no such limit.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub max_session_seconds: Option<u64>,
    /// The most requests for the site that one session may make in a second at each instance of admission; further
    /// ones are answered 429; null: no such limit.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1_000_000))]
    pub requests_per_session_per_second: Option<u64>,
    /// Nothing is left: everyone who waits is told so at once, newcomers are turned away, and those inside stay inside.
    /// Once it is false again, the line goes on where it was. In a suspended room it changes nothing.
    pub sold_out: bool,
    /// What the line is for, above what the page says: plain text of at most 100 characters, for all languages or by
    /// language; null: none.
    pub title: Option<LocalText>,
    /// What visitors are told while they wait and when it is their turn, on the page and as `message` in answers: plain
    /// text of at most 500 characters, for all languages or by language; null: nothing.
    pub message: Option<LocalText>,
    /// The same for those whom the room turns away, because it is sold out or its `queueing_method` is `reject`.
    pub closed_message: Option<LocalText>,
    /// For operators, to tell rooms apart and to pick some of them: at most 32 short texts by name, such as
    /// `managed-by: git`. What a room does is not decided by them.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, String>,
        default = json!({}), example = json!({"managed-by": "git"})))]
    pub labels: Labels,
}

/// Whether the AWS-style calls of a room are on that was stored before there was the setting.
fn as_before() -> bool {
    true
}

// === impl RoomSettings ===

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            queueing_method: QueueingMethod::Fifo,
            total_active_users: None,
            new_users_per_minute: None,
            session_duration_seconds: 300,
            disable_session_renewal: false,
            token_validity_seconds: 3600,
            position_expiry_seconds: Some(900),
            presence_grace_seconds: Some(300),
            advance_on_position_expiry: false,
            queue_all: false,
            suspended: false,
            issuer: None,
            on_redis_failure: OnRedisFailure::Closed,
            poll_budget_per_second: 2_000,
            enter: Enter::Automatic,
            turn_hold_seconds: None,
            json_response_enabled: false,
            aws_style_api: false,
            aws_event_id: None,
            periodic_inlet: None,
            max_size_inlet: None,
            sns_topics: Vec::new(),
            serving_counter_follows_seats: false,
            joins_per_network_per_minute: network_limits::JOINS_PER_MINUTE,
            places_per_network: network_limits::PLACES,
            seats_per_network: network_limits::SEATS,
            network_limit_mode: NetworkLimitMode::Enforce,
            challenge: Challenge::default(),
            bind_sessions: BindSessions::None,
            max_session_seconds: None,
            requests_per_session_per_second: None,
            sold_out: false,
            title: None,
            message: None,
            closed_message: None,
            labels: Labels::default(),
        }
    }
}

impl RoomSettings {
    /// Whether only the operator's increments let people in.
    #[must_use]
    pub fn has_no_limits(&self) -> bool {
        self.total_active_users.is_none() && self.new_users_per_minute.is_none()
    }

    /// Whether turns come by the seats that are free, and by nothing else.
    #[must_use]
    pub fn follows_seats(&self) -> bool {
        self.serving_counter_follows_seats && self.aws_style_api && !self.has_no_limits()
    }

    /// The longest time, in seconds, for which a token of this room can be valid.
    #[must_use]
    pub fn longest_validity_seconds(&self) -> u64 {
        self.session_duration_seconds.max(self.token_validity_seconds)
    }

    /// After how long, in ms, the session of an admitted visitor is checked again: a tenth of its
    /// duration, at most [`LONGEST_RECHECK_MS`]. By so much a session may end early.
    #[must_use]
    pub fn recheck_ms(&self) -> u64 {
        (self.session_duration_seconds * 1000 / 10).min(LONGEST_RECHECK_MS)
    }

    /// All errors; empty when there are none.
    #[must_use]
    pub fn errors(&self) -> Vec<FieldError> {
        let limits = [
            ("total_active_users", self.total_active_users),
            ("new_users_per_minute", self.new_users_per_minute),
        ];
        let seconds = [
            ("session_duration_seconds", Some(self.session_duration_seconds)),
            ("token_validity_seconds", Some(self.token_validity_seconds)),
            ("position_expiry_seconds", self.position_expiry_seconds),
            ("presence_grace_seconds", self.presence_grace_seconds),
            ("max_session_seconds", self.max_session_seconds),
        ];
        let per_network = [
            ("joins_per_network_per_minute", self.joins_per_network_per_minute),
            ("places_per_network", self.places_per_network),
            ("seats_per_network", self.seats_per_network),
        ];
        let per_network =
            per_network.into_iter().map(|(field, value)| bounded(field, value, 1, MAX_LIMIT));
        let limits = limits.into_iter().map(|(field, value)| bounded(field, value, 0, MAX_LIMIT));
        let seconds =
            seconds.into_iter().map(|(field, value)| bounded(field, value, 1, MAX_SECONDS));
        let hold = bounded("turn_hold_seconds", self.turn_hold_seconds, 10, 60);
        let requests = self.requests_per_session_per_second;
        let requests = bounded("requests_per_session_per_second", requests, 1, 1_000_000);
        let others = [self.budget_error(), hold, self.issuer_error(), self.rate_error(), requests];
        let others = others.into_iter().chain([self.event_id_error(), self.challenge.error()]);
        let rules = limits.chain(seconds).chain(per_network).chain(others).flatten();
        let rules = rules.chain(self.inlets().errors());
        rules.chain(self.word_errors()).chain(self.labels.errors()).collect()
    }

    /// These settings as they are in force: of a sold-out room everyone is turned away. So every release and every
    /// script knows what to do, and only what is told differs.
    #[must_use]
    pub fn in_force(self) -> Self {
        let method = if self.sold_out { QueueingMethod::Reject } else { self.queueing_method };
        Self { queueing_method: method, ..self }
    }

    fn inlets(&self) -> Inlets<'_> {
        Inlets {
            periodic: self.periodic_inlet,
            max_size: self.max_size_inlet,
            topics: &self.sns_topics,
            has_no_limits: self.has_no_limits(),
            passes_over: self.position_expiry_seconds.is_some(),
        }
    }

    fn word_errors(&self) -> Vec<FieldError> {
        let words = [
            ("title", &self.title, TITLE),
            ("message", &self.message, MESSAGE),
            ("closed_message", &self.closed_message, MESSAGE),
        ];
        let of_one = |(field, text, bounds): (_, &Option<LocalText>, _)| {
            text.as_ref().map_or(Vec::new(), |text| text.errors(field, bounds))
        };
        words.into_iter().flat_map(of_one).collect()
    }

    fn budget_error(&self) -> Option<FieldError> {
        bounded("poll_budget_per_second", Some(self.poll_budget_per_second.into()), 1, 1_000_000)
    }

    fn rate_error(&self) -> Option<FieldError> {
        let (rate, ceiling) = (self.new_users_per_minute?, self.total_active_users?);
        (rate > ceiling).then(|| FieldError {
            field: "new_users_per_minute".into(),
            reason: format!("must not be above total_active_users, {ceiling}, and is {rate}"),
        })
    }

    fn event_id_error(&self) -> Option<FieldError> {
        let length = self.aws_event_id.as_ref()?.chars().count();
        let reason = "must have 1 to 256 characters, or be null".to_owned();
        let error = FieldError { field: "aws_event_id".into(), reason };
        (!(1..=LONGEST_EVENT_ID).contains(&length)).then_some(error)
    }

    fn issuer_error(&self) -> Option<FieldError> {
        let issuer = self.issuer.as_ref()?;
        let plain = |c: char| c.is_ascii_graphic();
        if (1..=512).contains(&issuer.len()) && issuer.chars().all(plain) {
            return None;
        }
        let reason = "must be 1 to 512 printable ASCII characters without spaces, or null".into();
        Some(FieldError { field: "issuer".into(), reason })
    }
}

fn bounded(field: &'static str, value: Option<u64>, low: u64, high: u64) -> Option<FieldError> {
    let value = value?;
    (value < low || value > high).then(|| FieldError {
        field: field.into(),
        reason: format!("must be from {low} to {high}, and is {value}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::{ChallengeMode, ChallengeProvider};

    #[test]
    fn the_defaults_are_sound() {
        let stored: RoomSettings = serde_json::from_str("{}").unwrap();
        assert!(stored.aws_style_api, "of a release before the setting");
        let room = RoomSettings::default();
        assert_eq!(stored, RoomSettings { aws_style_api: true, ..room.clone() });
        assert_eq!(room.errors(), []);
        assert!(room.has_no_limits());
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let wrong = RoomSettings {
            total_active_users: Some(MAX_LIMIT + 1),
            session_duration_seconds: 0,
            position_expiry_seconds: Some(MAX_SECONDS + 1),
            presence_grace_seconds: Some(0),
            issuer: Some("a b".into()),
            poll_budget_per_second: 0,
            turn_hold_seconds: Some(9),
            joins_per_network_per_minute: Some(0),
            places_per_network: Some(0),
            seats_per_network: Some(MAX_LIMIT + 1),
            max_session_seconds: Some(0),
            requests_per_session_per_second: Some(0),
            labels: [("a b", "c")].into(),
            ..RoomSettings::default()
        };
        let fields: Vec<_> = wrong.errors().into_iter().map(|error| error.field).collect();
        let expected = [
            "total_active_users",
            "session_duration_seconds",
            "position_expiry_seconds",
            "presence_grace_seconds",
            "max_session_seconds",
            "joins_per_network_per_minute",
            "places_per_network",
            "seats_per_network",
            "poll_budget_per_second",
            "turn_hold_seconds",
            "issuer",
            "requests_per_session_per_second",
            "labels.a b",
        ];
        assert_eq!(fields, expected);
        assert!(wrong.errors()[1].reason.contains("from 1 to 604800, and is 0"));
    }

    #[test]
    fn an_event_id_is_any_text_that_is_not_too_long() {
        let errors = |event_id: &str| {
            RoomSettings { aws_event_id: Some(event_id.into()), ..RoomSettings::default() }.errors()
        };
        for sound in ["Sample", "Größter <Sale> & more", &"ä".repeat(256)] {
            assert_eq!(errors(sound), [], "{sound}");
        }
        for wrong in ["", &"x".repeat(257)] {
            assert_eq!(errors(wrong)[0].field, "aws_event_id", "{wrong}");
        }
    }

    #[test]
    fn a_rate_above_the_ceiling_is_refused() {
        let limits = |ceiling, rate| RoomSettings {
            total_active_users: ceiling,
            new_users_per_minute: rate,
            ..RoomSettings::default()
        };
        for sound in [limits(Some(5), Some(5)), limits(None, Some(5)), limits(Some(0), None)] {
            assert_eq!(sound.errors(), []);
        }
        let errors = limits(Some(5), Some(6)).errors();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].field, "new_users_per_minute");
        assert_eq!(errors[0].reason, "must not be above total_active_users, 5, and is 6");
    }

    #[test]
    fn what_is_wrong_with_a_challenge_is_named() {
        let mut room = RoomSettings::default();
        room.challenge.mode = ChallengeMode::Log;
        assert_eq!(room.errors(), []);
        room.challenge.provider = ChallengeProvider::Turnstile;
        assert_eq!(room.errors()[0].field, "challenge.site_key");
    }

    #[test]
    fn what_is_wrong_with_a_text_is_named_with_its_language() {
        let sound =
            r#"{"title":"Sale","message":{"de":"Gleich\ngeht es los"},"closed_message":"Over"}"#;
        let read: RoomSettings = serde_json::from_str(sound).unwrap();
        assert_eq!(read.errors(), []);
        let wrong = r#"{"title":"two\nlines","message":{"tlh":"x"},"closed_message":""}"#;
        let read: RoomSettings = serde_json::from_str(wrong).unwrap();
        let fields: Vec<_> = read.errors().into_iter().map(|error| error.field).collect();
        assert_eq!(fields, ["title", "message.tlh", "closed_message"]);
        let longest = |count| RoomSettings {
            message: Some(LocalText::Same("x".repeat(count))),
            ..RoomSettings::default()
        };
        assert_eq!((longest(500).errors().len(), longest(501).errors().len()), (0, 1));
    }

    #[test]
    fn a_sold_out_room_turns_everyone_away_whatever_its_method() {
        for method in QueueingMethod::ALL {
            let room = RoomSettings { queueing_method: method, ..RoomSettings::default() };
            assert_eq!(room.clone().in_force(), room);
            let sold_out = RoomSettings { sold_out: true, ..room }.in_force();
            assert!(sold_out.queueing_method.rules().rejects());
        }
    }

    #[test]
    fn settings_of_a_later_release_are_left_out() {
        let stored = r#"{"total_active_users": 5, "of_a_later_release": 1}"#;
        let read: RoomSettings = serde_json::from_str(stored).unwrap();
        assert_eq!(read.total_active_users, Some(5));
    }

    #[test]
    fn unknown_methods_and_wrong_values_are_refused() {
        assert!(serde_json::from_str::<RoomSettings>(r#"{"queueing_method": "lifo"}"#).is_err());
        assert!(serde_json::from_str::<RoomSettings>(r#"{"total_active_users": -1}"#).is_err());
    }
}
