//! The readings of paths, also of those that are written to hide another path.

use proptest::prelude::*;

use super::*;

fn readings(raw: &str) -> Vec<String> {
    RequestPath::parse(raw).unwrap().readings().map(ToOwned::to_owned).collect()
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
        let path = RequestPath::parse(raw).unwrap();
        assert_eq!(path.canonical(), canonical, "{raw}");
        assert_eq!(path.raw(), raw);
    }
}

#[test]
fn a_plain_path_has_one_reading() {
    for raw in ["/", "/sale", "/sale/", "/a/b.html", "/a..b/c", "/a-b_c~d", "/SALE", "/über"] {
        assert_eq!(readings(raw), [raw]);
    }
}

#[test]
fn a_needed_escape_adds_no_reading() {
    assert_eq!(readings("/%C3%BCber/a%20b"), ["/über/a b"]);
    assert_eq!(readings("/%73ale"), ["/sale", "/%73ale"], "this one is not needed");
    assert_eq!(readings("/%ff"), ["/\u{FFFD}", "/%ff"], "nor does this one make a text");
}

/// Paths that some site behind the gateway reads as `/sale` or below, although their canonical form
/// is another.
#[test]
fn every_reading_of_a_path_is_found() {
    let cases = [
        ("/sale;id=1", "/sale"),
        ("/sale/..;/", "/"),
        ("/x/..;/sale", "/sale"),
        ("/x/y/..;a=b/..;/sale", "/sale"),
        ("/sale%00.css", "/sale"),
        ("/sale#x", "/sale"),
        ("/sa%09le", "/sale"),
        ("/s%250Aale/%0d", "/sale/"),
        ("/x/.%09./sale", "/sale"),
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
        ("/s%61le/../x", "/sale/../x"),
        ("/s%2561le/%252e./x", "/sale/../x"),
        ("/s%61le/../%%3fx", "/sale/../%?x"),
        ("/sale;e/..%3b3", "/sale/..;3"),
        ("/x;e/y%2f..%3b3/../../../sale", "/sale"),
        ("//x/sale", "/sale"),
        ("/\\x/sale/buy", "/sale/buy"),
        ("///x:80/sale", "/sale"),
        ("//x/about/../%73ale", "/sale"),
        ("//x", "/"),
    ];
    for (raw, reading) in cases {
        let all = readings(raw);
        assert!(all.iter().any(|one| one == reading), "{raw}: {reading} is not in {all:?}");
    }
}

/// What a path costs, in bytes that are read: those of every way of reading it, or of the path alone if it is plain
/// or refused.
fn work(raw: &str) -> usize {
    match RequestPath::parse(raw) {
        Ok(path) if !path.readings.is_empty() => {
            let behind_a_host = 2 * usize::from(literal::behind_a_host(raw).is_some());
            let others = reading::others(raw).len() + literal::readings(raw).len();
            raw.len() * (others + behind_a_host + 2)
        }
        _ => raw.len(),
    }
}

#[test]
fn the_worst_path_costs_at_most_three_times_the_plain_one() {
    let plain = work(&format!("/{}", "a".repeat(RequestPath::MAX_LENGTH - 1)));
    let parts =
        ["/%2e%2e;%5c..%252f%00#", "/%61", "/a;b=%3c", "/..;%2f", "/%25u0073//..", "/%c0%ae"];
    for part in parts {
        for times in 1..=RequestPath::MAX_LENGTH / part.len() {
            let cost = work(&part.repeat(times));
            assert!(cost <= 3 * plain, "{times} times {part}: {cost}, a plain path {plain}");
        }
    }
}

#[test]
fn a_path_that_costs_too_much_is_refused_with_the_reason() {
    let error = |raw: &str| RequestPath::parse(raw).unwrap_err().to_string();
    assert!(error(&format!("/{}", "a".repeat(RequestPath::MAX_LENGTH))).contains("2048 bytes"));
    assert!(error(&"/%2e%2e;%5c..%252f%00#".repeat(10)).contains("so many ways"));
    let long = format!("/{}", "%C3%BC;v=1/".repeat(RequestPath::MAX_LENGTH / 11));
    assert_eq!(readings(&long).len(), 2, "what browsers may well send is read");
}

/// A path made of parts that gateways and sites are known to read differently.
pub(crate) fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("/"),
        2 => Just("sale"),
        1 => prop::sample::select(vec![
            "%73ale", "x", "..", ".", "//", "\\", "%2f", "%5C", "%2e", ";", ";a=b", "%3b", "%00",
            "%252f", "%252e%252e", "%2573ale", "%ff", "%", "#", "ü", "%C3%BC", "/../", "/..;/",
            "%u0073ale", "%u002e", "%c0%ae", "%c0%af", "%3f", "%23", "..%3b",
        ]),
    ];
    prop::collection::vec(piece, 0..12)
        .prop_map(|pieces| format!("/{}", pieces.concat()))
        .prop_filter("is read", |raw| RequestPath::parse(raw).is_ok())
}

/// The path with `%` escaped, so that decoding gives it back.
fn escaped(path: &str) -> String {
    path.replace('%', "%25")
}

/// How sites read paths, implemented a second time in the simplest way.
mod sites {
    fn decode(text: &str) -> String {
        percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
    }

    fn resolve<'a>(segments: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        segments.fold(Vec::new(), |mut resolved, segment| {
            match segment {
                ".." => drop(resolved.pop()),
                "." => {}
                _ => resolved.push(segment),
            }
            resolved
        })
    }

    fn joined(segments: &[&str]) -> String {
        let resolved: Vec<_> = segments.iter().copied().filter(|part| !part.is_empty()).collect();
        format!("/{}", resolved.join("/"))
    }

    /// Nginx: decodes, merges, resolves, and cuts at `#`.
    pub(super) fn merging(raw: &str) -> String {
        let path = decode(raw.split('#').next().unwrap());
        joined(&resolve(path.split('/').filter(|part| !part.is_empty())))
    }

    /// A servlet container: cuts the parameters, decodes, resolves by RFC 3986.
    pub(super) fn servlet(raw: &str) -> String {
        let plain = raw.split('/').map(|part| part.split(';').next().unwrap());
        let path = decode(&plain.collect::<Vec<_>>().join("/"));
        joined(&resolve(path.split('/').skip(1)))
    }

    /// A router in a scripting language: resolves the path as written, then decodes each segment.
    pub(super) fn splitting(raw: &str) -> String {
        let decoded = resolve(raw.split('/').skip(1)).into_iter().map(decode);
        let decoded: Vec<_> = decoded.collect();
        joined(&decoded.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A server on Windows: both kinds of slashes, and strings that end at a NUL.
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
        let path = RequestPath::parse(&raw).unwrap();
        match RequestPath::parse(&escaped(path.canonical())) {
            Ok(again) => prop_assert_eq!(again.canonical(), path.canonical()),
            // Escaped once more it is longer, and a long one may be too ambiguous.
            Err(error) => prop_assert_eq!(error, PathError::TooAmbiguous),
        }
    }

    #[test]
    fn the_canonical_form_has_nothing_to_resolve(raw in prop_oneof![".{0,40}", tricky()]) {
        let path = RequestPath::parse(&raw).unwrap();
        prop_assert!(path.canonical().starts_with('/'));
        for part in ["//", "/../", "/./", "\\"] {
            prop_assert!(!path.canonical().contains(part), "{}", path.canonical());
        }
        prop_assert!(!path.canonical().ends_with("/.."));
    }

    #[test]
    fn what_a_site_reads_is_among_the_readings(raw in tricky()) {
        let sites = [sites::merging, sites::servlet, sites::splitting, sites::backslashes];
        let path = RequestPath::parse(&raw).unwrap();
        for (index, site) in sites.into_iter().enumerate() {
            let read = site(&raw);
            prop_assert!(
                !is_sale(&read) || path.readings().any(is_sale),
                "site {} reads {} as {}", index, raw, read
            );
        }
    }
}
