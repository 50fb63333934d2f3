//! How many values a document in JSON has, before it is read: what is kept of a value may take a hundred times the room of
//! its two bytes. YAML's reader has a bound of its own.

use vestibule_runtime::{Problem, ProblemType};

/// The most values, where a list or an object counts twice for what it is kept in: some 150 MB, and enough for a thousand
/// rooms with ten events each.
const MOST: usize = 500_000;

/// Refuses a document of too many values.
///
/// # Errors
/// 413, which says the bound.
pub(crate) fn check_size(json: &[u8]) -> Result<(), Problem> {
    if values(json) <= MOST {
        return Ok(());
    }
    let detail =
        format!("it may have at most {MOST} values, of which a list or an object counts as two");
    Err(Problem::new(ProblemType::PayloadTooLarge).detail(detail))
}

/// How many there are, or a few more. Whether it is JSON is not known here.
fn values(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => count += 2,
            b',' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_what_texts_have_in_them_is_not() {
        for (json, count) in [("1", 1), ("[1,2]", 4), (r#"{"a":[],"b":{}}"#, 8)] {
            assert_eq!(values(json.as_bytes()), count, "{json}");
        }
        assert_eq!(values(br#"["[,{\",[\\",1]"#), 4);
    }

    #[test]
    fn a_document_of_too_many_values_is_refused_with_the_bound() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(check_size(list(MOST - 2).as_bytes()).is_ok());
        let refused = check_size(list(MOST).as_bytes()).unwrap_err();
        assert!(format!("{refused:?}").contains("at most 500000 values"), "{refused:?}");
        assert!(check_size("[{},".repeat(400_000).as_bytes()).is_err());
        let text = format!("\"{}\"", "[,".repeat(MOST));
        assert!(check_size(text.as_bytes()).is_ok(), "one long text");
    }
}
