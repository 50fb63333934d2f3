//! The layers of every public router: counting, traces, CORS and shedding, and problems for unknown routes.
//!
//! The layers are applied as one, because each `Router::layer` costs a boxed future per request.

use axum::Router;

use crate::{
    cors::Cors, http_metrics::HttpMetrics, problem::ProblemType, shed::Shed, traces::RequestTraces,
};

/// Wraps a public API, where `cors` says which other origins may send credentials.
///
/// From the outside in: counting, traces and CORS (refusals included), shedding.
/// Unknown routes answer [`ProblemType::NotFound`] and wrong methods
/// [`ProblemType::MethodNotAllowed`]; call this last, when all routes are there.
pub fn public<S>(
    router: Router<S>,
    (metrics, traces): (&HttpMetrics, &RequestTraces),
    cors: Cors,
    shed: Shed,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    with_problems(router).layer((metrics.clone(), traces.clone(), cors, shed))
}

/// Wraps an API for gateways: the same without CORS. `OPTIONS` reaches the handlers there, because a
/// gateway may ask about such a request.
pub fn for_gateways<S>(
    router: Router<S>,
    (metrics, traces): (&HttpMetrics, &RequestTraces),
    shed: Shed,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let router = router.method_not_allowed_fallback(async || ProblemType::MethodNotAllowed);
    router.layer((metrics.clone(), traces.clone(), shed))
}

/// Answers problem documents instead of empty bodies where no route or method matches.
pub fn with_problems<S>(router: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        .fallback(async || ProblemType::NotFound)
        .method_not_allowed_fallback(async || ProblemType::MethodNotAllowed)
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Body,
        extract::State,
        http::{
            Request, StatusCode,
            header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW},
        },
        response::Response,
        routing::get,
    };
    use tower::ServiceExt;

    use super::*;
    use crate::{
        metrics::{Registry, encode},
        testing::{body_json, body_text},
    };

    async fn send(max: usize, method: &str, path: &str) -> (Response, String) {
        let mut registry = Registry::default();
        let metrics = HttpMetrics::register(&mut registry);
        let router = Router::new().route("/", get(async |State(text): State<&'static str>| text));
        let router: Router =
            public(router, (&metrics, &RequestTraces::off()), Cors::default(), Shed::new(max))
                .with_state("hello");
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        (response, encode(&registry).unwrap())
    }

    #[tokio::test]
    async fn answers_pass_through() {
        let (response, metrics) = send(1, "GET", "/").await;
        assert_eq!(body_text(response).await, "hello");
        assert!(metrics.contains(r#"http_requests_total{route="/",method="GET",status="200"} 1"#));
    }

    #[tokio::test]
    async fn where_no_route_is_there_is_a_problem() {
        let (response, metrics) = send(1, "GET", "/nowhere").await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(body_json(response).await["type"], "urn:vestibule:problem:not-found");
        assert!(metrics.contains(r#"route="unmatched",method="GET",code="not-found"} 1"#));
        let (response, _) = send(1, "POST", "/").await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[ALLOW], "GET,HEAD");
        assert_eq!(body_json(response).await["type"], "urn:vestibule:problem:method-not-allowed");
    }

    #[tokio::test]
    async fn what_is_shed_is_counted_and_preflights_are_not_shed() {
        let (response, metrics) = send(0, "GET", "/").await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(metrics.contains(r#"route="/",method="GET",code="overloaded"} 1"#), "{metrics}");
        assert_eq!(send(0, "OPTIONS", "/").await.0.status(), StatusCode::OK);
    }
}
