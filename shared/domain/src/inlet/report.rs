//! What a site tells the max-size inlet: who has left. In the form of the original's messages.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use super::MOST;
use crate::FieldError;

/// The most request ids of one report.
pub const MAX_REPORTED: usize = 1_000;

/// Who has left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct InletReport {
    /// How many have left, as a number or as a text of digits. The counter moves by so many, as far as there is room;
    /// left out or 0: by as many as sessions have been ended by this report.
    #[serde(deserialize_with = "number_or_digits")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>, maximum = 2_147_483_647))]
    pub exited: u64,
    /// The request ids of those who have done what they came for. With `abandoned` at most 1,000.
    #[cfg_attr(feature = "openapi", schema(max_items = 1000))]
    pub completed: Vec<String>,
    /// The request ids of those who have given up.
    #[cfg_attr(feature = "openapi", schema(max_items = 1000))]
    pub abandoned: Vec<String>,
}

// === impl InletReport ===

impl InletReport {
    /// What is wrong, if anything is.
    #[must_use]
    pub fn error(&self) -> Option<FieldError> {
        let reported = self.completed.len() + self.abandoned.len();
        let many = (reported > MAX_REPORTED).then(|| FieldError {
            field: "completed".into(),
            reason: format!(
                "must have at most {MAX_REPORTED} request ids, together with abandoned, and there are {reported}: send \
                 several reports"
            ),
        });
        let exited = (self.exited > MOST).then(|| FieldError {
            field: "exited".into(),
            reason: format!("must be at most {MOST}, and is {}", self.exited),
        });
        many.or(exited)
    }
}

fn number_or_digits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    struct Reader;

    impl de::Visitor<'_> for Reader {
        type Value = u64;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a whole number that is not negative, or a text of its digits")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
            Ok(number)
        }

        fn visit_unit<E: de::Error>(self) -> Result<u64, E> {
            Ok(0)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = is_number.then(|| text.parse().ok()).flatten();
            number.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }

    deserializer.deserialize_any(Reader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_in_both_forms_of_the_original() {
        let exited =
            |text: &str| serde_json::from_str::<InletReport>(text).map(|report| report.exited).ok();
        assert_eq!(exited(r#"{"exited":5}"#), Some(5));
        assert_eq!(exited(r#"{"exited":"5","more":1}"#), Some(5));
        assert_eq!(exited("{}"), Some(0));
        assert_eq!(exited(r#"{"exited":null}"#), Some(0));
        for wrong in
            ["-3", "1.5", r#""""#, r#""-3""#, r#""x""#, "true", r#""99999999999999999999""#]
        {
            assert_eq!(exited(&format!(r#"{{"exited":{wrong}}}"#)), None, "{wrong}");
        }
    }

    #[test]
    fn the_length_of_both_lists_together_is_bounded() {
        let report = |completed, abandoned| InletReport {
            completed: vec![String::new(); completed],
            abandoned: vec![String::new(); abandoned],
            ..InletReport::default()
        };
        assert_eq!(report(MAX_REPORTED, 0).error(), None);
        let error = report(MAX_REPORTED, 1).error().unwrap();
        assert!(error.reason.contains("at most 1000") && error.reason.contains("1001"));
        let many = InletReport { exited: MOST + 1, ..InletReport::default() };
        assert_eq!(many.error().unwrap().field, "exited");
    }
}
