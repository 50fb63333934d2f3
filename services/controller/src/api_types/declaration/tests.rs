//! Reading and writing documents of rooms, without Redis.

use serde_json::{Value, json};

use super::*;

fn read(document: Value) -> Declaration {
    let (declared, errors) = Declaration::read(document);
    assert_eq!(errors, []);
    declared
}

fn wrong(document: Value) -> Vec<(String, String)> {
    let (_, errors) = Declaration::read(document);
    errors.into_iter().map(|error| (error.field.into_owned(), error.reason)).collect()
}

fn written(declared: &Declaration, detail: Detail) -> Value {
    serde_json::to_value(declared.document(detail)).unwrap()
}

fn rich() -> Value {
    json!({ "rooms": {
        "sale": {
            "labels": { "managed-by": "git" },
            "total_active_users": 2000,
            "new_users_per_minute": 500,
            "position_expiry_seconds": null,
            "challenge": { "mode": "challenge" },
            "routes": [{ "host": "shop.example", "path": "/sale" }],
            "cookie": { "partitioned": true },
            "events": { "launch": {
                "event_start_time": "2030-11-05T10:00:00Z",
                "event_end_time": "2030-11-05T12:00:00Z",
                "prequeue_start_time": "2030-11-05T09:30:00Z",
                "draw_at_event_start": true,
                "total_active_users": 50,
                "new_users_per_minute": 50,
            } },
            "page": "<p>{{waitTime}}</p>\n",
            "logo": { "media_type": "image/gif", "base64": "R0lGODlhAQABAAAAADs=" },
        },
        "vip": {},
    } })
}

#[test]
fn what_is_read_is_written_as_it_was_and_nothing_that_has_its_default() {
    let declared = read(rich());
    assert_eq!(written(&declared, Detail::Brief), rich());
    assert_eq!(read(written(&declared, Detail::Full)), declared);
    let full = written(&declared, Detail::Full);
    assert_eq!(full["rooms"]["vip"]["session_duration_seconds"], 300);
    assert_eq!(full["rooms"]["vip"]["aws_style_api"], false);
}

#[test]
fn labels_come_first_and_settings_in_their_order() {
    let text = serde_json::to_string(&read(rich()).document(Detail::Brief)).unwrap();
    let places = ["labels", "total_active_users", "challenge", "routes", "events", "page"]
        .map(|name| text.find(&format!("\"{name}\"")).unwrap());
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn a_config_is_what_is_declared_and_keeps_the_draws_of_its_events() {
    let declared = read(rich());
    let room = &declared.rooms["sale"];
    let mut config = RoomConfig::default();
    room.put_into(&mut config);
    assert_eq!(DeclaredRoom::of(&config), *room);
    config.events[0].draw_id = "abc".into();
    config.events[0].commitment = Some("def".into());
    let drawn = config.clone();
    room.put_into(&mut config);
    assert_eq!(config, drawn);
    assert_eq!(DeclaredRoom::of(&config), *room, "a draw is not declared");
    let empty = read(json!({ "rooms": { "sale": null } }));
    empty.rooms["sale"].put_into(&mut config);
    assert_eq!(config.events, []);
    assert!(config.binding.branding.is_default() && !config.settings.aws_style_api);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let document = json!({ "room": {}, "x-common": 1, "$schema": "x", "rooms": {
        "a b": {},
        "list": [],
        "sale": {
            "total_active_users": "5", "session_duration_seconds": 0, "queue_all": "yes", "qeue_all": true,
            "cookie": { "same_site": "x" }, "page": "{{nonsense}}", "logo": { "media_type": "image/png", "base64": "eA==" },
            "page_file": "x.html",
            "events": { "launch": { "event_start_time": "soon", "total_active_users": -1, "more": 1 } },
        },
        "low": { "session_duration_seconds": 0, "token_validity_seconds": 0 },
    } });
    let wrong = wrong(document);
    let mut fields: Vec<_> = wrong.iter().map(|(field, _)| field.as_str()).collect();
    fields.sort_unstable();
    let expected = [
        "room",
        "rooms.a b",
        "rooms.list",
        "rooms.low.session_duration_seconds",
        "rooms.low.token_validity_seconds",
        "rooms.sale.cookie.same_site",
        "rooms.sale.events.launch.event_start_time",
        "rooms.sale.events.launch.more",
        "rooms.sale.events.launch.total_active_users",
        "rooms.sale.logo",
        "rooms.sale.page",
        "rooms.sale.page_file",
        "rooms.sale.qeue_all",
        "rooms.sale.queue_all",
        "rooms.sale.session_duration_seconds",
        "rooms.sale.total_active_users",
    ];
    assert_eq!(fields, expected, "{wrong:#?}");
}

#[test]
fn a_document_has_rooms() {
    for document in [json!(null), json!([]), json!({}), json!({ "rooms": null })] {
        assert_eq!(wrong(document.clone())[0].0, "rooms", "{document}");
    }
    assert!(read(json!({ "rooms": {} })).rooms.is_empty());
}

/// A part that is left out unsaid would be taken for one that shall not be there.
#[test]
fn what_stands_in_the_place_of_one_of_some_texts_is_said_and_not_left_out_with_its_room() {
    for other in [json!(false), json!(null), json!(5), json!(["fifo"])] {
        // Null stands for the room's there.
        let method = if other.is_null() { json!(1) } else { other.clone() };
        let times =
            json!({ "event_start_time": 1, "event_end_time": 2, "queueing_method": method });
        let document = json!({ "rooms": {
            "off": { "challenge": { "mode": other } },
            "sale": { "queueing_method": other, "bind_sessions": other },
            "vip": { "cookie": { "secure": other }, "events": { "launch": times } },
        } });
        let mut fields: Vec<_> = wrong(document).into_iter().map(|(field, _)| field).collect();
        fields.sort_unstable();
        let expected = [
            "rooms.off.challenge.mode",
            "rooms.sale.bind_sessions",
            "rooms.sale.queueing_method",
            "rooms.vip.cookie.secure",
            "rooms.vip.events.launch.queueing_method",
        ];
        assert_eq!(fields, expected, "{other}");
    }
}

/// The names of all properties of a schema.
fn collect(value: &Value, names: &mut Vec<String>) {
    if let Some(Value::Object(properties)) = value.get("properties") {
        names.extend(properties.keys().cloned());
    }
    match value {
        Value::Object(members) => members.values().for_each(|value| collect(value, names)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

/// What is declared must not have secrets in it, since it is written to whoever may read rooms. The hash of a long random
/// one tells nobody anything.
#[test]
fn no_setting_is_a_secret() {
    let schema = editors_schema();
    let mut names = Vec::new();
    collect(&schema, &mut names);
    assert!(names.len() > 60, "{names:?}");
    let is_named =
        |name: &str| ["secret", "password", "private"].iter().any(|part| name.contains(part));
    let secret = |name: &&String| is_named(name) && *name != "secret_hashes";
    assert_eq!(
        names.iter().find(secret),
        None,
        "leave it out of what is written, and keep what is stored"
    );
}

#[test]
fn every_reference_of_the_editors_schema_leads_somewhere() {
    let schema = editors_schema();
    let text = schema.to_string();
    let targets = text.split("\"$ref\":\"#/definitions/").skip(1);
    let names: Vec<_> = targets.filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.contains(&"DeclaredRoom"), "{names:?}");
    for name in names {
        assert!(schema["definitions"].get(name).is_some(), "{name}");
    }
    assert!(!text.contains("#/components/"));
}

#[test]
fn too_many_events_are_not_even_read() {
    let events = |count: usize| {
        let events = (0..count).map(|number| (format!("e-{number}"), json!("no event")));
        json!({ "rooms": { "sale": { "events": events.collect::<serde_json::Map<_, _>>() } } })
    };
    let told = wrong(events(1_001));
    let expected = "are 1001; at most 1000 may be in a room";
    assert_eq!(told, [("rooms.sale.events".to_owned(), expected.to_owned())]);
    assert_eq!(wrong(events(3)).len(), 3);
}
