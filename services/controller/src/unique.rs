//! JSON in which no member is there twice. JSON's readers take the last of two silently, and whoever reads a document
//! before it is sent may go by the first.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// A value that was read so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unique(pub(crate) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

// === impl Reader ===

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(part)) = parts.next_element()? {
            list.push(part);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                members.next_value_seed(Twice)?;
            }
            let Unique(value) = members.next_value()?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

/// Refuses a value. Who follows where it is reads, such as `Json`, then knows its path.
struct Twice;

impl<'de> DeserializeSeed<'de> for Twice {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(D::Error::custom("is there twice"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use vestibule_runtime::extract::Json;

    use super::*;

    #[test]
    fn what_is_there_twice_is_refused_with_its_path() {
        for (text, field) in [
            (r#"{"rooms": {}, "rooms": {}}"#, "rooms"),
            (r#"{"rooms": {"sale": {"a": 1, "b": 2, "a": 1}}}"#, "rooms.sale.a"),
            (r#"{"rooms": [1, {"a": {}, "\u0061": 3}]}"#, "rooms[1].a"),
        ] {
            let refused = Json::<Unique>::from_bytes(text.as_bytes()).unwrap_err();
            let error = &refused.errors()[0];
            assert_eq!((&*error.field, &*error.reason), (field, "is there twice"), "{text}");
        }
        let text =
            r#"{"a": {"a": 1}, "b": [{"a": 1}, {"a": null}], "c": "ü\n", "d": -1.5, "e": true}"#;
        let Json(Unique(value)) = Json::from_bytes(text.as_bytes()).unwrap();
        assert_eq!(value["b"], json!([{"a": 1}, {"a": null}]));
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    }

    proptest! {
        #[test]
        fn numbers_are_as_json_has_them(number in prop_oneof![
            any::<i64>().prop_map(Value::from), any::<u64>().prop_map(Value::from), any::<f64>().prop_map(Value::from),
        ]) {
            let text = number.to_string();
            let Json(Unique(value)) = Json::from_bytes(text.as_bytes()).unwrap();
            prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
