//! The waiting page, and an operator's own: nothing of a visitor becomes markup, and a template that was accepted can be
//! rendered in every state and language.

use vestibule_page::{CustomPage, Language, PageView, PreviewSample, render};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "pages",
    run,
    words: &[
        "{{",
        "}}",
        "{{{",
        "}}}",
        "{{#",
        "{{^",
        "{{/",
        "{{!",
        "{{&",
        "{{>",
        "{{=<% %>=}}",
        "waitTime",
        "{{waitTime}}",
        "{{#waitTimeKnown}}",
        "{{/waitTimeKnown}}",
        "{{refreshIntervalSeconds}}",
        "<script>",
        "</script>",
        "\"",
        "'",
        "&",
        "<!--",
        "]]>",
        "\n",
        ".",
        "{{.}}",
        "javascript:",
        "\u{2028}",
    ],
};

fn run(bytes: &[u8]) {
    let given = text(bytes);
    for sample in [PreviewSample::Waiting, PreviewSample::Turn, PreviewSample::Reject] {
        let plain = markup(&sample.view("room", Language::En), "x");
        let hostile = markup(&sample.view("room", Language::En), &given);
        assert_eq!(plain, hostile, "{given:?} changes the markup of {}", sample.name());
    }
    let Ok(page) = CustomPage::check(&given) else { return };
    for sample in PreviewSample::ALL {
        for language in [Language::En, Language::De, Language::Ja, Language::Ar] {
            let view = sample.view("room", language);
            let first = page.render(&view).map(|page| page.html);
            assert_eq!(first, page.render(&view).map(|page| page.html), "twice the same");
        }
    }
}

/// How many characters of the page begin or end markup, where a visitor's words say `words`.
fn markup(view: &PageView, words: &str) -> [usize; 3] {
    let mut view = view.clone();
    view.frame.here = format!("/room/sale?{words}");
    view.frame.enter = Some(format!("/room/sale/enter?{words}"));
    view.frame.language_form.action = format!("/room/sale?{words}");
    view.frame.language_form.other_parameters = vec![(words.to_owned(), words.to_owned())];
    let html = render(&view).expect("a page").html;
    ['<', '>', '"'].map(|character| html.matches(character).count())
}
