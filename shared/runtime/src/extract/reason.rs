//! Turns a deserialisation error into the field it concerns and a reason for a person.
//!
//! Serde names a missing, unknown or repeated field only inside its message, so the name is taken
//! from there; and it quotes the value that it did not expect, which may be a secret, so that is left out. The tests pin
//! the wording that this relies on.

use std::{borrow::Cow, fmt::Display};

use crate::problem::{Problem, ProblemType};

/// Longest reason that is sent back, in characters: messages repeat what the client sent.
const MAX_REASON_CHARS: usize = 200;

/// A 400 for the error, with `detail` as the sentence about the whole.
pub(super) fn problem<E: Display>(
    detail: &'static str,
    error: &serde_path_to_error::Error<E>,
) -> Problem {
    let message = error.inner().to_string();
    let field = field_name(&error.path().to_string(), &message);
    Problem::new(ProblemType::InvalidRequest)
        .detail(detail)
        .field(field, shorten(&without_value(&message)))
}

/// Drops the position that `serde_json` appends, and whatever is too long.
pub(super) fn shorten(message: &str) -> String {
    let reason = message.rsplit_once(" at line ").map_or(message, |(reason, _)| reason);
    reason.chars().take(MAX_REASON_CHARS).collect()
}

/// The same without the value that serde quotes: what it is, is enough.
fn without_value(message: &str) -> Cow<'_, str> {
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        let expected = rest.rsplit_once("`, expected ").map_or("another", |(_, expected)| expected);
        return format!("unknown variant, expected {expected}").into();
    }
    for start in ["invalid type: ", "invalid value: "] {
        let rest = message.strip_prefix(start).and_then(|rest| rest.rsplit_once(", expected "));
        if let Some((found, expected)) = rest {
            let kind = found.split(['"', '`']).next().unwrap_or_default().trim_end();
            return format!("{start}{kind}, expected {expected}").into();
        }
    }
    message.into()
}

fn field_name(path: &str, message: &str) -> String {
    // The path of the value being read; "." is the whole document, "?" an unknown place.
    let parent = if matches!(path, "." | "?") { "" } else { path };
    match named_in(message) {
        Some(name) if parent.is_empty() => name.to_owned(),
        Some(name) if message.starts_with("missing") => format!("{parent}.{name}"),
        // Here the path already ends with the field in question.
        _ => parent.to_owned(),
    }
}

fn named_in(message: &str) -> Option<&str> {
    let rest = ["missing field `", "unknown field `", "duplicate field `"]
        .iter()
        .find_map(|start| message.strip_prefix(start))?;
    rest.split_once('`').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors are looked at")]
    struct Outer {
        count: u32,
        inner: Option<Inner>,
        list: Option<Vec<Inner>>,
        choice: Option<Choice>,
    }

    #[derive(Debug, Deserialize)]
    enum Choice {
        One,
        Two,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors are looked at")]
    struct Inner {
        inner: u32,
    }

    fn explain(text: &str) -> (String, String) {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let error = serde_path_to_error::deserialize::<_, Outer>(&mut deserializer).unwrap_err();
        let problem = problem("wrong", &error);
        let error = problem.errors().first().cloned();
        error.map(|error| (error.field.into_owned(), error.reason.into_owned())).unwrap_or_default()
    }

    #[test]
    fn the_field_is_named_wherever_it_is() {
        let cases = [
            (r"{}", "count"),
            (r#"{"count": "x"}"#, "count"),
            (r#"{"count": 1, "more": 1}"#, "more"),
            (r#"{"count": 1, "count": 2}"#, "count"),
            (r#"{"count": 1, "inner": {}}"#, "inner.inner"),
            (r#"{"count": 1, "inner": {"inner": -1}}"#, "inner.inner"),
            (r#"{"count": 1, "inner": {"inner": 1, "more": 1}}"#, "inner.more"),
            (r#"{"count": 1, "list": [{"inner": 1}, {}]}"#, "list[1].inner"),
            (r"[]", ""),
        ];
        for (text, field) in cases {
            assert_eq!(explain(text).0, field, "{text}");
        }
    }

    #[test]
    fn the_reason_is_readable_and_bounded() {
        assert_eq!(explain(r"{}").1, "missing field `count`");
        let long = format!(r#"{{"count": 1, "{}": 1}}"#, "x".repeat(5_000));
        assert_eq!(explain(&long).1.chars().count(), MAX_REASON_CHARS);
    }

    #[test]
    fn no_value_is_quoted() {
        for (text, reason) in [
            (r#"{"count": "hunter2, expected `x`"}"#, "invalid type: string, expected u32"),
            (r#"{"count": -27}"#, "invalid value: integer, expected u32"),
            (r#"{"count": 27.5}"#, "invalid type: floating point, expected u32"),
            (r#"{"count": true}"#, "invalid type: boolean, expected u32"),
            (r#"{"count": null}"#, "invalid type: null, expected u32"),
            (r#"{"count": [27]}"#, "invalid type: sequence, expected u32"),
            (
                r#"{"count": 1, "choice": "hunter2`, expected `x"}"#,
                "unknown variant, expected `One` or `Two`",
            ),
        ] {
            assert_eq!(explain(text).1, reason, "{text}");
        }
    }
}
