//! What a room is called in tokens is one room's alone: its name, its event id, and the ids of its clients of OpenID Connect.
//! Gateways that verify tokens by themselves tell rooms apart by `aud`, which is one of these. What a room has given up
//! is kept for it until its tokens end.

use std::collections::BTreeMap;

use vestibule_domain::{
    FieldError, RoomId,
    schedule::{MAX_GIVEN_UP, RoomConfig, moment},
};

use crate::access::{Caller, Refused};

/// When the last AWS-style token of a room ends, unix seconds, of those rooms that have given up event ids.
pub(crate) type TokensUntil = BTreeMap<RoomId, u64>;

/// A room as it shall be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    /// Its name.
    pub(crate) room: &'a RoomId,
    /// As it shall be.
    pub(crate) config: &'a RoomConfig,
    /// As it is; `None`: it is new.
    pub(crate) before: Option<&'a RoomConfig>,
    /// Who is told.
    pub(crate) caller: &'a Caller,
}

/// A room that is there, too.
struct Other<'a> {
    room: &'a RoomId,
    config: &'a RoomConfig,
    /// What the caller is told that it is called.
    called: String,
}

/// Refuses an event id that could be the name of a room that the `caller` is not for: tokens that it makes would be that
/// room's.
///
/// # Errors
/// What it lacks.
pub(crate) fn require_event_id(
    caller: &Caller,
    before: Option<&RoomConfig>,
    config: &RoomConfig,
) -> Result<(), Refused> {
    let before = before.and_then(|before| before.settings.aws_event_id.as_ref());
    let event_id = config.settings.aws_event_id.as_ref().filter(|id| Some(*id) != before);
    let Some(event_id) = event_id.filter(|id| RoomId::new(id.as_str()).is_ok()) else {
        return Ok(());
    };
    let may_be =
        format!("`aws_event_id`: `{event_id}` is, or may become, the name of another room");
    caller.require_room(event_id).map_err(|refused| refused.because(&may_be))
}

// === impl Named ===

impl<'a> Named<'a> {
    /// What it would be called that is another room's, among the `others`, at `now`, unix seconds.
    pub(crate) fn errors(
        self,
        others: impl Iterator<Item = (&'a RoomId, &'a RoomConfig)>,
        tokens: &TokensUntil,
        now: u64,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.config.given_up.are_too_many() {
            let reason = format!("was another one more than {MAX_GIVEN_UP} times in a week: wait");
            errors.push(error("aws_event_id", reason));
        }
        for (room, config) in others.filter(|(other, _)| *other != self.room) {
            let other = Other { room, config, called: self.caller.name_of(room) };
            errors.extend(self.errors_beside(&other));
            for (field, name) in self.new_names() {
                let until = tokens.get(room).copied().unwrap_or(0);
                let until = config.given_up.reserved_until(name, until, now);
                errors.extend(until.map(|until| error(field, other.keeps(until))));
            }
        }
        errors
    }

    /// Whether it would be called something that this other room is called now.
    pub(crate) fn has_a_name_of(self, room: &'a RoomId, config: &'a RoomConfig) -> bool {
        let other = Other { room, config, called: String::new() };
        !self.errors_beside(&other).is_empty()
    }

    /// What it would be called that the other one is called now.
    fn errors_beside(self, other: &Other<'_>) -> Vec<FieldError> {
        let new_names = self.new_names();
        let of_new_names =
            new_names.filter_map(|(field, name)| other.error_of_new_name(field, name));
        let event_id = self.error_of_event_id(other).into_iter();
        event_id.chain(self.errors_of_clients(other)).chain(of_new_names).collect()
    }

    fn event_id(self) -> Option<&'a str> {
        self.config.settings.aws_event_id.as_deref()
    }

    /// The names that it does not have yet, by field.
    fn new_names(self) -> impl Iterator<Item = (&'static str, &'a str)> {
        let name = self.before.is_none().then_some(("room", self.room.as_str()));
        let had = self.before.and_then(|before| before.settings.aws_event_id.as_deref());
        let event_id = self.event_id().filter(|id| Some(*id) != had);
        name.into_iter().chain(event_id.map(|id| ("aws_event_id", id)))
    }

    fn error_of_event_id(self, other: &Other<'_>) -> Option<FieldError> {
        Some(error("aws_event_id", other.has(self.event_id()?)?))
    }

    fn errors_of_clients(self, other: &Other<'_>) -> Vec<FieldError> {
        let clients = self.config.binding.oidc_clients.iter().enumerate();
        let wrong = clients.filter_map(|(index, client)| {
            let reason = other.has(&client.id)?;
            Some(FieldError { field: format!("oidc_clients[{index}].id").into(), reason })
        });
        wrong.collect()
    }
}

// === impl Other ===

impl Other<'_> {
    /// What of it this is, if it is its name or its event id.
    fn has(&self, name: &str) -> Option<String> {
        if self.room.as_str() == name {
            return Some(format!("is the name of {}", self.called));
        }
        let is_taken = self.config.settings.aws_event_id.as_deref() == Some(name);
        is_taken.then(|| format!("is the event id of {}", self.called))
    }

    /// An event id is compared with names and event ids anyway.
    fn error_of_new_name(&self, field: &'static str, name: &str) -> Option<FieldError> {
        if field == "room" && self.config.settings.aws_event_id.as_deref() == Some(name) {
            return Some(error(field, format!("is the `aws_event_id` of {}", self.called)));
        }
        let is_client = self.config.binding.oidc_client(name).is_some();
        is_client.then(|| {
            error(field, format!("is the id of a client of {}, in its `oidc_clients`", self.called))
        })
    }

    fn keeps(&self, until: u64) -> String {
        let (until, called) = (moment::write(until).unwrap_or_default(), &self.called);
        format!(
            "was the event id of {called}, whose tokens call it so until {until}: take another one, or wait"
        )
    }
}

fn error(field: &'static str, reason: String) -> FieldError {
    FieldError { field: field.into(), reason }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use vestibule_domain::access::Role;

    use super::*;

    const NOW: u64 = 1_900_000_000;

    #[expect(clippy::needless_pass_by_value, reason = "it is made where it is given")]
    fn config(settings: Value, clients: &[&str]) -> RoomConfig {
        let clients = clients.iter().map(|id| json!({ "id": id, "redirect_uris": ["https://a/"] }));
        let binding = json!({ "oidc_clients": clients.collect::<Vec<_>>() });
        let document = json!({ "version": 1, "settings": settings, "binding": binding });
        serde_json::from_value(document).unwrap()
    }

    fn called(event_id: Option<&str>) -> RoomConfig {
        config(json!({ "aws_event_id": event_id }), &[])
    }

    /// What is wrong with the room as it shall be, beside the room `vip`.
    fn wrong(
        room: &str,
        config: &RoomConfig,
        before: Option<&RoomConfig>,
        vip: &RoomConfig,
    ) -> Vec<String> {
        let [room, other] = [room, "vip"].map(|name| RoomId::new(name).unwrap());
        let tokens = [(other.clone(), NOW + 5)].into();
        let caller = Caller::admin("root");
        let named = Named { room: &room, config, before, caller: &caller };
        let others = [(&other, vip), (&room, config)];
        let errors = named.errors(others.into_iter(), &tokens, NOW).into_iter();
        errors.map(|error| format!("{} {}", error.field, error.reason)).collect()
    }

    #[test]
    fn an_event_id_is_one_rooms_alone() {
        let (plain, sample) = (called(None), called(Some("Sample")));
        let wrong = |event_id| wrong("sale", &called(event_id), Some(&plain), &sample);
        assert_eq!(wrong(None), [""; 0]);
        assert_eq!(wrong(Some("sample")), [""; 0]);
        assert_eq!(wrong(Some("Sample")), ["aws_event_id is the event id of the room `vip`"]);
        assert_eq!(wrong(Some("vip")), ["aws_event_id is the name of the room `vip`"]);
    }

    #[test]
    fn whoever_is_for_some_rooms_is_not_told_the_names_of_others() {
        let sale = config(json!({ "aws_event_id": "Sample" }), &["vip"]);
        let rooms = serde_json::from_str(r#"["sale*"]"#).unwrap();
        let caller = Caller::new("ci", Role::Operator, rooms);
        let [room, other] = ["sale", "vip"].map(|name| RoomId::new(name).unwrap());
        let named = Named { room: &room, config: &sale, before: None, caller: &caller };
        let taken = config(json!({ "aws_event_id": "Sample" }), &["sale"]);
        let errors = named.errors([(&other, &taken)].into_iter(), &TokensUntil::new(), NOW);
        assert_eq!(errors.len(), 3, "{errors:?}");
        for error in errors {
            assert!(error.reason.contains("of another room"), "{error:?}");
            assert!(!error.reason.contains("vip"), "{error:?}");
        }
    }

    #[test]
    fn a_new_room_is_called_like_no_other() {
        let (plain, vip) = (called(None), called(Some("sale")));
        assert_eq!(
            wrong("sale", &plain, None, &vip),
            ["room is the `aws_event_id` of the room `vip`"]
        );
        assert_eq!(wrong("sale", &plain, Some(&plain), &vip), [""; 0], "it was there");
        let vip = config(json!({}), &["sale", "Sample"]);
        let reason = "is the id of a client of the room `vip`, in its `oidc_clients`";
        assert_eq!(wrong("sale", &plain, None, &vip), [format!("room {reason}")]);
        let sample = called(Some("Sample"));
        assert_eq!(wrong("sale", &sample, Some(&plain), &vip), [format!("aws_event_id {reason}")]);
    }

    #[test]
    fn a_client_is_called_like_no_other_room() {
        let sale = config(json!({}), &["shop", "sale", "vip", "Sample"]);
        let vip = config(json!({ "aws_event_id": "Sample" }), &["shop"]);
        let expected = [
            "oidc_clients[2].id is the name of the room `vip`",
            "oidc_clients[3].id is the event id of the room `vip`",
        ];
        assert_eq!(wrong("sale", &sale, Some(&sale), &vip), expected);
    }

    #[test]
    fn what_was_given_up_is_kept_while_there_are_tokens() {
        let mut vip = called(None);
        vip.note_given_up(&called(Some("sale")), NOW);
        let plain = called(None);
        let reason = "was the event id of the room `vip`, whose tokens call it so until \
            2030-03-17T17:46:45Z: take another one, or wait";
        assert_eq!(wrong("sale", &plain, None, &vip), [format!("room {reason}")]);
        assert_eq!(wrong("sale", &plain, Some(&plain), &vip), [""; 0], "it was there");
        let other = called(Some("sale"));
        assert_eq!(wrong("b", &other, Some(&plain), &vip), [format!("aws_event_id {reason}")]);
        assert_eq!(wrong("b", &other, Some(&other), &vip), [""; 0], "it had it");
    }

    #[test]
    fn whoever_is_for_some_rooms_gives_no_other_rooms_name() {
        let rooms = serde_json::from_str(r#"["sale*"]"#).unwrap();
        let caller = Caller::new("ci", Role::Operator, rooms);
        let allowed = |event_id, before: Option<&RoomConfig>| {
            require_event_id(&caller, before, &called(event_id)).is_ok()
        };
        for event_id in [None, Some("sale-2"), Some("Summer Sale 2026")] {
            assert!(allowed(event_id, None), "{event_id:?}");
        }
        assert!(!allowed(Some("vip-2027"), None));
        assert!(allowed(Some("vip-2027"), Some(&called(Some("vip-2027")))), "it is so already");
    }
}
