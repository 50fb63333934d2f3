//! The admin server's routes: what orchestrators and Prometheus ask, on an address of its own.
//!
//! | route | answer |
//! |---|---|
//! | `GET /livez` | 200 while the process runs |
//! | `GET /readyz` | 200 when ready, else 503 with the names of what is missing |
//! | `GET /metrics` | `OpenMetrics` text |
//!
//! Not counted, not shed, no CORS: it must answer when everything else is busy.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::get,
};

use crate::{
    health::Readiness,
    metrics::{self, OPENMETRICS_TEXT, Registry},
    problem::Problem,
};

/// The admin server's router. Services may merge more into it.
pub fn router(readiness: Readiness, registry: Arc<Registry>) -> Router {
    Router::new()
        .route("/livez", get(async || plain(StatusCode::OK, "alive\n".to_owned())))
        .route("/readyz", get(get_readyz).with_state(readiness))
        .route("/metrics", get(get_metrics).with_state(registry))
}

async fn get_readyz(State(readiness): State<Readiness>) -> Response {
    let missing = readiness.missing();
    if missing.is_empty() {
        plain(StatusCode::OK, "ready\n".to_owned())
    } else {
        let text = format!("not ready: {}\n", missing.join(", "));
        plain(StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

async fn get_metrics(State(registry): State<Arc<Registry>>) -> Response {
    match metrics::encode(&registry) {
        Ok(text) => ([(CONTENT_TYPE, OPENMETRICS_TEXT)], text).into_response(),
        Err(error) => Problem::internal(&error).into_response(),
    }
}

fn plain(status: StatusCode, text: String) -> Response {
    (status, [(CACHE_CONTROL, "no-store")], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use tower::ServiceExt;

    use super::*;
    use crate::testing::body_text;

    async fn ask(router: &Router, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        (response.status(), body_text(response).await)
    }

    #[tokio::test]
    async fn readiness_is_told_and_liveness_does_not_follow_it() {
        let readiness = Readiness::new();
        let redis = readiness.condition("redis");
        let router = router(readiness.clone(), Arc::new(Registry::default()));
        let not_ready = |text: &str| (StatusCode::SERVICE_UNAVAILABLE, text.to_owned());
        assert_eq!(ask(&router, "/readyz").await, not_ready("not ready: start, redis\n"));
        redis.set(true);
        readiness.started();
        assert_eq!(ask(&router, "/readyz").await, (StatusCode::OK, "ready\n".to_owned()));
        readiness.drain();
        assert_eq!(ask(&router, "/readyz").await, not_ready("not ready: draining\n"));
        assert_eq!(ask(&router, "/livez").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn metrics_are_openmetrics_text() {
        let registry = Arc::new(metrics::registry("admission", "1.0.0"));
        let router = router(Readiness::new(), registry);
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        assert_eq!(response.headers()[CONTENT_TYPE], OPENMETRICS_TEXT);
        assert!(body_text(response).await.contains(r#"service="admission""#));
    }
}
