//! Answers that many operations share, as an OpenAPI document describes them. Each service names its
//! groups with [`crate::shared_responses`]; what is answered is decided elsewhere.

use utoipa::openapi::{
    Ref, RefOr, Response, ResponseBuilder, Schema, content::ContentBuilder, schema::OneOfBuilder,
};

use super::PROBLEM_JSON;

/// A problem document with this status.
#[must_use]
pub fn problem_response(status: &str, description: &str) -> (String, RefOr<Response>) {
    response(status, description, PROBLEM_JSON, &["Problem"])
}

/// A JSON body of one of the named schemas, with this status.
#[must_use]
pub fn json_response(
    status: &str,
    description: &str,
    schemas: &[&str],
) -> (String, RefOr<Response>) {
    response(status, description, "application/json", schemas)
}

fn response(
    status: &str,
    description: &str,
    media_type: &str,
    schemas: &[&str],
) -> (String, RefOr<Response>) {
    let schema: RefOr<Schema> = match schemas {
        [one] => Ref::from_schema_name(*one).into(),
        several => several
            .iter()
            .fold(OneOfBuilder::new(), |one_of, name| one_of.item(Ref::from_schema_name(*name)))
            .into(),
    };
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new().description(description).content(media_type, content);
    (status.to_owned(), response.build().into())
}

/// Defines groups of answers: unit types for `responses(…)` of `#[utoipa::path]`.
///
/// ```
/// vestibule_runtime::shared_responses! {
///     /// Answers of calls for a room.
///     pub NoSuchRoom { problem_response "404": "There is no such room" }
/// }
/// ```
#[macro_export]
macro_rules! shared_responses {
    ($($(#[$doc:meta])+ $visibility:vis $name:ident {
        $($function:ident $status:literal: $description:literal $([$($schema:literal),+])?),+ $(,)?
    })+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy)]
        $visibility struct $name;

        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<
                String,
                utoipa::openapi::RefOr<utoipa::openapi::Response>,
            > {
                [$($crate::problem::$function($status, $description $(, &[$($schema),+])?)),+].into()
            }
        }
    )+};
}
