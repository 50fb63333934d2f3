//! YAML as operators write it: read, for people with the line of each part, and written so that it reads as what it was.
//! JSON is YAML, too. What a document may have in it is not known here. Whoever sends one may be nobody's friend, so what
//! is kept of it is no longer than what was sent, aliases counted as often as they are used.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};
use serde_saphyr::{Options, Spanned};

/// How deep lists and members may be in one another: rooms need less than half of it.
const MAX_DEPTH: usize = 24;
/// The longest path whose line is kept, in bytes: nothing that a document may have has a longer one.
const LONGEST_PATH: usize = 512;

/// A document that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Yaml {
    /// What it says.
    pub(crate) value: Value,
    /// The line of each part by its path, such as `rooms.sale.routes[0].host`; the first is 1.
    pub(crate) lines: BTreeMap<String, u64>,
}

/// A text that is no YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct NotYaml {
    /// Where, if that is known.
    pub(crate) line: Option<u64>,
    /// What is wrong, with the place.
    pub(crate) reason: String,
}

/// A part with the lines of what is below it.
enum Node {
    Leaf(Value),
    List(Vec<Spanned<Node>>),
    Members(Vec<(Spanned<String>, Spanned<Node>)>),
}

/// Reads a text, and where its parts are.
///
/// # Errors
/// If it is no YAML, has a name twice, is nested too deep, or is more than one document.
pub(crate) fn read(text: &str) -> Result<Yaml, NotYaml> {
    let node: Spanned<Node> = serde_saphyr::from_str_with_options(text, options())?;
    let mut lines = BTreeMap::new();
    let value = node.value.into_value(Some(""), &mut lines);
    Ok(Yaml { value, lines })
}

/// Reads a text without its lines.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_value(text: &str) -> Result<Value, NotYaml> {
    Ok(serde_saphyr::from_str_with_options(text, options())?)
}

/// Writes a document.
///
/// # Errors
/// If it cannot be written, which documents of the API always can.
pub(crate) fn write(document: &impl Serialize) -> Result<String, serde_saphyr::ser::Error> {
    // Long texts stay as they are: only line ends make a block.
    let options = serde_saphyr::ser_options! { folded_wrap_chars: 1_000_000 };
    serde_saphyr::to_string_with_options(document, options)
}

/// As YAML 1.2 has it: `yes` and `no` are texts, and so is `0755`.
fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH },
    }
}

// === impl NotYaml ===

impl From<serde_saphyr::Error> for NotYaml {
    fn from(error: serde_saphyr::Error) -> Self {
        // The library tells programmers what to set; whoever wrote the text has nothing to set.
        let reason =
            error.to_string().replace(", set DuplicateKeyPolicy in Options if acceptable", "");
        Self { line: error.location().map(|at| at.line()), reason }
    }
}

// === impl Node ===

impl Node {
    /// What it says; notes the lines of its parts, the first of which is at `path`. Below a path that is too long none are
    /// noted.
    fn into_value(self, path: Option<&str>, lines: &mut BTreeMap<String, u64>) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::List(parts) => {
                let parts = parts.into_iter().enumerate().map(|(index, part)| {
                    let path = path.map(|path| format!("{path}[{index}]"));
                    let path = note(path, part.referenced.line(), lines);
                    part.value.into_value(path.as_deref(), lines)
                });
                parts.collect()
            }
            Self::Members(members) => {
                let members = members.into_iter().map(|(name, part)| {
                    let path = path.map(|path| match path {
                        "" => name.value.clone(),
                        path => format!("{path}.{}", name.value),
                    });
                    let path = note(path, name.referenced.line(), lines);
                    (name.value, part.value.into_value(path.as_deref(), lines))
                });
                members.collect::<Map<_, _>>().into()
            }
        }
    }
}

/// Notes the line of a path, and returns it, if it is not too long.
fn note(path: Option<String>, line: u64, lines: &mut BTreeMap<String, u64>) -> Option<String> {
    let path = path.filter(|path| path.len() <= LONGEST_PATH)?;
    lines.insert(path.clone(), line);
    Some(path)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

// === impl Reader ===

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(part) = parts.next_element()? {
            list.push(part);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(member) = members.next_entry()? {
            list.push(member);
        }
        Ok(Node::Members(list))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_has_its_line_and_its_kind() {
        let text = "# rooms\nx-small: &small\n  total_active_users: 5\nrooms:\n  sale:\n    <<: *small\n    \
            queue_all: yes\n    at: 2026-11-05T10:00:00Z\n    code: 0755\n    none:\n    routes:\n    - host: a\n    \
            - {host: b}\n    page: |\n      <p>\n        x\n";
        let yaml = read(text).unwrap();
        assert_eq!(
            yaml.value["rooms"]["sale"],
            json!({
                "total_active_users": 5, "queue_all": "yes", "at": "2026-11-05T10:00:00Z", "code": "0755",
                "none": null, "routes": [{"host": "a"}, {"host": "b"}], "page": "<p>\n  x\n",
            })
        );
        for (path, line) in [
            ("rooms", 4),
            ("rooms.sale", 5),
            ("rooms.sale.queue_all", 7),
            ("rooms.sale.routes[1].host", 13),
            ("rooms.sale.page", 14),
        ] {
            assert_eq!(yaml.lines[path], line, "{path}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        for (text, line, reason) in [
            ("a: 1\na: 2\n", 2, "duplicate"),
            ("a: [1\n", 1, "unclosed"),
            ("a: 1\n---\nb: 2\n", 3, "multiple"),
        ] {
            let wrong = read(text).unwrap_err();
            assert_eq!(wrong.line, Some(line), "{wrong}");
            assert!(wrong.reason.contains(reason), "{wrong}");
            assert!(
                !wrong.reason.contains("Options"),
                "nothing to do for whoever wrote it: {wrong}"
            );
        }
        assert_eq!(read("").unwrap().value, Value::Null);
    }

    #[test]
    fn an_anchor_that_grows_without_end_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            text = format!("{text}a{level}: &a{level} [{below}]\n");
        }
        assert!(read(&text).is_err());
    }

    #[test]
    fn lines_take_no_more_room_than_the_text() {
        let text = format!("? {}\n: [{}]\n", "x".repeat(20_000), "1, ".repeat(2_000));
        let kept: usize = read(&text).unwrap().lines.keys().map(String::len).sum();
        assert!(kept < text.len(), "{kept} bytes");
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).is_ok() && read_value(&nested(MAX_DEPTH)).is_ok());
        for depth in [MAX_DEPTH + 1, 60, 10_000] {
            assert!(read(&nested(depth)).is_err() && read_value(&nested(depth)).is_err());
        }
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z0-9:#\\- \n\t~\"'{}<>|&*!%@`é]{0,40}".prop_map(Value::from),
            prop::sample::select(vec![
                "no", "null", "1", "0755", "1e3", "=", "<<", "y", "-", "", "\r\n"
            ])
            .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z0-9_.~<\\-]{1,8}", inner, 0..4)
                    .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_reads_as_what_it_was(value in document()) {
            let text = write(&value).unwrap();
            prop_assert_eq!(read(&text).map(|yaml| yaml.value), Ok(value.clone()), "{}", text);
            prop_assert_eq!(read_value(&text), Ok(value.clone()), "{}", text);
            prop_assert_eq!(read(&value.to_string()).map(|yaml| yaml.value), Ok(value));
        }
    }
}
