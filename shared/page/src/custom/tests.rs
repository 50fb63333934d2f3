//! Operators' own pages: which are refused, and how they are rendered.

use super::*;
use crate::mustache::MAX_OUTPUT;

fn problems(html: &str) -> Vec<(usize, String)> {
    let problems = CustomPage::check(html).unwrap_err();
    problems.into_iter().map(|problem| (problem.line, problem.reason)).collect()
}

fn rendered(template: &str, sample: PreviewSample) -> String {
    let page = CustomPage::check(template).unwrap();
    page.render(&sample.view("room", Language::En)).unwrap().html
}

/// Every variable of the form and of templates.
const VARIABLES: [&str; 33] = [
    "inWaitingRoom",
    "waitTimeKnown",
    "waitTime",
    "waitTime25Percentile",
    "waitTime50Percentile",
    "waitTime75Percentile",
    "waitTimeFormatted",
    "waitTimeHours",
    "waitTimeHourMinutes",
    "queueIsFull",
    "queueAll",
    "lastUpdated",
    "refreshIntervalSeconds",
    "queueingMethod",
    "isFIFOQueue",
    "isRandomQueue",
    "isPassthroughQueue",
    "isRejectQueue",
    "isEventActive",
    "isEventPrequeueing",
    "timeUntilEventStart",
    "timeUntilEventStartFormatted",
    "timeUntilEventEnd",
    "timeUntilEventEndFormatted",
    "shuffleAtEventStart",
    "turnstile",
    "infiniteQueue",
    "title",
    "message",
    "logo",
    "logoAlt",
    "accentColour",
    "soldOut",
];

#[test]
fn a_page_with_every_variable_and_the_usual_structure_works_unchanged() {
    let all = VARIABLES.map(|name| format!("{name}={{{{{{{name}}}}}}}\n")).concat();
    let html = rendered(&all, PreviewSample::Waiting);
    assert!(html.contains("waitTime=10\n") && html.contains("waitTimeKnown=true\n"));
    assert!(html.contains("waitTimeHours=0\n") && html.contains("waitTimeHourMinutes=10\n"));
    assert!(html.contains("turnstile=\n") && !html.contains('{'));
    let usual = "{{#waitTimeKnown}}about {{waitTimeFormatted}}{{/waitTimeKnown}}\
        {{^waitTimeKnown}}{{#queueAll}}held{{/queueAll}}{{^queueAll}}unknown{{/queueAll}}{{/waitTimeKnown}}\
        {{#isEventPrequeueing}}, starts in {{timeUntilEventStartFormatted}}{{/isEventPrequeueing}}\
        {{#turnstile}}{{{turnstile}}}{{/turnstile}}";
    assert_eq!(rendered(usual, PreviewSample::Waiting), "about 10 minutes");
    assert_eq!(rendered(usual, PreviewSample::Random), "about 5 minutes to 15 minutes");
    assert_eq!(rendered(usual, PreviewSample::UnknownWait), "unknown");
    assert_eq!(rendered(usual, PreviewSample::QueueAll), "held");
    assert_eq!(
        rendered(usual, PreviewSample::Prequeue),
        "about 10 minutes, starts in 19 minutes".replace("about 10 minutes", "unknown")
    );
}

#[test]
fn what_the_operator_says_is_a_variable_and_never_markup() {
    let own = "{{title}}|{{#message}}{{{message}}}{{{.}}}{{/message}}|{{accentColour}}|{{#soldOut}}out{{/soldOut}}";
    let page = CustomPage::check(own).unwrap();
    let settings = serde_json::from_str(r#"{"title":"T","message":"<b>","closed_message":"none"}"#);
    let binding = serde_json::from_str(r##"{"accent_colour":"#8a1c4a"}"##).unwrap();
    let (settings, shown) =
        (settings.unwrap(), |sample: PreviewSample| sample.view("room", Language::En));
    let html = |sample| page.render(&shown(sample).with_words(&settings, &binding)).unwrap().html;
    assert_eq!(html(PreviewSample::Waiting), "T|&lt;b&gt;&lt;b&gt;|#8a1c4a|");
    assert_eq!(html(PreviewSample::SoldOut), "T|nonenone|#8a1c4a|out");
    assert_eq!(page.render(&shown(PreviewSample::Waiting)).unwrap().html, "|||");
}

#[test]
fn unknown_variables_are_named_with_their_lines() {
    let found = problems("ok\n{{waittime}}\n{{#nonsense}}{{/nonsense}}");
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].0, 2);
    assert!(
        found[0].1.contains("`waittime`") && found[0].1.contains("`waitTime` was probably meant")
    );
    assert_eq!(found[1], (3, "there is no variable `nonsense`".into()));
    assert_eq!(problems(&"{{a}}".repeat(100)).len(), MAX_PROBLEMS);
}

#[test]
fn a_template_that_is_too_long_empty_or_broken_is_refused() {
    assert!(CustomPage::check(&"x".repeat(MAX_TEMPLATE)).is_ok());
    assert!(problems(&"x".repeat(MAX_TEMPLATE + 1))[0].1.contains("1048576"));
    assert_eq!(problems(" \n")[0].1, "it is empty");
    assert_eq!(problems("\n{{#queueAll}}")[0].0, 2);
    let explosive = "{{timeUntilEventEndFormatted}}".repeat(MAX_TEMPLATE / 30);
    let html = rendered(&explosive, PreviewSample::Waiting);
    assert!(html.len() < MAX_OUTPUT);
}

#[test]
fn the_header_of_a_custom_page_reloads_it() {
    let page = CustomPage::check("x").unwrap();
    let mut view = PreviewSample::Waiting.view("room", Language::En);
    assert_eq!(page.render(&view).unwrap().refresh_seconds, None);
    view.refresh_ms = 4_100;
    let rendered = page.render(&view).unwrap();
    assert_eq!(rendered.refresh_seconds, Some(5));
    assert!(rendered.policy.starts_with("default-src 'none'; style-src 'unsafe-inline' https:;"));
    assert!(
        rendered.policy.contains("base-uri 'none'; form-action 'self'; frame-ancestors 'self'")
    );
}

#[test]
fn for_a_turn_with_a_button_the_default_page_is_shown() {
    let is_for = |sample: PreviewSample| CustomPage::is_for(&sample.view("room", Language::En));
    assert!(
        is_for(PreviewSample::Waiting)
            && is_for(PreviewSample::Reject)
            && is_for(PreviewSample::QueueAll)
    );
    assert!(
        !is_for(PreviewSample::Turn)
            && !is_for(PreviewSample::Over)
            && !is_for(PreviewSample::Inside)
    );
    let mut in_place = PreviewSample::Turn.view("room", Language::En);
    in_place.frame.is_in_place = true;
    assert!(CustomPage::is_for(&in_place));
}
