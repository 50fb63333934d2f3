//! `/docs`: the API's documentation for people, made of its OpenAPI document by Swagger UI. Everything that the
//! page needs is in the program and comes from the same address, which its policy insists on.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{
        HeaderName, HeaderValue,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
    response::{Html, IntoResponse, Response},
    routing::get,
};
use utoipa_swagger_ui::{Config, serve};

use crate::problem::{Problem, ProblemType};

/// Nothing but what comes from the same address; the pictures in the styles are `data:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Instead of the library's own, whose addresses only fit `/docs/`. These fit below any prefix.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vestibule</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/swagger-ui-standalone-preset.js"></script>
<script src="docs/swagger-initializer.js"></script>
</body>
</html>
"#;

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// `/docs` and its parts, for a service that has its document at `/openapi.json`.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    // The validator is a service of somebody else.
    let config = Config::new(["openapi.json"]).validator_url("none").use_base_layout();
    let config = Arc::new(config);
    Router::new()
        .route("/docs", get(async || (HEADERS, Html(PAGE))))
        .route("/docs/{file}", get(async move |Path(file): Path<String>| part(&file, config)))
}

fn part(file: &str, config: Arc<Config<'static>>) -> Response {
    match serve(file, config) {
        Ok(Some(file)) => {
            let body = Body::from(file.bytes.into_owned());
            (HEADERS, [(CONTENT_TYPE, file.content_type)], body).into_response()
        }
        Ok(None) => ProblemType::NotFound.into_response(),
        Err(error) => Problem::internal(&*error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt;

    use super::*;
    use crate::testing::body_text;

    async fn ask(path: &str) -> Response {
        let request = Request::get(path).body(Body::empty()).unwrap();
        routes::<()>().oneshot(request).await.unwrap()
    }

    /// What the page loads, by its attributes.
    fn loaded(page: &str) -> Vec<&str> {
        let after = |attribute| page.split(attribute).skip(1);
        let values = after("src=\"").chain(after("href=\""));
        values.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[tokio::test]
    async fn the_page_is_made_of_nothing_from_elsewhere() {
        let page = ask("/docs").await;
        assert_eq!(page.headers()[CONTENT_SECURITY_POLICY], POLICY);
        let page = body_text(page).await;
        assert!(!page.contains("//") && !page.contains("style=") && !page.contains("<style"));
        assert_eq!(page.matches("<script").count(), page.matches("<script src=\"docs/").count());
        let loaded = loaded(&page);
        assert_eq!(loaded.len(), 5);
        for path in loaded {
            let part = ask(&format!("/{path}")).await;
            assert_eq!(part.status(), StatusCode::OK, "{path}");
            assert_eq!(part.headers()[CONTENT_SECURITY_POLICY], POLICY, "{path}");
        }
        let start = body_text(ask("/docs/swagger-initializer.js").await).await;
        assert!(start.contains("\"openapi.json\"") && !start.contains("://"), "{start}");
        assert_eq!(ask("/docs/nothing.js").await.status(), StatusCode::NOT_FOUND);
    }
}
