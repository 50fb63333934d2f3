//! The OpenAPI document: made from the code, committed under `openapi/`, compared by a test.

use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use vestibule_issuance::aws::{ErrorBody, MessageBody};
use vestibule_runtime::{FieldError, Problem, ProblemType};

/// The document without the operations.
pub(crate) fn frame() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Vestibule admission")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("The public service of a Vestibule waiting room: visitors and gateways."))
        .license(Some(license));
    let components = ComponentsBuilder::new()
        .schema_from::<Problem>()
        .schema_from::<FieldError>()
        .schema_from::<ProblemType>()
        .schema_from::<ErrorBody>()
        .schema_from::<MessageBody>();
    OpenApiBuilder::new().info(info.build()).components(Some(components.build())).build()
}

/// The document of `routes`, as it is committed.
#[must_use]
pub(crate) fn document<S: Clone + Send + Sync + 'static>(routes: OpenApiRouter<S>) -> String {
    let document = routes.into_openapi();
    let mut json = document.to_pretty_json().unwrap_or_default();
    json.push('\n');
    json
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_document_is_that_of_the_code() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/admission.json");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        // Not as texts: in which order examples have their members depends on what else is built.
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert!(
            read(&committed).is_some()
                && read(&committed) == read(&super::document(crate::router::routes())),
            "openapi/admission.json is out of date. Run: make openapi"
        );
    }
}
