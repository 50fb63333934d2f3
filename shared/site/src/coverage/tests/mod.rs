//! Which room covers a request, also with paths that are written to evade it.

mod conflicts;

use proptest::prelude::*;

use super::*;
use crate::path::tests::tricky;

fn binding(routes: &[(&str, &str)]) -> SiteBinding {
    let route = |(host, path): &(&str, &str)| Route {
        host: host.parse().unwrap(),
        path: (*path).to_owned(),
    };
    SiteBinding { routes: routes.iter().map(route).collect(), ..SiteBinding::default() }
}

fn rooms(rooms: &[(&str, &[(&str, &str)])]) -> Vec<(String, SiteBinding)> {
    rooms.iter().map(|(room, routes)| (room.parse().unwrap(), binding(routes))).collect()
}

fn compiled(rooms: &[(String, SiteBinding)]) -> Coverage<String> {
    Coverage::new(rooms.iter().map(|(room, binding)| (room, binding)))
}

fn coverage(given: &[(&str, &[(&str, &str)])]) -> Coverage<String> {
    compiled(&rooms(given))
}

fn covering<'a>(coverage: &'a Coverage<String>, host: &str, raw: &str) -> Option<&'a str> {
    let found = coverage.covering(host, &RequestPath::parse(raw).unwrap()).unwrap();
    found.map(|(room, _)| room.as_str())
}

#[test]
fn a_path_covers_itself_and_what_is_below_by_whole_segments() {
    let coverage = coverage(&[("sale", &[("shop.example", "/sale"), ("shop.example", "/a/b/")])]);
    for path in ["/sale", "/sale/", "/sale/x", "/sale/x/y/z", "/a/b", "/a/b/", "/a/b/c"] {
        assert_eq!(covering(&coverage, "shop.example", path), Some("sale"), "{path}");
    }
    for path in ["/", "/sal", "/saleroom", "/x/sale", "/a", "/a/bc", "/b", ""] {
        assert_eq!(covering(&coverage, "shop.example", path), None, "{path}");
    }
    for host in ["SHOP.example", "shop.example:8443", "shop.example."] {
        assert_eq!(covering(&coverage, host, "/sale"), Some("sale"), "{host}");
    }
    for host in ["example", "www.shop.example", "shop.example.org", "xshop.example", ""] {
        assert_eq!(covering(&coverage, host, "/sale"), None, "{host}");
    }
}

#[test]
fn the_most_specific_route_wins() {
    let coverage = coverage(&[
        ("exact", &[("a.shop.example", "/sale")]),
        ("deep", &[("a.shop.example", "/sale/now")]),
        ("near", &[("*.shop.example", "/"), ("*.shop.example", "/sale/now/today")]),
        ("far", &[("*.example", "/sale"), ("*.example", "/")]),
    ]);
    let cases = [
        ("a.shop.example", "/sale", "exact"),
        ("a.shop.example", "/sale/nowhere", "exact"),
        ("a.shop.example", "/sale/now/today", "deep"),
        ("a.shop.example", "/other", "near"),
        ("b.shop.example", "/sale", "near"),
        ("b.a.shop.example", "/sale", "near"),
        ("shop.example", "/sale", "far"),
        ("other.example", "/", "far"),
    ];
    for (host, path, room) in cases {
        assert_eq!(covering(&coverage, host, path), Some(room), "{host}{path}");
    }
    assert_eq!(covering(&coverage, "example", "/sale"), None, "a wildcard is not its own name");
}

#[test]
fn no_spelling_of_a_path_evades_a_route() {
    let coverage = coverage(&[("sale", &[("shop.example", "/sale")])]);
    let tricks = [
        "/static/../sale",
        "/static/..%2fsale",
        "/static/%2e%2e/sale",
        "/static\\..\\sale",
        "//sale",
        "/%73ale",
        "/%2573ale",
        "/./sale",
        "/sale/..;/",
        "/x/..;/sale",
        "/sale;x=1",
        "/sale;x/..%3b1",
        "/sale%00",
        "/sale%00.css",
        "/sale#x",
        "/sale/../static",
        "/%73ale/x/..%2f..%2fy",
        "/s%61le/../x",
        "/sale/%ff",
        "/sale/%",
    ];
    for raw in tricks {
        assert_eq!(covering(&coverage, "shop.example", raw), Some("sale"), "{raw}");
    }
    let others =
        ["/static%00", "/%ff", "/%zz", "/static/..", "/salé", "/sal.e", "/.sale", "/%uZZZZ"];
    for raw in others {
        assert_eq!(covering(&coverage, "shop.example", raw), None, "{raw}");
    }
    let host = format!("{}shop.example", "a.".repeat(5_000));
    assert_eq!(covering(&coverage, &host, "/sale"), None);
    let long = format!("/x{}/sale", "/y/..".repeat(100));
    assert_eq!(covering(&coverage, "shop.example", &long), None);
    let long = format!("/x{}/../sale", "/y/..".repeat(100));
    assert_eq!(covering(&coverage, "shop.example", &long), Some("sale"));
}

/// Paths that servers of some kind give the page at `/sale` for, or what is below it.
const SAME_PAGE: [&str; 40] = [
    // Windows, and sites whose routes do not regard case.
    "/SALE",
    "/%53ale",
    "/sAlE/now",
    "/\u{17f}ale",
    "/sale.",
    "/sale...",
    "/sale%20",
    "/sale%20.%20/now",
    "/sale::$DATA",
    "/sale:$I30:$INDEX_ALLOCATION/now",
    // Handlers of formats, and scripts.
    "/sale.json",
    "/sale.JSON/",
    "/sale.tar.gz",
    "/sale.php/now",
    "/SALE.%20",
    "/index.php/sale",
    "/index.php/sale.json",
    "/front.php/sale/now",
    // Where ASP.NET keeps ids instead of in cookies.
    "/(S(x))/sale",
    "/(A(x)F(y))/sale/now",
    "/%28S%28x%29%29/SALE",
    // Patterns that end before the end of a line, and servers that take white space away.
    "/sale%0a",
    "/sale%0D%0A",
    "/sale%09",
    "/%20sale",
    "/sale%c2%a0",
    // IIS's own escapes, overlong UTF-8, and the nearest letter of another alphabet.
    "/%u0073ale",
    "/%U0073%u0061le",
    "/x/%u002e%u002e/sale",
    "/x%u2215..%u2215sale/../../sale",
    "/%c1%b3ale",
    "/%e0%81%b3ale",
    "/x/%c0%ae%c0%ae%c0%afsale",
    "/%uff53ale",
    "/%ef%bd%93ale",
    "/%25u0073ale",
    // The path is put together with something, and read again.
    "/sale%3fx",
    "/sale%3F.css",
    "/sale%23x",
    "/SALE;jsessionid=1.node",
];

#[test]
fn what_servers_take_for_the_same_page_is_held() {
    let coverage = coverage(&[("sale", &[("shop.example", "/sale")])]);
    for raw in SAME_PAGE {
        assert_eq!(covering(&coverage, "shop.example", raw), Some("sale"), "{raw}");
    }
}

#[test]
fn a_route_may_be_written_in_any_case_and_with_an_extension() {
    let coverage = coverage(&[
        ("a", &[("shop.example", "/Über.html"), ("shop.example", "/v1.0")]),
        ("b", &[("shop.example", "/v1.1"), ("shop.example", "/x/index.php/y")]),
    ]);
    let cases = [
        ("/ÜBER.HTML", Some("a")),
        ("/%C3%BCber.html.gz", Some("a")),
        ("/über", None),
        ("/V1.0/x", Some("a")),
        ("/v1.1.json", Some("b")),
        ("/v1.2", None),
        ("/x/INDEX.php/y/z", Some("b")),
        ("/x/index.php/z", None),
    ];
    for (raw, room) in cases {
        assert_eq!(covering(&coverage, "shop.example", raw), room, "{raw}");
    }
}

#[test]
fn the_most_exact_spelling_decides_between_rooms() {
    let coverage = coverage(&[
        ("page", &[("shop.example", "/sale")]),
        ("data", &[("shop.example", "/sale.json")]),
    ]);
    for (raw, room) in [("/SALE", "page"), ("/sale.xml", "page"), ("/Sale.Json/x", "data")] {
        assert_eq!(covering(&coverage, "shop.example", raw), Some(room), "{raw}");
    }
}

#[test]
fn where_readings_differ_the_most_specific_route_decides() {
    let coverage = coverage(&[
        ("all", &[("*.example", "/"), ("shop.example", "/")]),
        ("sale", &[("shop.example", "/sale")]),
    ]);
    for raw in ["/%2573ale", "/%u0073ale", "/sale;id=1", "/sa%09le", "/%c1%b3ale"] {
        assert_eq!(covering(&coverage, "shop.example", raw), Some("sale"), "{raw}");
    }
    assert_eq!(covering(&coverage, "shop.example", "/x;id=1"), Some("all"));
}

#[test]
fn a_path_that_leads_to_another_room_is_refused() {
    let coverage = coverage(&[
        ("all", &[("shop.example", "/")]),
        ("sale", &[("shop.example", "/sale")]),
        ("tickets", &[("shop.example", "/tickets"), ("a.example", "/tickets")]),
    ]);
    let refused = [
        "/sale/../tickets",
        "/tickets/..%2fsale",
        "/sale/..;/tickets",
        "/x/..;/sale",
        "/x/..%252fsale",
        "/sale/..;/../anything",
        "/sale/.%09./x",
        "//sale/tickets",
        "/\\tickets/sale",
        "///tickets/x/sale",
        "//sale",
        "/checkout.php/sale",
        "/index.php/sale/x",
    ];
    for raw in refused {
        let path = RequestPath::parse(raw).unwrap();
        assert_eq!(
            coverage.covering("shop.example", &path),
            Err(PathError::OfSeveralRooms),
            "{raw}"
        );
    }
    assert_eq!(covering(&coverage, "shop.example", "/sale/a/../b"), Some("sale"));
    assert_eq!(covering(&coverage, "a.example", "/tickets/../x"), Some("tickets"));
    assert_eq!(covering(&coverage, "a.example", "//x/tickets"), Some("tickets"));
    assert_eq!(covering(&coverage, "shop.example", "//x/y"), Some("all"));
    assert_eq!(covering(&coverage, "shop.example", "/checkout.php/x"), Some("all"));
    assert_eq!(covering(&coverage, "a.example", "/index.php/tickets"), Some("tickets"));
}

#[test]
fn a_script_before_the_rest_of_a_path_is_of_the_room_that_names_it() {
    let coverage = coverage(&[
        ("all", &[("*.example", "/")]),
        ("sale", &[("shop.example", "/sale"), ("shop.example", "/index.php/sale")]),
        ("pay", &[("shop.example", "/pay")]),
    ]);
    assert_eq!(covering(&coverage, "shop.example", "/index.php/sale/x"), Some("sale"));
    assert_eq!(covering(&coverage, "shop.example", "/pay/x.php/sale"), Some("pay"));
    assert_eq!(covering(&coverage, "shop.example", "/pay.php/sale"), Some("pay"));
    let path = RequestPath::parse("/checkout.php/sale").unwrap();
    assert_eq!(coverage.covering("shop.example", &path), Err(PathError::OfSeveralRooms));
}

#[test]
fn a_route_of_two_rooms_belongs_to_the_first_name() {
    let place: &[(&str, &str)] = &[("shop.example", "/sale")];
    let same: &[(&str, &str)] = &[("shop.example", "/sale/")];
    for order in [[("b", place), ("a", same)], [("a", place), ("b", same)]] {
        assert_eq!(covering(&coverage(&order), "shop.example", "/sale"), Some("a"));
    }
}

fn host() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x.a.example", "a.example", "example", "y.x.a.example"])
}

fn pattern() -> impl Strategy<Value = String> {
    (any::<bool>(), host())
        .prop_map(|(wild, host)| if wild { format!("*.{host}") } else { host.to_owned() })
}

fn plain_path() -> impl Strategy<Value = String> {
    let segment = prop::sample::select(vec!["a", "b", "ab"]);
    prop::collection::vec(segment, 0..4).prop_map(|parts| format!("/{}", parts.join("/")))
}

/// How specific the route is for this request, by host and then by path; `None` if it does not
/// cover it.
fn how_specific(route: &Route, host: &str, path: &str) -> Option<(bool, usize, usize)> {
    let name = route.host.name();
    let is_below = || host.ends_with(&format!(".{name}"));
    let host_fits = if route.host.is_wildcard() { is_below() } else { host == name };
    let below =
        route.path == "/" || path == route.path || path.starts_with(&format!("{}/", route.path));
    (host_fits && below).then_some((!route.host.is_wildcard(), name.len(), route.path.len()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_result_is_that_of_comparing_every_route(
        routes in prop::collection::vec((pattern(), plain_path()), 0..12),
        host in host(),
        path in plain_path(),
    ) {
        let routes: Vec<_> = routes.iter().map(|(host, path)| (host.as_str(), path.as_str())).collect();
        let binding = binding(&routes);
        let fitting = binding.routes.iter().filter(|route| how_specific(route, host, &path).is_some());
        let best = fitting.max_by_key(|route| how_specific(route, host, &path));
        let coverage = compiled(&[("sale".parse().unwrap(), binding.clone())]);
        let path = RequestPath::parse(&path).unwrap();
        prop_assert_eq!(coverage.covering(host, &path).unwrap().map(|(_, route)| route), best);
    }

    /// Which rooms a new route takes requests from is said before it is there.
    #[test]
    fn whoever_loses_a_request_is_told_before(
        had in prop::collection::vec((pattern(), plain_path()), 0..6),
        new in (pattern(), plain_path()),
        host in host(),
        path in plain_path(),
    ) {
        let had: Vec<_> = had.iter().map(|(host, path)| (host.as_str(), path.as_str())).collect();
        let new: &[_] = &[(new.0.as_str(), new.1.as_str())];
        let (before, both) = (coverage(&[("b", &had)]), coverage(&[("b", &had), ("c", new)]));
        if covering(&before, host, &path).is_some() && covering(&both, host, &path) == Some("c") {
            prop_assert_eq!(before.loses_to(&binding(new).routes[0]).map(String::as_str), Some("b"));
        }
    }

    #[test]
    fn a_path_whose_canonical_form_is_below_a_route_is_covered(raw in tricky()) {
        let coverage = coverage(&[("sale", &[("shop.example", "/sale")])]);
        let path = RequestPath::parse(&raw).unwrap();
        let is_below = |path: &str| path == "/sale" || path.starts_with("/sale/");
        if is_below(path.canonical()) || is_below(path.raw()) {
            let covered = coverage.covering("shop.example", &path).unwrap();
            prop_assert!(covered.is_some(), "{}", raw);
        }
    }
}
