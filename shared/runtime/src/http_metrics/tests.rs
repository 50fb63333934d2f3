//! The layer on real routers, read back through the text that Prometheus would scrape.

use axum::{
    Router,
    body::Body,
    http::{Method, Request},
    routing::{get, post},
};
use tower::ServiceExt;

use super::*;
use crate::{
    metrics::{self, encode},
    problem::ProblemType,
};

struct Fixture {
    registry: Registry,
    router: Router,
}

impl Fixture {
    fn new(router: Router) -> Self {
        let mut registry = metrics::registry("test", "0");
        let layer = HttpMetrics::register(&mut registry);
        Self { registry, router: router.layer(layer).with_state(()) }
    }

    async fn send(&self, method: Method, path: &str) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap();
    }

    #[track_caller]
    fn assert_line(&self, line: &str) {
        let text = encode(&self.registry).unwrap();
        assert!(text.lines().any(|found| found == line), "{line} not in\n{text}");
    }
}

#[tokio::test]
async fn requests_are_counted_by_template_method_and_status() {
    let rooms = get(async || "ok").post(async || ProblemType::Conflict);
    let fixture = Fixture::new(Router::new().route("/v1/rooms/{room}", rooms));
    for room in ["a", "b", "c"] {
        fixture.send(Method::GET, &format!("/v1/rooms/{room}")).await;
    }
    fixture.send(Method::POST, "/v1/rooms/a").await;
    fixture.send(Method::DELETE, "/v1/rooms/a").await;
    let route = r#"vestibule_http_requests_total{route="/v1/rooms/{room}""#;
    fixture.assert_line(&format!(r#"{route},method="GET",status="200"}} 3"#));
    fixture.assert_line(&format!(r#"{route},method="POST",status="409"}} 1"#));
    fixture.assert_line(&format!(r#"{route},method="DELETE",status="405"}} 1"#));
    fixture.assert_line(
        r#"vestibule_http_problems_total{route="/v1/rooms/{room}",method="POST",code="conflict"} 1"#,
    );
    fixture.assert_line(
        r#"vestibule_http_request_duration_seconds_count{route="/v1/rooms/{room}",method="GET"} 3"#,
    );
    let bucket = r#"vestibule_http_request_duration_seconds_bucket{le="+Inf","#;
    fixture.assert_line(&format!(r#"{bucket}route="/v1/rooms/{{room}}",method="GET"}} 3"#));
}

#[tokio::test]
async fn what_no_route_matches_shares_one_label() {
    let fixture = Fixture::new(Router::new().route("/", get(async || "ok")));
    for path in ["/a", "/b/c", "/.env"] {
        fixture.send(Method::GET, path).await;
    }
    fixture.assert_line(
        r#"vestibule_http_requests_total{route="unmatched",method="GET",status="404"} 3"#,
    );
}

#[tokio::test]
async fn a_router_nested_twice_keeps_its_routes_apart() {
    let mut registry = metrics::registry("test", "0");
    let layer = HttpMetrics::register(&mut registry);
    let inner = Router::new().route("/x", post(async || "ok")).layer(layer).with_state(());
    let router = Router::new().nest("/api", inner.clone()).nest("/v1", inner);
    let fixture = Fixture { registry, router };
    for path in ["/api/x", "/v1/x", "/v1/x"] {
        fixture.send(Method::POST, path).await;
    }
    let total = "vestibule_http_requests_total";
    fixture.assert_line(&format!(r#"{total}{{route="/api/x",method="POST",status="200"}} 1"#));
    fixture.assert_line(&format!(r#"{total}{{route="/v1/x",method="POST",status="200"}} 2"#));
}

#[tokio::test]
async fn a_request_given_up_is_in_flight_first_and_counted_then() {
    let fixture = Fixture::new(Router::new().route("/", get(std::future::pending::<()>)));
    let request = Request::get("/").body(Body::empty()).unwrap();
    let mut answer = Box::pin(fixture.router.clone().oneshot(request));
    assert!(std::future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx).is_pending())).await);
    fixture.assert_line(r#"vestibule_http_requests_in_flight{route="/"} 1"#);
    drop(answer);
    fixture.assert_line(r#"vestibule_http_requests_in_flight{route="/"} 0"#);
    fixture.assert_line(r#"vestibule_http_requests_total{route="/",method="GET",status="499"} 1"#);
}
