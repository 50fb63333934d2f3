//! What two rooms may not both have, and what one would take from another.

use super::*;

#[test]
fn routes_of_other_rooms_are_conflicts_and_own_ones_are_not() {
    let others = coverage(&[
        ("a", &[("shop.example", "/sale"), ("*.shop.example", "/")]),
        ("b", &[("shop.example", "/tickets")]),
    ]);
    let room = "b".parse().unwrap();
    let wanted = binding(&[
        ("shop.example", "/tickets"),
        ("shop.example", "/sale/"),
        ("shop.example", "/sale/now"),
        ("*.shop.example", "/"),
        ("shop.example", "/"),
        ("shop.example", "/SALE"),
    ]);
    let conflicts = others.conflicts(&room, &wanted);
    let named = |room: &String| format!("the room {room}");
    let errors: Vec<_> = conflicts.iter().map(|conflict| conflict.error(named)).collect();
    let fields: Vec<_> = errors.iter().map(|error| error.field.as_ref()).collect();
    assert_eq!(fields, ["routes[1]", "routes[3]", "routes[5]"]);
    assert_eq!(errors[0].reason, "shop.example/sale/ is covered by the room a already");
    assert_eq!(others.conflicts(&room, &binding(&[])), []);
}

#[test]
fn a_room_loses_requests_to_what_is_more_specific() {
    let others = coverage(&[
        ("vip", &[("v.example", "/shop"), ("*.w.example", "/shop")]),
        ("all", &[("a.example", "/")]),
    ]);
    let loses = |host: &str, path: &str| {
        let route = Route { host: host.parse().unwrap(), path: path.to_owned() };
        others.loses_to(&route).map(String::as_str)
    };
    for (host, path, room) in [
        ("v.example", "/shop/checkout", "vip"),
        ("v.example", "/SHOP/x", "vip"),
        // It covers `/shop.json/x` and `/index.php/shop`, too.
        ("v.example", "/shop.json", "vip"),
        ("v.example", "/index.php", "vip"),
        ("a.example", "/x", "all"),
        ("a.w.example", "/shop", "vip"),
        ("a.w.example", "/", "vip"),
        ("*.b.w.example", "/shop/x", "vip"),
        ("*.w.example", "/shop/x", "vip"),
    ] {
        assert_eq!(loses(host, path), Some(room), "{host}{path}");
    }
    for (host, path) in [
        ("v.example", "/"),
        ("v.example", "/shops"),
        ("v.example", "/other.json"),
        ("*.example", "/shop/checkout"),
        ("a.w.example", "/other"),
        ("w.example", "/shop"),
        ("c.example", "/"),
        ("v.example", "/shop/"),
        ("a.example", "/"),
    ] {
        assert_eq!(loses(host, path), None, "{host}{path}");
    }
}

#[test]
fn two_rooms_cannot_have_the_same_cookie() {
    let suffix = |suffix: &str| {
        let mut binding = binding(&[]);
        binding.cookie.suffix = Some(suffix.to_owned());
        binding
    };
    let (a, b) = ("a".to_owned(), "b".to_owned());
    let others = compiled(&[(a.clone(), suffix("shop"))]);
    let taken = [Conflict::Cookie { ending: "shop".into(), room: a.clone() }];
    assert_eq!(others.conflicts(&b, &suffix("shop")), taken);
    assert_eq!(others.conflicts(&"shop".parse().unwrap(), &binding(&[])), taken, "a room's name");
    assert_eq!(others.conflicts(&b, &suffix("a")), [], "whose cookies have another name");
    assert_eq!(others.conflicts(&a, &suffix("shop")), []);
    let of_token = "the name of the token's cookie is that of the other's ticket";
    assert_eq!(others.conflicts(&b, &suffix("token_shop")), taken, "{of_token}");
    let others = compiled(&[(a.clone(), suffix("token_shop"))]);
    let taken = [Conflict::Cookie { ending: "token_shop".into(), room: a }];
    assert_eq!(others.conflicts(&b, &suffix("shop")), taken, "{of_token}");
}
