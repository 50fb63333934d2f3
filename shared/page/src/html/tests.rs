//! The default page: its weight, its structure, and that nothing from outside becomes markup.

use vestibule_site::{ReturnAddress, SiteBinding};

use super::*;
use crate::{LanguageForm, PageText, PreviewSample};

fn sha256(text: &str) -> String {
    use base64::Engine;
    use sha2::Digest;

    base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text))
}

fn page(view: &PageView) -> String {
    render(view).unwrap().html
}

#[test]
fn every_state_in_every_language_is_a_whole_small_page() {
    for language in Language::ALL {
        for sample in PreviewSample::ALL {
            let html = page(&sample.view("room", language));
            let what = format!("{sample:?} {language:?}");
            assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"), "{what}");
            assert!(html.len() < 30_000, "{what}: {}", html.len());
            assert_eq!(html.matches("<h1").count(), 1, "{what}");
            let root = format!("lang=\"{}\" dir=\"{}\"", language.code(), language.direction());
            assert!(html.contains(&root), "{what}");
        }
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let html = page(&PreviewSample::Turn.view("room", Language::En));
    for outside in ["http://", "https://", "src=\"/", "@import", "url("] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
}

#[test]
fn the_policy_names_exactly_the_style_and_the_script_of_the_page() {
    let rendered = render(&PreviewSample::Waiting.view("room", Language::En)).unwrap();
    let between = |start: &str, end: &str| {
        let from = rendered.html.find(start).unwrap() + start.len();
        &rendered.html[from..from + rendered.html[from..].find(end).unwrap()]
    };
    for (directive, text) in [
        ("style-src", between("<style>", "</style>")),
        ("script-src", between("<script>", "</script>")),
    ] {
        let hash = sha256(text);
        let named = format!("{directive} 'sha256-{hash}';");
        assert!(rendered.policy.contains(&named), "{named} not in {}", rendered.policy);
    }
    assert!(!rendered.html.contains(" style=") && !rendered.html.contains(" onclick="));
    assert_eq!(rendered.html.matches("<script").count(), 1);
}

#[test]
fn the_policy_lets_frames_and_forms_only_where_they_are_meant() {
    let mut view = PreviewSample::Turn.view("room", Language::En);
    let policy = |view: &PageView| render(view).unwrap().policy;
    assert!(policy(&view).ends_with("form-action 'self'; frame-ancestors 'self'"));
    view.frame.wanted = ReturnAddress::parse("https://shop.example:8443/sale", |_| true);
    view.frame.is_framed_anywhere = true;
    assert!(policy(&view).ends_with("form-action 'self'; frame-ancestors *"));
    view.frame.enter = Some("/room/room/enter".into());
    let with_target = "form-action 'self' https://shop.example:8443; frame-ancestors *";
    assert!(policy(&view).ends_with(with_target), "{}", policy(&view));
}

#[test]
fn without_script_the_page_is_reloaded() {
    let mut view = PreviewSample::Waiting.view("room", Language::En);
    assert!(!page(&view).contains("http-equiv"), "a preview stays as it is");
    view.refresh_ms = 12_300;
    let reload = "<noscript><meta http-equiv=\"refresh\" content=\"13\"></noscript>";
    assert!(page(&view).contains(reload));
    view.state = PageState::YourTurn;
    view.refresh_ms = 100;
    assert!(page(&view).contains("content=\"10\""), "there is time to press the button");
}

#[test]
fn a_page_without_a_room_names_none_and_can_change_its_language() {
    for language in Language::ALL {
        let frame = PageFrame::plain(language);
        let html = page(&PageView::without_visitor(PageState::NoRoom, 0, frame));
        assert!(html.contains("data-state=\"no_room\"") && !html.contains("http-equiv"));
        assert!(html.contains("<form id=\"languages\" method=\"get\" action=\"\">"));
        assert!(!html.contains("<footer>") && !html.contains("1970"), "{language:?}");
        assert!(html.len() < 30_000);
    }
}

#[test]
fn the_script_finds_the_countdown_and_the_text_for_failing_updates() {
    let mut view = PreviewSample::Prequeue.view("room", Language::De);
    view.refresh_ms = 20_000;
    let html = page(&view);
    assert!(html.contains(" data-start=\"1100\""));
    assert!(
        html.contains("<p id=\"unreachable\" hidden>Der Warteraum ist gerade nicht erreichbar.")
    );
    assert!(
        html.contains("<time id=\"starts\" datetime=\"2026-11-21T12:18:20Z\">"),
        "without script"
    );
}

#[test]
fn the_language_can_be_chosen_and_everything_else_is_kept() {
    let mut view = PreviewSample::Waiting.view("room", Language::De);
    view.frame.language_form = LanguageForm {
        action: "/sale".into(),
        parameter: "vestibule_lang",
        other_parameters: vec![("x".into(), "1".into())],
    };
    let html = page(&view);
    assert!(html.contains("<form id=\"languages\" method=\"get\" action=\"/sale\">"));
    assert!(html.contains("<input type=\"hidden\" name=\"x\" value=\"1\">"));
    assert!(html.contains("<select id=\"language\" name=\"vestibule_lang\""));
    assert!(html.contains("<option value=\"de\" lang=\"de\" selected>Deutsch</option>"));
    assert_eq!(html.matches(" selected").count(), 1);
}

/// Texts that could break out of a text, an attribute, a style, a script, or a Fluent pattern.
const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</style></script></title><svg onload=alert(1)>",
    "{ $minutes } { NUMBER($x) } {{x}}",
    "\u{2068}\u{202e}evil\u{2069}",
    "&lt;&#60;script&#62;",
];

/// Every tag of a page with the names of its attributes, as a browser reads them.
fn markup(html: &str) -> Vec<String> {
    let html = html.replace(STYLE, "").replace(SCRIPT.as_str(), "");
    let mut tags = Vec::new();
    let mut rest = html.as_str();
    while let Some(start) = rest.find('<') {
        let (tag, after) = one_tag(&rest[start..]);
        tags.push(tag);
        rest = &rest[start + after..];
    }
    tags
}

/// The first tag of `text` without the values of its attributes, and its length.
fn one_tag(text: &str) -> (String, usize) {
    let (mut tag, mut quote) = (String::new(), None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return (tag, at + 1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, c) => tag.push(c),
        }
    }
    (tag, text.len())
}

fn in_every_field(text: &str) -> PageView {
    let mut view = PreviewSample::Turn.view(text, Language::En);
    view.frame.here = text.to_owned();
    view.frame.enter = Some(text.to_owned());
    view.frame.live = Some(text.to_owned());
    view.frame.logo = Some(LogoSource::Origin(text.to_owned()));
    view.frame.is_in_place = true;
    let said = || Some(PageText { text: text.to_owned(), language: None });
    (view.message, view.frame.title, view.frame.logo_alt) = (said(), said(), said());
    let other_parameters = vec![(text.to_owned(), text.to_owned())];
    view.frame.language_form =
        LanguageForm { action: text.to_owned(), parameter: "lang", other_parameters };
    view
}

#[test]
fn texts_of_visitors_and_operators_are_never_markup() {
    let plain = markup(&page(&in_every_field("plain")));
    for hostile in HOSTILE {
        let view = in_every_field(hostile);
        assert_eq!(markup(&page(&view)), plain, "{hostile}");
        let read: serde_json::Value =
            serde_json::from_str(&PageContent::from_view(&view).to_json()).unwrap();
        for (id, text) in read["texts"].as_object().unwrap() {
            let is_the_operators = ["title", "room-title", "message"].contains(&id.as_str());
            assert!(
                is_the_operators || !text.to_string().contains("alert(1)"),
                "{id} is ours alone"
            );
        }
    }
}

#[test]
fn a_logo_comes_from_the_page_or_from_its_origin() {
    let mut view = PreviewSample::Waiting.view("room", Language::En);
    let mut with = |logo| {
        view.frame.logo = Some(logo);
        render(&view).unwrap()
    };
    let inline = with(LogoSource::Page("data:image/png;base64,AAAA".into()));
    let image = "<img id=\"logo\" src=\"data:image/png;base64,AAAA\" alt=\"\">";
    assert!(inline.html.contains(image) && inline.policy.contains("; img-src data:;"));
    let linked = with(LogoSource::Origin("room/logo/ab12".into()));
    let image = "<img id=\"logo\" src=\"room/logo/ab12\" alt=\"\">";
    assert!(linked.html.contains(image) && linked.policy.contains("; img-src data: 'self';"));
}

#[test]
fn the_operators_words_and_colour_are_on_the_page() {
    let binding: SiteBinding = serde_json::from_value(serde_json::json!({
        "accent_colour": "#8a1c4a", "logo_alt": "Shop & Co",
    }))
    .unwrap();
    let settings = serde_json::from_value(serde_json::json!({
        "title": { "ar": "تخفيضات" }, "message": "Doors open late.\nSorry.",
    }))
    .unwrap();
    let mut view =
        PreviewSample::Waiting.view("room", Language::De).with_words(&settings, &binding);
    view.frame.logo = Some(LogoSource::Page("data:image/png;base64,AAAA".into()));
    let rendered = render(&view).unwrap();
    for found in [
        "<p id=\"room-title\" dir=\"auto\" lang=\"ar\">تخفيضات</p>",
        "<div id=\"news\" role=\"status\"><p id=\"message\" dir=\"auto\" lang=\"\">Doors open late.\nSorry.</p></div>",
        " alt=\"Shop &#38; Co\">",
        "<style>:root{--accent:#8a1c4a;",
        " · تخفيضات</title>",
    ] {
        assert!(rendered.html.contains(found), "{found}");
    }
    let style = rendered.html.rsplit("<style>").next().unwrap().split("</style>").next().unwrap();
    let hash = sha256(style);
    assert!(
        rendered.policy.contains(&format!(" 'sha256-{hash}'; script-src")),
        "{}",
        rendered.policy
    );
    let plain = page(&PreviewSample::Waiting.view("room", Language::De));
    assert!(plain.contains(
        "<div id=\"news\" role=\"status\"><p id=\"message\" dir=\"auto\" hidden></p></div>"
    ));
    assert_eq!(plain.matches("<style>").count(), 1);
}

#[test]
fn the_page_has_every_element_that_its_updates_name() {
    let mut view = PreviewSample::Turn.view("room", Language::En);
    view.frame.enter = Some("/enter".into());
    let html = page(&view);
    for id in PageContent::from_view(&view).texts.keys().filter(|id| **id != "title") {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn in_place_the_page_contains_the_update_for_an_admitted_visitor() {
    let mut view = PreviewSample::Waiting.view("room", Language::Fr);
    view.refresh_ms = 5_000;
    view.message = Some(PageText { text: "Bientôt".into(), language: None });
    view.frame.here = "</template><script>".into();
    assert!(!page(&view).contains("<template"));
    view.frame.is_in_place = true;
    let html = page(&view);
    let from = html.find("<template id=\"inside\">").unwrap() + 22;
    let inside = &html[from..from + html[from..].find('<').unwrap()];
    let json = inside.replace("&#34;", "\"").replace("&#60;", "<").replace("&#62;", ">");
    let update: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&update["state"], &update["refresh_seconds"]), (&"inside".into(), &0.0.into()));
    assert_eq!(
        (&update["texts"]["go"], &update["texts"]["message"]),
        (&"Continuer".into(), &"".into())
    );
}
