//! Templates: the syntax of the specification, and the bounds.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn values(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object is needed") };
    map
}

fn render(template: &str, value: Value) -> String {
    Template::parse(template).unwrap().render(&values(value), &["plain"]).unwrap()
}

fn refused(template: &str) -> (usize, String) {
    let problem = Template::parse(template).unwrap_err();
    (problem.line, problem.reason)
}

#[test]
fn variables_are_escaped_unless_marked_otherwise() {
    let text = json!({ "x": "<b a=\"1\">&'", "n": 5, "t": true });
    assert_eq!(render("{{x}}", text.clone()), "&lt;b a&#x3D;&quot;1&quot;&gt;&amp;&#39;");
    assert_eq!(render("{{{x}}}|{{& x}}|{{{ n }}}", text.clone()), "<b a=\"1\">&'|<b a=\"1\">&'|5");
    assert_eq!(render("{{ n }} {{t}} [{{missing}}]", text), "5 true []");
    let plain = json!({ "plain": "<" });
    let everywhere = "{{plain}}{{{plain}}}{{&plain}}{{#plain}}{{{.}}}{{/plain}}";
    assert_eq!(render(everywhere, plain), "&lt;".repeat(4));
}

#[test]
fn sections_show_what_is_set_and_inverted_ones_what_is_not() {
    let all = json!({ "yes": true, "no": false, "zero": 0, "one": 1, "empty": "", "text": "x" });
    for (name, is_shown) in [
        ("yes", true),
        ("no", false),
        ("zero", false),
        ("one", true),
        ("empty", false),
        ("text", true),
        ("missing", false),
    ] {
        let template = format!("{{{{#{name}}}}}A{{{{/{name}}}}}{{{{^{name}}}}}B{{{{/{name}}}}}");
        assert_eq!(render(&template, all.clone()), if is_shown { "A" } else { "B" }, "{name}");
    }
    assert_eq!(render("{{#text}}{{.}}{{#yes}}{{one}}{{/yes}}{{/text}}", all), "x1");
}

#[test]
fn comments_and_standalone_tags_leave_no_lines_behind() {
    let yes = json!({ "a": true, "b": false });
    assert_eq!(render("1\n{{! note }}\n2\n", yes.clone()), "1\n2\n");
    assert_eq!(render("1\r\n  {{#a}}\r\n2\r\n  {{/a}}\r\n3", yes.clone()), "1\r\n2\r\n3");
    assert_eq!(render("1 {{#a}} 2 {{/a}} 3", yes.clone()), "1  2  3");
    assert_eq!(render("{{#a}}\nx\n{{/a}}", yes.clone()), "x\n");
    assert_eq!(render("  {{#a}} {{/a}}\n", yes.clone()), "   \n");
    assert_eq!(render("{{!\n two lines }}\n{{a}}", yes.clone()), "true");
    assert_eq!(render("{{=<% %>=}}\n<% a %>{{a}}<%={{ }}=%>{{a}}", yes), "true{{a}}true");
}

#[test]
fn errors_name_the_line() {
    assert_eq!(refused("\n\n{{#a}}\n"), (3, "the section `a` is never closed".into()));
    assert_eq!(refused("a\n{{/b}}"), (2, "`/b` closes a section that is not open".into()));
    assert_eq!(refused("{{#a}}\n{{/b}}"), (2, "`/b` comes before the end of `a`".into()));
    assert_eq!(refused("x\n{{x"), (2, "`{{` is never closed".into()));
    assert_eq!(refused("{{{x}}"), (1, "`{{` is never closed".into()));
    assert_eq!(refused("\n{{> ../../etc/passwd}}").0, 2);
    assert_eq!(refused("{{}}"), (1, "`` is not the name of a variable".into()));
    assert_eq!(refused("{{a b}}"), (1, "`a b` is not the name of a variable".into()));
    assert_eq!(refused("{{=x=}}").0, 1);
}

#[test]
fn the_lines_of_names_are_right_after_standalone_tags_and_long_texts() {
    let template =
        Template::parse("{{a}}\n{{#b}}\n\n{{c}}\n{{/b}}\ntext\n{{!\n\n}}\n{{d}}").unwrap();
    let names: Vec<_> = template.names.iter().map(|(name, line)| (&**name, *line)).collect();
    assert_eq!(names, [("a", 1), ("b", 2), ("c", 4), ("d", 10)]);
}

#[test]
fn depth_and_output_are_bounded() {
    let nested = |depth| "{{#a}}".repeat(depth) + &"{{/a}}".repeat(depth);
    assert!(Template::parse(&nested(MAX_DEPTH)).is_ok());
    assert!(Template::parse(&nested(MAX_DEPTH + 1)).is_err());
    let long = Template::parse(&"{{a}}".repeat(10_000)).unwrap();
    let value = values(json!({ "a": "x".repeat(1_000) }));
    assert!(long.render(&value, &[]).unwrap_err().reason.contains("too long"));
}

proptest! {
    #[test]
    fn no_template_makes_it_fail_otherwise(text in "([{}]{1,3}|[#^/!&=>]| |\n|a|<|é){0,40}") {
        if let Ok(template) = Template::parse(&text) {
            let rendered = template.render(&values(json!({ "a": "<" })), &[]);
            prop_assert!(rendered.is_ok());
        }
    }
}
