//! Which requests match bypass rules, and the JSON form of rules.

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;
use crate::{Headers, RequestPath, path::tests::tricky};

/// The headers of a test request.
struct Given(Vec<(String, String)>);

impl Headers for Given {
    fn values(&self, name: &str) -> Vec<&str> {
        let named = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }
}

fn given(headers: &[(&str, &str)]) -> Given {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Given(headers.iter().map(owned).collect())
}

const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9));

fn request<'a>(raw_path: &str, query: &'a str, headers: &'a Given) -> Request<'a> {
    let path = RequestPath::parse(raw_path).unwrap();
    Request { host: "shop.example", path, query, method: "GET", client: CLIENT, headers }
}

fn rule(json: &str) -> BypassRule {
    let when = serde_json::from_str(json).unwrap();
    BypassRule { name: "rule".into(), enabled: true, when }
}

fn binding(rules: Vec<BypassRule>) -> SiteBinding {
    let country_header = Some("X-Country".to_owned());
    SiteBinding { bypass_rules: rules, country_header, ..SiteBinding::default() }
}

fn passes(json: &str, request: &Request<'_>) -> bool {
    binding(vec![rule(json)]).bypassed_by(request).is_some()
}

#[test]
fn each_part_of_a_request_can_be_tested() {
    let headers = given(&[
        ("X-Key", "one"),
        ("x-key", "two"),
        ("Cookie", "a=1; b = 2;c"),
        ("cookie", "a=3"),
        ("x-country", "de"),
    ]);
    let request = request("/static/a.css", "x=1&y=a%20b&x=2&z", &headers);
    let cases = [
        (r#"{"path":{"is":"/static/a.css"}}"#, true),
        (r#"{"path":{"is":"/static"}}"#, false),
        (r#"{"path":{"in":["/x","/static/a.css"]}}"#, true),
        (r#"{"path":{"in":["/x"]}}"#, false),
        (r#"{"path":{"starts_with":"/static/"}}"#, true),
        (r#"{"path":{"ends_with":".css"}}"#, true),
        (r#"{"path":{"contains":"tic/"}}"#, true),
        (r#"{"path":{"contains":"TIC/"}}"#, false),
        (r#"{"method":{"in":["HEAD","GET"]}}"#, true),
        (r#"{"method":{"is":"get"}}"#, false),
        (r#"{"query":{"name":"x","is":"2"}}"#, true),
        (r#"{"query":{"name":"x","is":"3"}}"#, false),
        (r#"{"query":{"name":"y","is":"a b"}}"#, true),
        (r#"{"query":{"name":"z","is":""}}"#, true),
        (r#"{"query":{"name":"z","present":true}}"#, true),
        (r#"{"query":{"name":"w","present":false}}"#, true),
        (r#"{"query":{"name":"x","present":false}}"#, false),
        (r#"{"header":{"name":"x-KEY","is":"two"}}"#, true),
        (r#"{"header":{"name":"x-other","contains":"o"}}"#, false),
        (r#"{"header":{"name":"x-key","starts_with":"o"}}"#, true),
        (r#"{"cookie":{"name":"a","is":"3"}}"#, true),
        (r#"{"cookie":{"name":"b","is":"2"}}"#, true),
        (r#"{"cookie":{"name":"A","present":true}}"#, false),
        (r#"{"cookie":{"name":"c","present":true}}"#, false),
        (r#"{"client":{"in":["10.0.0.0/8","203.0.113.0/24"]}}"#, true),
        (r#"{"client":{"in":["10.0.0.0/8"]}}"#, false),
        (r#"{"country":{"in":["AT","De"]}}"#, true),
        (r#"{"country":{"is":"AT"}}"#, false),
        (r#"{"not":{"country":{"is":"AT"}}}"#, true),
        (r#"{"all":[{"method":{"is":"GET"}},{"path":{"ends_with":".css"}}]}"#, true),
        (r#"{"all":[{"method":{"is":"GET"}},{"path":{"ends_with":".js"}}]}"#, false),
        (r#"{"any":[{"method":{"is":"PUT"}},{"path":{"ends_with":".css"}}]}"#, true),
        (r#"{"any":[{"method":{"is":"PUT"}},{"path":{"ends_with":".js"}}]}"#, false),
    ];
    for (json, expected) in cases {
        assert_eq!(passes(json, &request), expected, "{json}");
    }
}

#[test]
fn an_ipv4_mapped_address_is_an_ipv4_address() {
    let headers = given(&[]);
    let dressed = "::ffff:203.0.113.9".parse().unwrap();
    let request = Request { client: dressed, ..request("/", "", &headers) };
    assert!(passes(r#"{"client":{"in":["203.0.113.0/24"]}}"#, &request));
}

#[test]
fn without_the_header_there_is_no_country() {
    let headers = given(&[("X-Country", "DE")]);
    let mut binding = binding(vec![rule(r#"{"country":{"is":"DE"}}"#)]);
    assert!(binding.bypassed_by(&request("/", "", &headers)).is_some());
    binding.country_header = None;
    assert!(binding.bypassed_by(&request("/", "", &headers)).is_none());
}

#[test]
fn a_country_that_is_told_more_than_once_is_not_known() {
    let twice = given(&[("X-Country", "DE"), ("x-country", "US")]);
    let same = given(&[("X-Country", "DE"), ("X-Country", "DE")]);
    let list = given(&[("X-Country", "DE, US")]);
    for headers in [&twice, &same, &list] {
        let request = request("/", "", headers);
        for when in [
            r#"{"country":{"is":"DE"}}"#,
            r#"{"country":{"in":["DE","US","DE, US"]}}"#,
            r#"{"country":{"contains":"D"}}"#,
            r#"{"country":{"present":true}}"#,
            r#"{"country":{"present":false}}"#,
            r#"{"not":{"country":{"is":"DE"}}}"#,
            r#"{"not":{"country":{"is":"FR"}}}"#,
            r#"{"not":{"not":{"country":{"is":"DE"}}}}"#,
        ] {
            assert!(!passes(when, &request), "{when} {:?}", headers.0);
        }
        let other = r#"{"any":[{"country":{"is":"DE"}},{"path":{"is":"/"}}]}"#;
        assert!(passes(other, &request), "what does not ask for the country");
    }
}

#[test]
fn no_rule_is_about_the_address_of_a_client_whose_address_is_not_known() {
    let headers = given(&[]);
    for unknown in ["::", "0.0.0.0"] {
        let request = Request { client: unknown.parse().unwrap(), ..request("/", "", &headers) };
        for when in [
            r#"{"client":{"in":["::/0","0.0.0.0/0"]}}"#,
            r#"{"not":{"client":{"in":["192.0.2.0/24"]}}}"#,
        ] {
            assert!(!passes(when, &request), "{when}");
        }
    }
}

#[test]
fn a_path_with_several_readings_is_held() {
    let headers = given(&[]);
    let is_static = r#"{"path":{"starts_with":"/static/"}}"#;
    for raw in ["/static/a.css", "/static/a%20b.css", "/static/%C3%BC.css", "/static/a;v=1"] {
        assert!(passes(is_static, &request(raw, "", &headers)), "{raw}");
    }
    let tricks = [
        "/static/../sale",
        "/static/..%2fsale",
        "/static/%2e%2e/sale",
        "/static/..;/sale",
        "/static\\..\\sale",
        "/static/..%5csale",
        "/static/%252e%252e/sale",
        "/sale/../static/a.css",
        "/%73tatic/a.css",
        "//static/a.css",
        "/./static/a.css",
        "/static/..///static/a.css",
        "/static/../static%2fa.css",
        "/static///../static%2fa.css",
    ];
    for raw in tricks {
        assert!(!passes(is_static, &request(raw, "", &headers)), "{raw}");
    }
    let ends = r#"{"path":{"ends_with":".css"}}"#;
    for raw in ["/sale;.css", "/sale%00.css", "/sale#.css", "/sale/x%3b.css"] {
        assert!(!passes(ends, &request(raw, "", &headers)), "{raw}");
    }
    let exactly = r#"{"path":{"is":"/static"}}"#;
    assert!(passes(exactly, &request("/static", "", &headers)));
    for raw in ["/static%00", "/STATIC", "/static/", "/static/."] {
        assert!(!passes(exactly, &request(raw, "", &headers)), "{raw}");
    }
    let not_sale = r#"{"not":{"path":{"starts_with":"/sale"}}}"#;
    for raw in ["/sale", "/%73ale", "/x/../sale", "/sale/../x", "/x/..%2fsale", "/x/..;/sale"] {
        assert!(!passes(not_sale, &request(raw, "", &headers)), "{raw}");
    }
}

#[test]
fn what_a_path_must_not_be_it_must_not_be_in_any_spelling() {
    let headers = given(&[]);
    let rules = [
        r#"{"not":{"path":{"starts_with":"/sale"}}}"#,
        r#"{"not":{"path":{"is":"/sale"}}}"#,
        r#"{"not":{"any":[{"path":{"in":["/Sale","/x"]}},{"method":{"is":"PUT"}}]}}"#,
        r#"{"all":[{"method":{"is":"GET"}},{"not":{"not":{"not":{"path":{"is":"/sale"}}}}}]}"#,
    ];
    let tricks =
        ["/SALE", "/sale.json", "/sale.", "/sale%20", "/%20sale", "/index.php/sale", "/%u0073ale"];
    for (rule, raw) in rules.iter().flat_map(|rule| tricks.map(|raw| (rule, raw))) {
        assert!(!passes(rule, &request(raw, "", &headers)), "{rule} {raw}");
        assert!(passes(rule, &request("/other", "", &headers)), "{rule}");
    }
    let twice = r#"{"not":{"not":{"path":{"is":"/static"}}}}"#;
    assert!(passes(twice, &request("/static", "", &headers)));
    assert!(
        !passes(twice, &request("/STATIC", "", &headers)),
        "what it must be it must be exactly"
    );
}

#[test]
fn the_first_enabled_rule_that_matches_wins() {
    let named =
        |name: &str, enabled, json: &str| BypassRule { name: name.into(), enabled, ..rule(json) };
    let binding = binding(vec![
        named("off", false, r#"{"path":{"is":"/a"}}"#),
        named("other", true, r#"{"path":{"is":"/b"}}"#),
        named("first", true, r#"{"path":{"starts_with":"/a"}}"#),
        named("second", true, r#"{"method":{"is":"GET"}}"#),
    ]);
    let headers = given(&[]);
    let request = request("/a", "", &headers);
    let (index, by) = binding.bypassed_by(&request).unwrap();
    assert_eq!((index, by.name.as_str()), (2, "first"));
    let verdicts = binding.verdicts(&request);
    let said: Vec<_> = verdicts.iter().map(|said| (said.index, said.matched)).collect();
    assert_eq!(said, [(0, true), (1, false), (2, true), (3, true)]);
    assert_eq!(verdicts[0].rule.name, "off");
}

#[test]
fn rules_are_written_as_they_were_read() {
    let json = concat!(
        r#"{"name":"r","enabled":false,"when":{"all":[{"not":{"any":[{"path":{"in":["/a"]}}]}},"#,
        r#"{"query":{"name":"x","starts_with":"1"}},{"cookie":{"name":"x","present":true}},"#,
        r#"{"header":{"name":"x","ends_with":"1"}},{"client":{"in":["10.0.0.0/8","::1"]}},"#,
        r#"{"country":{"contains":"D"}},{"method":{"is":"GET"}}]}}"#,
    );
    let read: BypassRule = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
    let short = r#"{"name":"r","when":{"method":{"is":"GET"}}}"#;
    assert!(serde_json::from_str::<BypassRule>(short).unwrap().enabled);
}

#[test]
fn an_invalid_condition_is_refused_with_the_reason() {
    let cases = [
        ("{}", "exactly one of `all`"),
        (r#"{"path":{"is":"/"},"method":{"is":"GET"}}"#, "and has 2"),
        (r#"{"path":{}}"#, "exactly one of `is`"),
        (r#"{"path":{"is":"/a","contains":"b"}}"#, "and has 2"),
        (r#"{"path":{"matches":"/a"}}"#, "unknown field `matches`"),
        (r#"{"path":{"is":5}}"#, "expected a string"),
        (r#"{"colour":{"is":"red"}}"#, "unknown field `colour`"),
        (r#"{"query":{"is":"1"}}"#, "missing field `name`"),
        (r#"{"query":{"name":"x"}}"#, "and has 0"),
        (r#"{"query":{"name":"x","is":"1","in":["1"]}}"#, "and has 2"),
        (r#"{"query":{"name":"x","is":"1","as":"2"}}"#, "unknown field `as`"),
        (r#"{"client":{"in":["10.0.0.0/8","home"]}}"#, "\"home\" is neither"),
        (r#"{"client":{"is":"10.0.0.1"}}"#, "unknown field `is`"),
    ];
    for (json, reason) in cases {
        let error = serde_json::from_str::<Condition>(json).unwrap_err().to_string();
        assert!(error.contains(reason), "{json}: {error}");
    }
    let unknown = r#"{"name":"r","when":{"method":{"is":"GET"}},"then":1}"#;
    assert!(serde_json::from_str::<BypassRule>(unknown).is_err());
}

fn condition() -> impl Strategy<Value = Condition> {
    let compared = prop::sample::select(vec!["/sale", "/x", "a", "GET", ".."]);
    let test = (0..6, compared).prop_map(|(kind, text)| {
        let text = text.to_owned();
        match kind {
            0 => TextTest::Is(text),
            1 => TextTest::In(vec![text, "/".into()]),
            2 => TextTest::StartsWith(text),
            3 => TextTest::EndsWith(text),
            4 => TextTest::Contains(text),
            _ => TextTest::Present(text.len() > 2),
        }
    });
    let leaf = (0..4, test).prop_map(|(kind, test)| match kind {
        0 => Condition::Method(test),
        1 => Condition::Query(NamedTest { name: "a".into(), test }),
        2 => Condition::Header(NamedTest { name: "a".into(), test }),
        _ => Condition::Path(test),
    });
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Condition::All),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Condition::Any),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

fn matches(when: &Condition, request: &Request<'_>) -> bool {
    let rule = BypassRule { name: "rule".into(), enabled: true, when: when.clone() };
    binding(vec![rule]).bypassed_by(request).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn not_inverts(
        when in condition(),
        path in prop::sample::select(vec!["/", "/sale", "/x/a", "/a"]),
        query in prop::sample::select(vec!["", "a=a", "a=/sale&a"]),
    ) {
        let headers = given(&[("a", "a")]);
        let request = request(path, query, &headers);
        let not = Condition::Not(Box::new(when.clone()));
        prop_assert_ne!(matches(&when, &request), matches(&not, &request));
    }

    #[test]
    fn a_rule_that_matches_holds_for_every_reading(when in condition(), raw in tricky()) {
        let headers = given(&[("a", "a")]);
        let tricky = request(&raw, "a=a", &headers);
        if matches(&when, &tricky) {
            for path in tricky.path.readings() {
                prop_assert!(when.holds(&tricky, path, None), "{} read as {}", raw, path);
            }
            let not = Condition::Not(Box::new(when.clone()));
            prop_assert!(!matches(&not, &tricky));
        }
    }
}
