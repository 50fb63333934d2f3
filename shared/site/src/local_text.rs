//! A text of an operator's that visitors read: the same for everybody, or one for each language.
//!
//! It is plain text, and is never read as markup. What could change how the text around it looks, or hide what
//! it says, is refused: control characters, and those that override the direction of writing.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};

use crate::{FieldError, LANGUAGES, errors::error};

/// What an operator tells visitors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LocalText {
    /// The same in every language.
    Same(String),
    /// By the code of its language.
    ByLanguage(BTreeMap<String, String>),
}

/// What such a text may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextBounds {
    /// The most characters.
    pub characters: usize,
    /// Whether it may have several lines.
    pub has_lines: bool,
}

// === impl LocalText ===

impl LocalText {
    /// The text for a visitor, and its language where that is known: the first of `wanted` that there is, else
    /// English, else any.
    #[must_use]
    pub fn in_one_of(&self, wanted: &[&str]) -> Option<(&str, Option<&str>)> {
        let by_language = match self {
            Self::Same(text) => return Some((text, None)),
            Self::ByLanguage(by_language) => by_language,
        };
        // Of a later release's languages none is chosen.
        let known = wanted.iter().copied().chain(["en"]).chain(LANGUAGES);
        let mut found = known.filter_map(|code| by_language.get_key_value(code));
        found.next().map(|(code, text)| (text.as_str(), Some(code.as_str())))
    }

    /// All errors of the text that is in `field`; empty when there are none.
    #[must_use]
    pub fn errors(&self, field: &'static str, bounds: TextBounds) -> Vec<FieldError> {
        let by_language = match self {
            Self::Same(text) => {
                return bounds.wrong(text).map(|why| error(field, why)).into_iter().collect();
            }
            Self::ByLanguage(by_language) => by_language,
        };
        if by_language.is_empty() {
            return vec![error(field, "names no language; null is for none")];
        }
        let of_one = |(code, text): (&String, &String)| {
            let reason = if LANGUAGES.contains(&code.as_str()) {
                bounds.wrong(text)?
            } else {
                format!("is no language of the page; these are: {}", LANGUAGES.join(", "))
            };
            Some(error(format!("{field}.{code}"), reason))
        };
        by_language.iter().filter_map(of_one).collect()
    }
}

impl<'de> Deserialize<'de> for LocalText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LocalTextVisitor)
    }
}

struct LocalTextVisitor;

impl<'de> Visitor<'de> for LocalTextVisitor {
    type Value = LocalText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, or an object of texts by language")
    }

    fn visit_str<E>(self, text: &str) -> Result<LocalText, E> {
        Ok(LocalText::Same(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LocalText, A::Error> {
        let mut by_language = BTreeMap::new();
        // A merge patch takes a language away by null.
        while let Some((code, text)) = map.next_entry::<String, Option<String>>()? {
            text.map(|text| by_language.insert(code, text));
        }
        Ok(LocalText::ByLanguage(by_language))
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for LocalText {}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for LocalText {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{Object, OneOf, schema::Type};

        let text = || Object::builder().schema_type(Type::String).min_length(Some(1));
        let by_language =
            LANGUAGES.into_iter().fold(Object::builder(), |all, code| all.property(code, text()));
        let by_language = by_language.additional_properties(Some(
            utoipa::openapi::schema::AdditionalProperties::<utoipa::openapi::Schema>::FreeForm(
                false,
            ),
        ));
        OneOf::builder()
            .item(text().description(Some("The same in every language")))
            .item(by_language.description(Some("By language")))
            .description(Some(
                "A plain text that visitors read: one for all, or one for each language",
            ))
            .into()
    }
}

// === impl TextBounds ===

impl TextBounds {
    /// Why `text` is refused.
    fn wrong(self, text: &str) -> Option<String> {
        let Self { characters, has_lines } = self;
        let is_refused = |c: &char| is_hidden(*c) && !(has_lines && *c == '\n');
        let count = text.chars().count();
        if text.trim().is_empty() {
            Some("is empty; null is for none".to_owned())
        } else if count > characters {
            Some(format!("must have at most {characters} characters, and has {count}"))
        } else {
            let found = text.chars().enumerate().find(|(_, c)| is_refused(c))?;
            let lines = if has_lines { "line breaks are \\n" } else { "it is one line" };
            Some(format!(
                "must be plain text, and its character {} is U+{:04X}, a control character: {lines}",
                found.0 + 1,
                u32::from(found.1)
            ))
        }
    }
}

/// Whether `c` shows nothing by itself, and changes how the text after it is shown.
fn is_hidden(c: char) -> bool {
    let separates_lines = matches!(c, '\u{2028}' | '\u{2029}');
    let overrides_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || separates_lines || overrides_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: TextBounds = TextBounds { characters: 10, has_lines: true };

    fn text(json: &str) -> LocalText {
        serde_json::from_str(json).unwrap()
    }

    fn wrong(json: &str) -> Vec<(String, String)> {
        let errors = text(json).errors("message", BOUNDS);
        errors.into_iter().map(|error| (error.field.to_string(), error.reason)).collect()
    }

    #[test]
    fn it_is_a_text_or_texts_by_language_both_ways() {
        for json in [r#""a""#, r#"{"de":"b","en":"a"}"#] {
            assert_eq!(serde_json::to_string(&text(json)).unwrap(), json);
            assert_eq!(wrong(json), []);
        }
        assert_eq!(
            text(r#"{"de":null,"en":"a"}"#),
            text(r#"{"en":"a"}"#),
            "a patch takes one away"
        );
        for json in ["5", r#"["a"]"#, r#"{"en":5}"#, r#"{"en":{}}"#] {
            assert!(serde_json::from_str::<LocalText>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_visitor_gets_the_first_language_that_there_is() {
        let all = text(r#"{"de":"d","en":"e","ja":"j"}"#);
        assert_eq!(all.in_one_of(&["ja", "de"]), Some(("j", Some("ja"))));
        assert_eq!(all.in_one_of(&["ko", "de"]), Some(("d", Some("de"))), "the room's");
        assert_eq!(all.in_one_of(&["ko", "fr"]), Some(("e", Some("en"))));
        assert_eq!(text(r#"{"pl":"p","it":"i"}"#).in_one_of(&["ko"]), Some(("i", Some("it"))));
        assert_eq!(text(r#"{"tlh":"t"}"#).in_one_of(&["en"]), None, "of a later release");
        assert_eq!(text(r#""same""#).in_one_of(&["ko"]), Some(("same", None)));
    }

    #[test]
    fn unknown_languages_are_named_with_those_that_there_are() {
        let found = wrong(r#"{"tlh":"t","en":"e","EN":"e"}"#);
        assert_eq!(
            found.iter().map(|(field, _)| &**field).collect::<Vec<_>>(),
            ["message.EN", "message.tlh"]
        );
        assert!(found[1].1.contains("en, de, fr, es, pt, it, nl, pl, ja, zh, ko, ar"), "{found:?}");
        assert_eq!(wrong("{}")[0].0, "message");
    }

    #[test]
    fn what_is_no_plain_text_is_refused() {
        assert_eq!(wrong(r#""1234567890""#), []);
        assert_eq!(wrong(r#""ääääääääää""#), [], "characters, not bytes");
        assert_eq!(wrong(r#""two\nlines""#), []);
        assert_eq!(wrong(r#""<b>&amp;""#), [], "it is shown as it is");
        assert!(wrong(r#""12345678901""#)[0].1.contains("at most 10 characters, and has 11"));
        let one_line = TextBounds { has_lines: false, ..BOUNDS };
        assert!(
            text(r#""a\nb""#).errors("title", one_line)[0].reason.contains("character 2 is U+000A")
        );
        for hidden in
            ["\\u0000", "\\r", "\\t", "\\u001b", "\\u0085", "\\u202e", "\\u2066", "\\u2028"]
        {
            assert!(wrong(&format!("\"a{hidden}b\""))[0].1.contains("is U+"), "{hidden}");
        }
        for empty in [r#""""#, r#"" \n""#, r#"{"de":" "}"#] {
            assert!(wrong(empty)[0].1.contains("is empty"), "{empty}");
        }
        assert_eq!(wrong(r#""a\u200fb""#), [], "marks of direction are text");
    }
}
