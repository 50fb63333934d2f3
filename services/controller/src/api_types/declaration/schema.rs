//! The schema of a document of rooms: for the API's document, and by itself for editors, which check a file while it is
//! written. Both are made of the types that are read.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use vestibule_domain::RoomSettings;
use vestibule_site::SiteBinding;

use crate::api_types::{Event, members::merged_schema};

/// Where the schemas of parts stand: in the API's document, and in the schema for editors.
const IN_API: &str = "#/components/schemas/";
const BY_ITSELF: &str = "#/definitions/";

/// Rooms, as one document says what they are.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Declaration {
    /// By name. Of a room that is named here, whatever is left out has its default; rooms that are not named stay as
    /// they are.
    rooms: BTreeMap<String, DeclaredRoom>,
}

/// One of its rooms. Its schema is put together below.
#[expect(dead_code, reason = "only its schema is used")]
struct DeclaredRoom(Belongings);

#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Belongings {
    /// Its events by name; one that is left out is deleted.
    #[schema(default = json!({}))]
    events: Option<BTreeMap<String, Event>>,
    /// Its own waiting page, a Mustache template of at most 1 MiB; null: the default page. See `PUT /v1/rooms/{room}/page`.
    #[schema(default = json!(null))]
    page: Option<String>,
    /// In a file for `vestibule-controller apply`, in the place of `page`: the file that has it, seen from this one.
    page_file: Option<String>,
    /// The logo of the default page; null: none.
    #[schema(default = json!(null))]
    logo: Option<DeclaredLogo>,
    /// In a file for `vestibule-controller apply`, in the place of `logo`: the image, seen from this file.
    logo_file: Option<String>,
}

/// An image of at most 32 KiB.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct DeclaredLogo {
    /// One of image/png, image/jpeg, image/gif, image/webp and image/svg+xml.
    #[schema(example = "image/png")]
    media_type: String,
    /// Its bytes, in base64.
    base64: String,
}

// === impl DeclaredRoom ===

impl PartialSchema for DeclaredRoom {
    fn schema() -> RefOr<Schema> {
        let parts = [RoomSettings::schema(), SiteBinding::schema(), Belongings::schema()];
        merged_schema("A room with its events, its page and its logo.", parts)
    }
}

impl ToSchema for DeclaredRoom {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        RoomSettings::schemas(schemas);
        SiteBinding::schemas(schemas);
        Belongings::schemas(schemas);
    }
}

/// The schema for editors, in the version of JSON Schema that all of them know.
pub(crate) fn editors_schema() -> Value {
    let mut parts = Vec::new();
    Declaration::schemas(&mut parts);
    let definitions: Map<String, Value> =
        parts.into_iter().map(|(name, part)| (name, to_value(&part))).collect();
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Rooms of Vestibule",
        "patternProperties": { "^x-": { "description": "Anything, for anchors: `x-common: &common`." } },
        "additionalProperties": false,
        "definitions": definitions,
    });
    if let (Value::Object(schema), Value::Object(root)) =
        (&mut schema, to_value(&Declaration::schema()))
    {
        schema.extend(root);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("$schema".to_owned(), json!({ "type": "string" }));
        }
    }
    point_to_definitions(&mut schema);
    schema
}

/// Makes references of the API's document those of the schema.
fn point_to_definitions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref") {
                *target = target.replace(IN_API, BY_ITSELF);
            }
            members.values_mut().for_each(point_to_definitions);
        }
        Value::Array(values) => values.iter_mut().for_each(point_to_definitions),
        _ => {}
    }
}

/// Schemas: writing them cannot fail.
fn to_value(schema: &RefOr<Schema>) -> Value {
    serde_json::to_value(schema).unwrap_or_default()
}
