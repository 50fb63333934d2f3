//! Which bindings are refused, and which field the error names.

use super::*;

fn binding(json: &str) -> SiteBinding {
    serde_json::from_str(json).unwrap()
}

fn fields(binding: &SiteBinding) -> Vec<String> {
    binding.errors().into_iter().map(|error| error.field.into_owned()).collect()
}

fn rule(when: &str) -> SiteBinding {
    binding(&format!(
        r#"{{"country_header":"x-country","bypass_rules":[{{"name":"r","when":{when}}}]}}"#
    ))
}

#[test]
fn the_defaults_are_sound() {
    let binding = binding("{}");
    assert_eq!(binding, SiteBinding::default());
    assert_eq!(binding.errors(), []);
    assert_eq!((binding.queueing_status_code, binding.default_language.as_str()), (200, "en"));
    assert!(binding.branding.is_default());
    let written = serde_json::to_value(&binding).unwrap();
    assert_eq!(written.get("branding"), None);
    let of_a_later_release = r#"{"of_a_later_release":[]}"#;
    assert_eq!(
        serde_json::from_str::<SiteBinding>(of_a_later_release).unwrap(),
        SiteBinding::default()
    );
}

#[test]
fn a_full_binding_is_sound_and_is_written_as_it_was_read() {
    let json = concat!(
        r#"{"routes":[{"host":"shop.example","path":"/sale"},{"host":"*.shop.example","path":"/"}],"#,
        r#""bypass_rules":[{"name":"r","enabled":true,"when":{"country":{"is":"DE"}}}],"#,
        r#""country_header":"CF-IPCountry","#,
        r#""cookie":{"same_site":"none","secure":"always","partitioned":true,"suffix":"eu"},"#,
        r#""access_token_cookie":true,"seats_end_with":"session","origin_commands":["revoke"],"#,
        r#""cors_origins":["https://shop.example"],"return_origins":["http://a.example:8443"],"#,
        r#""oidc_clients":[{"id":"shop","name":"","redirect_uris":["https://shop.example/cb"],"#,
        r#""public":true,"secret_hashes":[]}],"#,
        r#""queueing_status_code":503,"#,
        r##""default_language":"ar","accent_colour":"#8a1c4a","logo_alt":{"en":"Shop"},"##,
        r#""branding":{"html":"<p>"}}"#,
    );
    let binding = binding(json);
    assert_eq!(binding.errors(), []);
    assert_eq!(serde_json::to_string(&binding).unwrap(), json);
}

#[test]
fn a_wrong_field_is_named_with_its_path() {
    let cases = [
        (r#"{"routes":[{"host":"a.b","path":"x"}]}"#, "routes[0].path"),
        (r#"{"routes":[{"host":"a.b"},{"host":"a.b","path":"/Sale*"}]}"#, "routes[1].path"),
        (r#"{"routes":[{"host":"a.b"},{"host":"A.b","path":"/"}]}"#, "routes[1]"),
        (r#"{"routes":[{"host":"a.b","path":"/x"},{"host":"a.b","path":"/x/"}]}"#, "routes[1]"),
        (r#"{"country_header":""}"#, "country_header"),
        (r#"{"country_header":"a b"}"#, "country_header"),
        (r#"{"cookie":{"same_site":"none","secure":"never"}}"#, "cookie.same_site"),
        (r#"{"cookie":{"partitioned":true,"secure":"never"}}"#, "cookie.partitioned"),
        (r#"{"cookie":{"suffix":""}}"#, "cookie.suffix"),
        (r#"{"cookie":{"suffix":"a.b"}}"#, "cookie.suffix"),
        (r#"{"queueing_status_code":201}"#, "queueing_status_code"),
        (r#"{"default_language":"EN"}"#, "default_language"),
        (r#"{"default_language":"xx"}"#, "default_language"),
        (r#"{"logo_alt":{"xx":"Shop"}}"#, "logo_alt.xx"),
    ];
    for (json, field) in cases {
        assert_eq!(fields(&binding(json)), [field], "{json}");
    }
    let suffix = |length| format!(r#"{{"cookie":{{"suffix":"{}"}}}}"#, "x".repeat(length));
    assert_eq!(fields(&binding(&suffix(32))), [""; 0]);
    assert_eq!(fields(&binding(&suffix(33))), ["cookie.suffix"]);
    for status in QUEUEING_STATUS_CODES {
        assert_eq!(fields(&binding(&format!(r#"{{"queueing_status_code":{status}}}"#))), [""; 0]);
    }
}

#[test]
fn a_wrong_condition_is_named_with_its_path() {
    let cases = [
        (r#"{"all":[]}"#, ".all"),
        (r#"{"any":[]}"#, ".any"),
        (r#"{"path":{"present":true}}"#, ".path.present"),
        (r#"{"method":{"present":false}}"#, ".method.present"),
        (r#"{"path":{"in":[]}}"#, ".path.in"),
        (r#"{"path":{"starts_with":""}}"#, ".path.starts_with"),
        (r#"{"path":{"contains":""}}"#, ".path.contains"),
        (r#"{"query":{"name":"","is":""}}"#, ".query.name"),
        (r#"{"header":{"name":"a b","is":""}}"#, ".header.name"),
        (r#"{"cookie":{"name":"a=b","is":""}}"#, ".cookie.name"),
        (r#"{"client":{"in":[]}}"#, ".client.in"),
        (r#"{"all":[{"method":{"is":"GET"}},{"not":{"any":[]}}]}"#, ".all[1].not.any"),
    ];
    for (when, way) in cases {
        assert_eq!(fields(&rule(when)), [format!("bypass_rules[0].when{way}")], "{when}");
    }
    assert_eq!(fields(&rule(r#"{"query":{"name":"x y","is":""}}"#)), [""; 0]);
    let untold = r#"{"bypass_rules":[{"name":"r","when":{"country":{"is":"DE"}}}]}"#;
    assert_eq!(fields(&binding(untold)), ["bypass_rules[0].when.country"]);
    for name in ["", "a\\nb"] {
        let json = format!(
            r#"{{"bypass_rules":[{{"name":"{name}","when":{{"method":{{"is":"GET"}}}}}}]}}"#
        );
        assert_eq!(fields(&binding(&json)), ["bypass_rules[0].name"], "{name}");
    }
}

#[test]
fn every_list_and_text_is_bounded() {
    let route = |index| format!(r#"{{"host":"h{index}.example"}}"#);
    let routes = |count| {
        let routes: Vec<_> = (0..count).map(route).collect();
        binding(&format!(r#"{{"routes":[{}]}}"#, routes.join(",")))
    };
    assert_eq!(fields(&routes(100)), [""; 0]);
    assert_eq!(fields(&routes(101)), ["routes"]);

    for list in ["cors_origins", "return_origins"] {
        let origins = |count| {
            let origins: Vec<_> =
                (0..count).map(|one| format!(r#""https://h{one}.example""#)).collect();
            binding(&format!(r#"{{"{list}":[{}]}}"#, origins.join(",")))
        };
        assert_eq!(fields(&origins(100)), [""; 0]);
        assert_eq!(fields(&origins(101)), [list]);
    }

    let get = r#"{"method":{"is":"GET"}}"#;
    let rules = |count| {
        let rules = vec![format!(r#"{{"name":"r","when":{get}}}"#); count];
        binding(&format!(r#"{{"bypass_rules":[{}]}}"#, rules.join(",")))
    };
    assert_eq!(fields(&rules(100)), [""; 0]);
    assert_eq!(fields(&rules(101)), ["bypass_rules"]);

    let wide = |count| rule(&format!(r#"{{"any":[{}]}}"#, vec![get; count].join(",")));
    assert_eq!(fields(&wide(999)), [""; 0]);
    assert_eq!(fields(&wide(1_000)), ["bypass_rules"]);

    let deep = |depth: usize| {
        rule(&format!("{}{get}{}", r#"{"not":"#.repeat(depth - 1), "}".repeat(depth - 1)))
    };
    assert_eq!(fields(&deep(8)), [""; 0]);
    let way = format!("bypass_rules[0].when{}", ".not".repeat(8));
    assert_eq!(fields(&deep(9)), [way]);

    let text = |length: usize| rule(&format!(r#"{{"path":{{"in":["{}"]}}}}"#, "x".repeat(length)));
    assert_eq!(fields(&text(1_024)), [""; 0]);
    assert_eq!(fields(&text(1_025)), ["bypass_rules[0].when.path.in[0]"]);

    let list =
        |length| rule(&format!(r#"{{"path":{{"in":[{}]}}}}"#, vec![r#""x""#; length].join(",")));
    assert_eq!(fields(&list(1_000)), [""; 0]);
    assert_eq!(fields(&list(1_001)), ["bypass_rules[0].when.path.in"]);
}
