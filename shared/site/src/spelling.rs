//! The spellings of a segment of a path that servers take for the same name: in other case, with dots or white space
//! at its end, with an extension. Unlike readings (`path`) these do not say what a path means; they only say that
//! some server may answer with the page of that name. Holding a request is the safe side, so coverage compares by
//! them; of bypass rules only what they ask a path *not* to be.

use std::borrow::Cow;

/// Where an extension (`sale.json`) or a stream of a file on Windows (`sale:$DATA`) begins.
const MARKS: [char; 2] = ['.', ':'];

/// The segment in the form by which segments are compared: in lower case, without white space around it and dots at
/// its end. One that has nothing else stays.
pub(crate) fn folded(segment: &str) -> Cow<'_, str> {
    let trimmed = segment.trim_start_matches(is_blank);
    let trimmed = trimmed.trim_end_matches(|c| is_blank(c) || c == '.');
    let trimmed = if trimmed.is_empty() { segment } else { trimmed };
    in_one_case(trimmed)
}

/// The text in the form by which letters are compared.
pub(crate) fn in_one_case(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return text.into();
    }
    // By way of upper case, where more letters are the same: the long s is an S.
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// How many extensions the segment may have.
pub(crate) fn marks(segment: &str) -> usize {
    segment.matches(MARKS).count()
}

/// The names that the segment may stand for, the longest first: itself, and without its extensions from the
/// last one, of which a name keeps at most `most_marks`.
pub(crate) fn names(segment: &str, most_marks: usize) -> impl Iterator<Item = Cow<'_, str>> {
    let ends = segment.match_indices(MARKS).map(|(at, _)| at).filter(|at| *at > 0);
    let ends: Vec<_> = ends.take(most_marks + 1).collect();
    let whole = [segment.len()].into_iter();
    whole.chain(ends.into_iter().rev()).map(|end| folded(&segment[..end]))
}

/// Whether servers may pass over the segment: that of a script which is given the rest of the path (`/index.php/sale`),
/// or one in which ASP.NET keeps ids instead of in cookies (`/(S(x))/sale`).
pub(crate) fn is_passed_over(segment: &str) -> bool {
    let name = folded(segment);
    let has_ids = name.strip_prefix('(').and_then(|name| name.strip_suffix("))"));
    let has_ids = has_ids.is_some_and(
        |name| matches!(name.as_bytes(), [kind, b'(', ..] if kind.is_ascii_alphabetic()),
    );
    has_ids || name.starts_with("index.") || name.ends_with(".php")
}

/// What a path may stand for, in one case: itself, the same with folded segments, without extensions, and without
/// what servers pass over.
pub(crate) fn forms(path: &str) -> [String; 4] {
    let joined = |segments: &[Cow<'_, str>]| segments.join("/");
    let written: Vec<_> = path.split('/').collect();
    let whole: Vec<_> = written.iter().map(|segment| folded(segment)).collect();
    let bare: Vec<_> = written.iter().filter_map(|segment| names(segment, 0).last()).collect();
    let is_kept = |(segment, _): &(&&str, &Cow<'_, str>)| !is_passed_over(segment);
    let behind: Vec<_> =
        written.iter().zip(&bare).filter(is_kept).map(|(_, bare)| bare.clone()).collect();
    [in_one_case(path).into_owned(), joined(&whole), joined(&bare), joined(&behind)]
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_compared_by_what_servers_compare() {
        for spelling in ["sale", "SALE", "sale.", " Sale. .", "sale\n", "\u{17f}ale", "sale\u{a0}"]
        {
            assert_eq!(folded(spelling), "sale", "{spelling:?}");
        }
        for other in ["...", ".", " ", "", "sa le", ".sale", "sale~", "-"] {
            assert_eq!(folded(other), other);
        }
    }

    #[test]
    fn a_name_keeps_no_more_extensions_than_any_route() {
        let all = |segment, most| names(segment, most).collect::<Vec<_>>();
        assert_eq!(all("Sale.tar.gz", 0), ["sale.tar.gz", "sale"]);
        assert_eq!(all("Sale.tar.gz", 1), ["sale.tar.gz", "sale.tar", "sale"]);
        assert_eq!(all("sale::$DATA", 0), ["sale::$data", "sale"]);
        assert_eq!(all(".git", 5), [".git"]);
        assert_eq!(all(&format!("a{}", ".".repeat(2_000)), 3).len(), 5);
    }

    #[test]
    fn what_servers_pass_over_is_known_by_its_form() {
        for over in
            ["index.php", "INDEX.html", "front.PHP", "(S(x))", "(A(x)F(y))", "(s())", " (S(x)). "]
        {
            assert!(is_passed_over(over), "{over}");
        }
        for not in ["sale", "php", "(sale)", "(S(x)", "S(x))", "((x))", "(1(x))", "()", "(S(x))y"] {
            assert!(!is_passed_over(not), "{not}");
        }
    }

    #[test]
    fn a_path_has_its_forms_and_keeps_its_slashes() {
        let expected =
            ["/index.php/sale .json/", "/index.php/sale .json/", "/index/sale/", "/sale/"];
        assert_eq!(forms("/Index.php/Sale .json/"), expected);
        assert_eq!(forms("/"), ["/"; 4]);
    }
}
