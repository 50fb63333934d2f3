//! Arguments and replies with names: one JSON document each way. The Lua side is
//! `scripts/lib/document.lua`.
//!
//! Integers travel to a script as text. Lua's JSON library reads numbers as doubles and writes 14
//! digits of them; a script that only passes an integer on keeps every digit of a text. Texts that
//! scripts do not look into (settings, figures, draws) travel as strings inside the document.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::StoreError;

/// The document of some arguments.
pub(crate) fn encode(arguments: &impl Serialize) -> Result<String, StoreError> {
    let mut document = serde_json::to_value(arguments).map_err(StoreError::unexpected)?;
    write_numbers_as_text(&mut document);
    Ok(document.to_string())
}

/// Reads a document as a value.
pub(crate) fn decode<T: DeserializeOwned>(document: &str) -> Result<T, StoreError> {
    serde_json::from_str(document).map_err(StoreError::unexpected)
}

/// A JSON text that scripts pass on as it is.
pub(crate) fn text(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::unexpected)
}

fn write_numbers_as_text(value: &mut Value) {
    match value {
        Value::Number(number) => *value = Value::String(number.to_string()),
        Value::Array(values) => values.iter_mut().for_each(write_numbers_as_text),
        Value::Object(fields) => fields.values_mut().for_each(write_numbers_as_text),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Arguments {
        by: i64,
        epoch: Option<u64>,
        figures: String,
        slots: Vec<u64>,
    }

    #[test]
    fn integers_are_text_and_nested_texts_stay_as_they_are() {
        let figures = text(&serde_json::json!({ "ahead": [], "waiting": 5 })).unwrap();
        let arguments = Arguments { by: i64::MIN, epoch: None, figures, slots: vec![u64::MAX] };
        let document = r#"{"by":"-9223372036854775808","epoch":null,"figures":"{\"ahead\":[],\"waiting\":5}","slots":["18446744073709551615"]}"#;
        assert_eq!(encode(&arguments).unwrap(), document);
    }
}
