//! What paths come to, and that no trick hides one.

use proptest::prelude::*;

use super::*;

fn readings(raw: &str) -> Vec<String> {
    RequestPath::new(raw).readings().map(ToOwned::to_owned).collect()
}

#[test]
fn the_canonical_form_is_that_of_a_careful_gateway() {
    let cases = [
        ("/", "/"),
        ("", "/"),
        ("sale", "/sale"),
        ("/sale", "/sale"),
        ("/sale/", "/sale/"),
        ("/SALE", "/SALE"),
        ("/static/../sale", "/sale"),
        ("/static/..%2fsale", "/sale"),
        ("/static/..%2Fsale", "/sale"),
        ("/static/%2e%2E/sale", "/sale"),
        ("/static\\..\\sale", "/sale"),
        ("/static/..%5csale", "/sale"),
        ("//sale", "/sale"),
        ("///sale//x", "/sale/x"),
        ("/%73ale", "/sale"),
        ("/./sale", "/sale"),
        ("/sale/.", "/sale/"),
        ("/sale/..", "/"),
        ("/sale/x/..", "/sale/"),
        ("/../../sale", "/sale"),
        ("/sale/..;/", "/sale/..;/"),
        ("/...", "/..."),
        ("/%C3%BCber", "/über"),
        ("/a%20b", "/a b"),
        ("/%2573ale", "/%73ale"),
        ("/static%00", "/static\0"),
        ("/%ff", "/\u{FFFD}"),
        ("/100%", "/100%"),
        ("/%2", "/%2"),
        ("/%zz", "/%zz"),
        ("/%%73", "/%s"),
    ];
    for (raw, canonical) in cases {
        let path = RequestPath::new(raw);
        assert_eq!(path.canonical(), canonical, "{raw}");
        assert_eq!(path.raw(), raw);
    }
}

#[test]
fn a_plain_path_reads_in_one_way() {
    for raw in ["/", "/sale", "/sale/", "/a/b.html", "/a..b/c", "/a-b_c~d", "/SALE", "/über"] {
        assert_eq!(readings(raw), [raw]);
    }
}

#[test]
fn an_escape_that_is_needed_is_no_trick() {
    assert_eq!(readings("/%C3%BCber/a%20b"), ["/über/a b"]);
    assert_eq!(readings("/%73ale"), ["/sale", "/%73ale"], "this one is not needed");
    assert_eq!(readings("/%ff"), ["/\u{FFFD}", "/%ff"], "nor does this one make a text");
}

/// Paths that some site behind the gateway takes for `/sale` or below, though the canonical form
/// is another.
#[test]
fn every_way_to_read_a_path_is_seen() {
    let cases = [
        ("/sale;id=1", "/sale"),
        ("/sale/..;/", "/"),
        ("/x/..;/sale", "/sale"),
        ("/x/y/..;a=b/..;/sale", "/sale"),
        ("/sale%00.css", "/sale"),
        ("/sale#x", "/sale"),
        ("/%2573ale", "/sale"),
        ("/%73ale/..%2f..%2fx", "/sale/../../x"),
        ("/a/b%2fc/../sale", "/a/sale"),
        ("/%73ale/b\\c/../../x", "/x"),
        ("/%73ale/x/..\\..\\y", "/sale/x/..\\..\\y"),
        ("/a/b//../../sale", "/a/sale"),
        ("/%73ale/..%252fx", "/sale/../x"),
        ("/sale/../x", "/sale/../x"),
        ("/;\\x/sale", "/sale"),
        ("/;%2fx/sale", "/sale"),
        ("/sale/%2e/..", "/sale/"),
    ];
    for (raw, reading) in cases {
        let all = readings(raw);
        assert!(all.iter().any(|one| one == reading), "{raw}: {reading} is not in {all:?}");
    }
}

#[test]
fn the_worst_path_is_still_read() {
    let raw = "/%2e%2e;%5c..%252f%00#".repeat(RequestPath::MAX_LENGTH / 22);
    assert!(readings(&raw).len() <= 65);
    let long = format!("/sale{}", "/a".repeat(100_000));
    assert_eq!(readings(&long), [long]);
}

/// A path of pieces that gateways and sites are known to disagree on.
pub(crate) fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("/"),
        2 => Just("sale"),
        1 => prop::sample::select(vec![
            "%73ale", "x", "..", ".", "//", "\\", "%2f", "%5C", "%2e", ";", ";a=b", "%3b", "%00",
            "%252f", "%252e%252e", "%2573ale", "%ff", "%", "#", "ü", "%C3%BC", "/../", "/..;/",
        ]),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| format!("/{}", pieces.concat()))
}

/// A path in which nothing stands for something else.
fn escaped(path: &str) -> String {
    path.replace('%', "%25")
}

/// How sites read paths, written down a second time and without a care for speed.
mod sites {
    fn decode(text: &str) -> String {
        percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
    }

    fn resolve<'a>(segments: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        segments.fold(Vec::new(), |mut kept, segment| {
            match segment {
                ".." => drop(kept.pop()),
                "." => {}
                _ => kept.push(segment),
            }
            kept
        })
    }

    fn joined(segments: &[&str]) -> String {
        let kept: Vec<_> = segments.iter().copied().filter(|part| !part.is_empty()).collect();
        format!("/{}", kept.join("/"))
    }

    /// Nginx: decode, merge, resolve; nothing after `#`.
    pub(super) fn merging(raw: &str) -> String {
        let path = decode(raw.split('#').next().unwrap());
        joined(&resolve(path.split('/').filter(|part| !part.is_empty())))
    }

    /// A servlet container: cut the parameters, decode, resolve as RFC 3986 has it.
    pub(super) fn servlet(raw: &str) -> String {
        let plain = raw.split('/').map(|part| part.split(';').next().unwrap());
        let path = decode(&plain.collect::<Vec<_>>().join("/"));
        joined(&resolve(path.split('/').skip(1)))
    }

    /// A router in a scripting language: resolve what is written, then decode each segment.
    pub(super) fn splitting(raw: &str) -> String {
        let decoded = resolve(raw.split('/').skip(1)).into_iter().map(decode);
        let decoded: Vec<_> = decoded.collect();
        joined(&decoded.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A server of another system: both slashes, and texts that end at a NUL.
    pub(super) fn backslashes(raw: &str) -> String {
        let path = decode(raw).replace('\\', "/");
        let path = path.split('\0').next().unwrap();
        joined(&resolve(path.split('/').filter(|part| !part.is_empty())))
    }
}

fn is_sale(path: &str) -> bool {
    path == "/sale" || path.starts_with("/sale/")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_canonical_form_is_its_own(raw in tricky()) {
        let path = RequestPath::new(&raw);
        let again = RequestPath::new(&escaped(path.canonical()));
        prop_assert_eq!(again.canonical(), path.canonical());
    }

    #[test]
    fn the_canonical_form_has_nothing_to_resolve(raw in prop_oneof![any::<String>(), tricky()]) {
        let path = RequestPath::new(&raw);
        prop_assert!(path.canonical().starts_with('/'));
        for part in ["//", "/../", "/./", "\\"] {
            prop_assert!(!path.canonical().contains(part), "{}", path.canonical());
        }
        prop_assert!(!path.canonical().ends_with("/.."));
    }

    #[test]
    fn whatever_a_site_reads_is_among_the_readings(raw in tricky()) {
        let sites = [sites::merging, sites::servlet, sites::splitting, sites::backslashes];
        let path = RequestPath::new(&raw);
        for (index, site) in sites.into_iter().enumerate() {
            let read = site(&raw);
            prop_assert!(
                !is_sale(&read) || path.readings().any(is_sale),
                "site {} reads {} as {}", index, raw, read
            );
        }
    }
}
