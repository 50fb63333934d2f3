//! What is planned and what is refused, without Redis.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use vestibule_domain::{RoomId, schedule::RoomConfig};

use super::{
    check::{errors_of_room, errors_of_routes},
    plan::plan,
};
use crate::{
    access::Caller,
    api_types::{Action, Declaration, DeclaredRoom, Detail, Plan},
    yaml,
};

const NOW: u64 = 1_900_000_000;

#[expect(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn declared(rooms: Value) -> Declaration {
    let (declared, errors) = Declaration::read(json!({ "rooms": rooms }));
    assert_eq!(errors, []);
    declared
}

/// The rooms as they are once that was applied.
fn configs(rooms: Value) -> BTreeMap<RoomId, RoomConfig> {
    let rooms = declared(rooms).rooms.into_iter().map(|(name, room)| {
        let mut config = RoomConfig::default();
        room.put_into(&mut config);
        (name, config)
    });
    rooms.collect()
}

/// A plan in a few words.
fn told(plan: &Plan) -> Vec<String> {
    let lines = plan.steps.iter().flat_map(|step| {
        let changes = step.changes.iter().map(|change| {
            let text =
                |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
            format!("{} {} > {}", change.path, text(&change.before), text(&change.after))
        });
        std::iter::once(format!("{:?} {}", step.action, step.room)).chain(changes)
    });
    lines.collect()
}

#[test]
fn only_what_differs_is_changed() {
    let current = configs(json!({
        "sale": { "total_active_users": 2000, "labels": { "a": "1", "b": "2" }, "page": "<p>1</p>" },
        "same": { "queue_all": true },
        "other": { "total_active_users": 1 },
    }));
    let wanted = declared(json!({
        "sale": { "total_active_users": 3000, "labels": { "a": "1", "c": "3" }, "page": "<p>2</p>" },
        "same": { "queue_all": true },
        "vip": { "total_active_users": 5 },
    }));
    let plan = plan(&wanted, &current, None);
    let told = told(&plan);
    let expected = [
        "Change sale",
        "rooms.sale.labels.b \"2\" > ",
        "rooms.sale.labels.c  > \"3\"",
        "rooms.sale.page \"8 bytes, SHA-256 ",
        "rooms.sale.total_active_users 2000 > 3000",
        "Create vip",
        "rooms.vip.total_active_users  > 5",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (line, expected) in told.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line} is not {expected}");
    }
    assert_eq!(plan.unchanged, 1);
}

#[test]
fn what_is_left_out_gets_its_default_and_events_go() {
    let launch = json!({ "event_start_time": 2_000_000_000, "event_end_time": 2_000_000_600 });
    let current = configs(json!({ "sale": {
        "session_duration_seconds": 600, "position_expiry_seconds": null, "events": { "launch": launch },
    } }));
    let told = told(&plan(&declared(json!({ "sale": {} })), &current, None));
    let shown = json!({
        "event_start_time": "2033-05-18T03:33:20Z", "event_end_time": "2033-05-18T03:43:20Z",
    });
    let expected = [
        "Change sale".to_owned(),
        format!("rooms.sale.events.launch {shown} > "),
        "rooms.sale.position_expiry_seconds null > 900".to_owned(),
        "rooms.sale.session_duration_seconds 600 > 300".to_owned(),
    ];
    assert_eq!(told, expected);
}

#[test]
fn only_rooms_with_the_label_are_pruned() {
    let git = json!({ "labels": { "managed-by": "git", "stage": "live" } });
    let hand = json!({ "labels": { "managed-by": "hand" } });
    let current = configs(json!({ "old": git, "sale": git, "hand": hand, "none": {} }));
    let wanted = declared(json!({ "sale": git }));
    let pruned = |selector: Option<&str>| {
        let selector = selector.map(|text| text.parse().unwrap());
        let steps = plan(&wanted, &current, selector.as_ref()).steps.into_iter();
        steps.map(|step| (step.action, step.room.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(pruned(None), []);
    assert_eq!(pruned(Some("managed-by=git")), [(Action::Delete, "old".to_owned())]);
    assert_eq!(pruned(Some("managed-by=git,stage=test")), []);
    assert_eq!(pruned(Some("managed-by=hand")), [(Action::Delete, "hand".to_owned())]);
}

/// People may come into a room that is to be deleted, which is refused then: no other has its routes or names already.
#[test]
fn a_pruned_room_goes_before_those_that_get_what_it_has() {
    let git = |mut room: Value| {
        room["labels"] = json!({ "m": "g" });
        room
    };
    let route = json!({ "routes": [{ "host": "shop.example" }] });
    let event_id = json!({ "aws_style_api": true, "aws_event_id": "Sale" });
    let client =
        |id: &str| json!({ "oidc_clients": [{ "id": id, "redirect_uris": ["https://a/"] }] });
    let cookie = json!({ "cookie": { "suffix": "c" } });
    let steps = |old: &Value, new: &Value| {
        let current = configs(json!({ "old": git(old.clone()), "other": git(json!({})) }));
        let rooms = json!({ "a": git(json!({})), "new": git(new.clone()), "z": git(json!({})) });
        let selector = "m=g".parse().unwrap();
        let steps = plan(&declared(rooms), &current, Some(&selector)).steps;
        steps.into_iter().map(|step| step.room.to_string()).collect::<Vec<_>>()
    };
    for (old, new) in [
        (&route, &route),
        (&event_id, &event_id),
        (&client("new"), &json!({})),
        (&json!({ "aws_style_api": true, "aws_event_id": "new" }), &json!({})),
        (&json!({}), &json!({ "aws_style_api": true, "aws_event_id": "old" })),
        (&json!({}), &client("old")),
        (&cookie, &cookie),
    ] {
        assert_eq!(steps(old, new), ["a", "old", "new", "z", "other"], "{old} {new}");
    }
    assert_eq!(steps(&route, &event_id), ["a", "new", "z", "old", "other"]);
}

#[test]
fn events_are_compared_with_each_other_and_with_the_time() {
    let at = |start: u64| json!({ "event_start_time": start, "event_end_time": start + 600 });
    let errors = |events: Value, before: Option<&RoomConfig>| {
        let declared = declared(json!({ "sale": { "total_active_users": 5, "events": events } }));
        let errors = errors_of_room(&declared.rooms["sale"], before, NOW);
        errors.into_iter().map(|error| error.field.into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(errors(json!({ "a": at(NOW), "b": at(NOW + 600) }), None), [""; 0]);
    let both = errors(json!({ "a": at(NOW), "b": at(NOW + 599) }), None);
    assert_eq!(both, ["events.a.event_end_time", "events.b.event_start_time"]);
    assert_eq!(errors(json!({ "a": at(NOW - 1) }), None), ["events.a.event_start_time"]);
    let before = &configs(
        json!({ "sale": { "events": { "a": at(NOW - 1), "b": at(NOW + 1_000) } } }),
    )["sale"];
    assert_eq!(errors(json!({ "a": at(NOW - 1) }), Some(before)), [""; 0], "it was there");
    // Two that change places overlap with nothing in the end.
    let swapped = json!({ "b": at(NOW + 5_000), "c": at(NOW + 1_000) });
    assert_eq!(errors(swapped, Some(before)), [""; 0]);
    let mut high = at(NOW);
    high["total_active_users"] = 1.into();
    high["new_users_per_minute"] = 2.into();
    high["commitment"] = "ab".into();
    let wrong = errors(json!({ "a": high }), None);
    assert_eq!(wrong, ["events.a.commitment", "events.a.new_users_per_minute"]);
}

#[test]
fn a_route_is_of_one_room() {
    let route = |path: &str| json!({ "routes": [{ "host": "shop.example", "path": path }] });
    let wanted =
        declared(json!({ "a": route("/1"), "b": route("/1"), "c": route("/2"), "d": route("/3") }));
    let stays = configs(json!({ "z": route("/2") }));
    let others = stays.iter().map(|(name, config)| (name, &config.binding));
    let errors = errors_of_routes(&wanted, &Caller::admin("root"), &BTreeMap::new(), others);
    let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
    assert_eq!(fields, ["rooms.b.routes[0]", "rooms.c.routes[0]"]);
}

/// A room as anybody might set it up.
fn room() -> impl Strategy<Value = Value> {
    let limit = || prop_oneof![Just(Value::Null), (1_u64..1_000).prop_map(Value::from)];
    let seconds = || prop_oneof![Just(Value::Null), (1_u64..=604_800).prop_map(Value::from)];
    let method = prop::sample::select(vec!["fifo", "random", "passthrough", "reject"]);
    let labels =
        prop::collection::btree_map("[a-z]([a-z0-9./-]{0,5}[a-z])?", "[A-Za-z0-9]{0,9}", 0..3);
    let text = prop_oneof![
        Just(Value::Null),
        "[ -~é\n\t]{1,60}".prop_filter_map("braces", |text: String| {
            (!text.contains(['{', '}']) && !text.trim().is_empty()).then(|| Value::from(text))
        })
    ];
    let logo = prop_oneof![
        Just(Value::Null),
        Just(json!({ "media_type": "image/gif", "base64": "R0lGODlhAQABAAAAADs=" }))
    ];
    let event = (0_u64..5, any::<bool>(), limit(), "[ -~]{0,20}").prop_map(|(slot, draw, limit, text)| {
        let start = NOW + 1_000 + slot * 10_000;
        let event = json!({
            "event_start_time": start + 600, "event_end_time": start + 4_000, "prequeue_start_time": start,
            "draw_at_event_start": draw, "description": text,
            "total_active_users": limit, "new_users_per_minute": limit,
        });
        (format!("event-{slot}"), event)
    });
    let events = prop::collection::vec(event, 0..4)
        .prop_map(|events| events.into_iter().collect::<Map<_, _>>());
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let codes = prop::sample::select(vec![200, 202, 429, 503]);
    let first = (limit(), seconds(), 1_u64..=604_800, method, switches);
    let second = (labels, text, logo, events, codes, "[a-z]{1,8}");
    (first, second).prop_map(|((limit, expiry, session, method, switches), (labels, page, logo, events, code, host))| {
        json!({
            "total_active_users": limit, "position_expiry_seconds": expiry, "session_duration_seconds": session,
            "queueing_method": method, "queue_all": switches.0, "suspended": switches.1, "aws_style_api": switches.2,
            "labels": labels, "page": page, "logo": logo, "events": events, "queueing_status_code": code,
            "routes": [{ "host": format!("{host}.example"), "path": "/" }], "cookie": { "partitioned": switches.1 },
            "challenge": { "mode": if switches.0 { "challenge" } else { "off" } }, "places_per_network": null,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_was_written_changes_nothing_when_it_is_applied(
        rooms in prop::collection::btree_map("[A-Za-z0-9_-]{1,12}", room(), 0..4)
    ) {
        let current = configs(json!(rooms));
        let all = current.iter().map(|(name, config)| (name.clone(), DeclaredRoom::of(config)));
        let exported = Declaration { rooms: all.collect() };
        for detail in [Detail::Brief, Detail::Full] {
            let document = exported.document(detail);
            let json = serde_json::to_value(&document).unwrap();
            let text = yaml::write(&document).unwrap();
            for read in [json, yaml::read(&text).unwrap().value] {
                let (declared, errors) = Declaration::read(read);
                prop_assert_eq!(&errors, &[], "{}", text);
                let plan = plan(&declared, &current, None);
                prop_assert_eq!(plan.steps, [], "{}", text);
                for (name, room) in &declared.rooms {
                    let mut config = current[name].clone();
                    room.put_into(&mut config);
                    prop_assert_eq!(&DeclaredRoom::of(&config), &DeclaredRoom::of(&current[name]));
                    prop_assert_eq!(errors_of_room(room, current.get(name), NOW), []);
                }
            }
        }
    }
}
