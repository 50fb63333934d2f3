//! What can be said of the routes without Redis: who is let in, and which answers need no store.

use std::fs;

use axum::{
    body::{Body, to_bytes},
    http::{
        HeaderMap, Method, Request, StatusCode,
        header::{ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, CACHE_CONTROL, WWW_AUTHENTICATE},
    },
};
use clap::Parser;
use serde_json::{Value, json};
use tower::ServiceExt;
use vestibule_domain::access::Role;
use vestibule_issuance::Machine;
use vestibule_runtime::metrics::Registry;

use super::*;
use crate::{
    access::{OPERATIONS, Over, operation},
    cli::Cli,
    config::Config,
};

const LAUNCH: &str = r#"{"event_start_time":1,"event_end_time":61}"#;
const TOKEN: &str = "Bearer 0123456789abcdef";

/// A router whose Redis cannot be reached any more.
fn cut_off() -> Router {
    let (controller, metrics) = started();
    controller.note_keyspace_known();
    router(&controller, &metrics)
}

/// A controller that has just started.
fn started() -> (Arc<Controller>, HttpMetrics) {
    let cli = Cli::parse_from([
        "test",
        "--secret=0123456789abcdef0123456789abcdef",
        "--api-token=0123456789abcdef",
        "--api-tokens=viewer:viewer:viewer-token-0000;operator:operator:operator-token-00;\
            admin:admin:admin-token-00000;viewer-sale:viewer:sale:viewer-token-sale;\
            operator-sale:operator:s*e:operator-token-sa;admin-sale:admin:sale:admin-token-sale0",
        "--redis-url=redis://127.0.0.1:1",
    ]);
    let mut registry = Registry::default();
    let metrics = HttpMetrics::register(&mut registry);
    let address = ([127, 0, 0, 1], 8081).into();
    let config = Config::read(&cli).unwrap();
    let controller = Controller::new(config, Machine::real(), address, &mut registry);
    (Arc::new(controller), metrics)
}

async fn call(
    method: Method,
    path: &str,
    authorization: Option<&str>,
    body: &str,
) -> (StatusCode, HeaderMap, Value) {
    answer(cut_off(), method, path, authorization, body).await
}

async fn answer(
    router: Router,
    method: Method,
    path: &str,
    authorization: Option<&str>,
    body: &str,
) -> (StatusCode, HeaderMap, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(authorization) = authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = router.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status, parts.headers, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// Every operation, as method and path of the document, with and without `/api`.
fn operations() -> Vec<(Method, String)> {
    let document = serde_json::to_value(document()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        // What is signed by Amazon SNS needs no token.
        if path.ends_with("/sns") {
            continue;
        }
        for method in item.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let path = path.replace("{room}", "sale").replace("{event}", "launch");
            if let Some(bare) = path.strip_prefix("/api") {
                operations.push((method.clone(), bare.to_owned()));
            }
            operations.push((method, path));
        }
    }
    operations
}

#[tokio::test]
async fn nothing_is_done_without_the_token() {
    let operations = operations();
    assert_eq!(operations.len(), 46 + 2 * 6);
    for (method, path) in operations {
        for authorization in [None, Some("Bearer 0123456789abcdeX")] {
            let (status, headers, body) = call(method.clone(), &path, authorization, "").await;
            if path.starts_with("/v1/") {
                assert_eq!(status, StatusCode::UNAUTHORIZED, "{method} {path}");
                assert_eq!(headers[WWW_AUTHENTICATE], "Bearer");
                assert_eq!(body["type"], "urn:vestibule:problem:unauthorized");
                assert_eq!(headers[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
            } else {
                assert_eq!(status, StatusCode::FORBIDDEN, "{method} {path}");
                assert_eq!(body, json!({"message": "Missing Authentication Token"}));
                // Pages of its clients take what they may read for success.
                assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), "{method} {path}");
            }
        }
    }
}

/// A new endpoint fails here until its row says who may call it.
#[test]
fn every_operation_says_who_may_call_it() {
    let document = serde_json::to_value(document()).unwrap();
    let mut names = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let operation = operation(&method, path);
            assert_eq!(described["operationId"], operation.name, "{method} {path}");
            if !path.ends_with("/sns") {
                assert_eq!(described["x-required-role"], operation.role.name());
            }
            assert!(described["responses"].get("403").is_some(), "{method} {path}");
            let is_of_a_room = path.contains("{room}");
            assert_eq!(operation.over == Over::Room, is_of_a_room, "{method} {path}");
            assert_eq!(operation.over == Over::Event, path.starts_with("/api/"), "{path}");
            names.push(operation.name);
        }
    }
    names.sort_unstable();
    let mut rows: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
    rows.sort_unstable();
    assert_eq!(names, rows, "a row of an operation that there is not");
}

/// A caller of each role and of each kind of rooms, at every route: nobody gets further than its row says.
#[tokio::test]
async fn nobody_gets_further_than_its_role_and_rooms() {
    let router = cut_off();
    let callers = [
        ("viewer-token-0000", Role::Viewer, true),
        ("operator-token-00", Role::Operator, true),
        ("admin-token-00000", Role::Admin, true),
        ("viewer-token-sale", Role::Viewer, false),
        ("operator-token-sa", Role::Operator, false),
        ("admin-token-sale0", Role::Admin, false),
    ];
    for (method, path) in operations() {
        let route = path.replace("/sale", "/{room}").replace("launch", "{event}");
        let needs = operation(&method, &route);
        assert_ne!(needs.name, "unknown", "{method} {route}");
        for (token, role, whole) in callers {
            for room in ["sale", "vip"] {
                let path = path.replace("/sale", &format!("/{room}"));
                let path =
                    if method == Method::GET { format!("{path}?event_id={room}") } else { path };
                let body =
                    json!({ "event_id": room, "increment_by": 1, "request_id": "", "status": 1 });
                let authorization = format!("Bearer {token}");
                let (status, _, answer) = answer(
                    router.clone(),
                    method.clone(),
                    &path,
                    Some(&authorization),
                    &body.to_string(),
                )
                .await;
                let is_own = match needs.over {
                    Over::Room | Over::Event => whole || room == "sale",
                    Over::Deployment => whole,
                    Over::OwnRooms => true,
                };
                // As a dry run it is a viewer's, too.
                let least = if needs.name == "put_config" { Role::Operator } else { needs.role };
                let may = role >= least && is_own;
                // Who has read no room yet does not know whose event it is.
                let is_anybodys = needs.over == Over::Event && !is_own;
                let is_refused = status == StatusCode::FORBIDDEN
                    || is_anybodys && status == StatusCode::SERVICE_UNAVAILABLE;
                assert_eq!(!is_refused, may, "{method} {path} {token}: {answer}");
                assert_ne!(status, StatusCode::UNAUTHORIZED, "{method} {path} {token}");
            }
        }
    }
}

#[tokio::test]
async fn the_documentation_is_open() {
    let (status, _, body) = call(Method::GET, "/openapi.json", None, "").await;
    assert_eq!((status, &body["info"]["title"]), (StatusCode::OK, &json!("Vestibule controller")));
    assert_eq!(call(Method::GET, "/docs", None, "").await.0, StatusCode::OK);
    let (status, _, schema) = call(Method::GET, "/v1/config/schema", None, "").await;
    assert_eq!((status, &schema["title"]), (StatusCode::OK, &json!("Rooms of Vestibule")));
    assert_eq!(call(Method::GET, "/nowhere", None, "").await.0, StatusCode::NOT_FOUND);
    assert_eq!(call(Method::OPTIONS, "/generate_token", None, "").await.0, StatusCode::OK);
}

#[tokio::test]
async fn wrong_requests_need_no_redis_and_right_ones_say_when_to_come_back() {
    let cases = [
        (Method::PUT, "/v1/rooms/sale", r#"{"limit":5}"#, 400),
        (Method::PUT, "/v1/rooms/a.b", "{}", 400),
        (Method::PUT, "/v1/rooms/sale", "[]", 400),
        (Method::PUT, "/v1/rooms/sale", "{}", 503),
        (Method::GET, "/v1/rooms", "", 503),
        (Method::GET, "/v1/config", "", 503),
        (Method::GET, "/v1/config?labels=x", "", 400),
        (Method::PUT, "/v1/config", "rooms: {}", 400),
        (Method::PUT, "/v1/config?dry_run=perhaps", "{}", 400),
        (Method::PUT, "/v1/config?prune=x", "{}", 400),
        (Method::PUT, "/v1/config", r#"{"rooms":{}}"#, 503),
        (Method::GET, "/v1/rooms/sale/events", "", 503),
        (Method::PUT, "/v1/rooms/sale/events/a.b", "{}", 400),
        (Method::PUT, "/v1/rooms/sale/events/launch", "{}", 400),
        (Method::PUT, "/v1/rooms/sale/events/launch", LAUNCH, 503),
        (Method::PATCH, "/v1/rooms/sale/events/launch", "[]", 400),
        (Method::DELETE, "/v1/rooms/sale/events/launch", "", 503),
        (Method::GET, "/v1/rooms/sale/events/launch/details", "", 503),
        (Method::DELETE, "/v1/rooms/sale/sessions/x", "", 503),
        (Method::GET, "/v1/rooms/sale/history?from=soon", "", 400),
        (Method::POST, "/v1/rooms/sale/inlet", r#"{"exited":-1}"#, 400),
        (Method::POST, "/v1/rooms/sale/inlet", r#"{"exited":"5"}"#, 503),
        (Method::PUT, "/v1/rooms/sale/inlet/alarm", r#"{"state":"bad"}"#, 400),
        (Method::PUT, "/v1/rooms/sale/inlet/alarm", r#"{"state":"ALARM"}"#, 503),
        (Method::POST, "/v1/rooms/sale/inlet/sns", "", 404),
        (Method::DELETE, "/v1/rooms", "", 405),
        (Method::GET, "/api/num_active_tokens", "", 400),
        (Method::GET, "/num_active_tokens?event_id=Sample", "", 503),
        // It may be what a room is called that was not read yet.
        (Method::GET, "/num_active_tokens?event_id=a.b", "", 503),
        (Method::POST, "/update_session", "", 400),
    ];
    for (method, path, body, expected) in cases {
        let (status, headers, _) = call(method.clone(), path, Some(TOKEN), body).await;
        assert_eq!(status.as_u16(), expected, "{method} {path} {body}");
        assert_eq!(headers[CACHE_CONTROL], "no-store", "{method} {path}");
        assert_eq!(headers.contains_key("retry-after"), expected == 503, "{method} {path}");
    }
}

#[tokio::test]
async fn who_has_just_started_carries_nothing_out() {
    let (controller, metrics) = started();
    let router = router(&controller, &metrics);
    for (method, path) in operations() {
        let call = |token| answer(router.clone(), method.clone(), &path, token, "");
        let (status, headers, problem) = call(Some(TOKEN)).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{method} {path}");
        assert_eq!(problem["type"], "urn:vestibule:problem:redis-unavailable", "{method} {path}");
        assert!(headers.contains_key("retry-after"), "{method} {path}");
        assert!(call(None).await.0.is_client_error(), "{method} {path}");
    }
}

/// Whoever posts what Amazon SNS might have posted needs no token, and so takes no place of those who have one.
#[tokio::test]
async fn strangers_have_places_of_their_own() {
    let (controller, metrics) = started();
    controller.note_keyspace_known();
    let full = gated(&controller, &metrics, Shed::new(0));
    let sns = "/v1/rooms/sale/inlet/sns";
    let (status, _, problem) = answer(full.clone(), Method::POST, sns, None, "").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(problem["type"], "urn:vestibule:problem:overloaded");
    for (method, path) in operations() {
        let (_, _, problem) = answer(full.clone(), method.clone(), &path, Some(TOKEN), "").await;
        assert_ne!(problem["type"], "urn:vestibule:problem:overloaded", "{method} {path}");
    }
    let open = router(&controller, &metrics);
    assert_eq!(answer(open, Method::POST, sns, None, "").await.0, StatusCode::NOT_FOUND);
}

#[test]
fn the_committed_document_is_the_codes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/controller.json");
    let committed = fs::read_to_string(path).unwrap_or_default();
    // Not as texts: in which order examples have their members depends on what else is built.
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    assert!(
        read(&committed).is_some() && read(&committed) == read(&openapi::text(&document())),
        "openapi/controller.json is out of date; run: make openapi"
    );
}

#[test]
fn the_committed_schema_for_editors_is_the_codes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/config.schema.json");
    let committed = fs::read_to_string(path).unwrap_or_default();
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    assert!(
        read(&committed).is_some() && read(&committed) == read(&openapi::schema_text()),
        "openapi/config.schema.json is out of date; run: make openapi"
    );
}

#[test]
fn every_reference_leads_somewhere_and_operations_have_names_of_their_own() {
    let document = document();
    let components = document.components.as_ref().unwrap();
    for reference in openapi::text(&document).split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(components.schemas.contains_key(name), "{name}");
    }
    let text = openapi::text(&document);
    let ids = text.lines().filter(|line| line.contains("\"operationId\""));
    let mut ids: Vec<_> = ids.map(str::trim).collect();
    assert_eq!(ids.len(), 53);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 53);
}
