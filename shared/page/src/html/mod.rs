//! The default page as HTML.

use askama::Template;

use crate::{
    Language, LogoSource, PageContent, PageFrame, PageState, PageView,
    challenge::{SOLVER, Widget},
    formats::rfc3339,
    policy::{self, SCRIPT, STYLE},
    texts::Texts,
};

/// A page, and the headers that its response needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPage {
    /// The document.
    pub html: String,
    /// The value of `Content-Security-Policy`.
    pub policy: String,
    /// The value of `Refresh` in seconds, if the page needs that header. The default page does not:
    /// it contains the equivalent for browsers without script.
    pub refresh_seconds: Option<u32>,
}

/// Times that the page may show, with the messages of their labels.
const MOMENTS: [(&str, &str); 3] =
    [("starts", "starts-label"), ("ends", "ends-label"), ("updated", "updated-label")];
/// Without script, the shortest time after which a page is reloaded, in seconds.
const SHORTEST_RELOAD: u32 = 5;
/// The same at a visitor's turn: it needs time to read and to press the button.
const SHORTEST_RELOAD_AT_TURN: u32 = 10;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    frame: &'a PageFrame,
    room: &'a str,
    content: &'a PageContent,
    texts: &'a Texts,
    language: &'a Language,
    languages: &'a [Language],
    moments: &'a [(&'static str, &'static str)],
    host: Option<&'a str>,
    logo: Option<&'a str>,
    inside: Option<String>,
    widget: Option<Widget<'a>>,
    solver: Option<&'static str>,
    reload: u32,
    style: &'a str,
    accent: Option<String>,
    script: &'a str,
}

/// The default page for `view`.
///
/// # Errors
/// When the template cannot write its text, which does not happen in memory.
pub fn render(view: &PageView) -> Result<RenderedPage, askama::Error> {
    let frame = &view.frame;
    let content = PageContent::from_view(view);
    let page = Page {
        frame,
        room: &view.room,
        content: &content,
        texts: Texts::for_language(frame.language),
        language: &frame.language,
        languages: &Language::ALL,
        moments: &MOMENTS,
        host: frame.wanted.as_ref().and_then(|wanted| wanted.host()),
        logo: frame.logo.as_ref().map(LogoSource::as_str),
        inside: frame.is_in_place.then(|| update_when_inside(view)),
        widget: view.widget(),
        solver: view.has_puzzle().then_some(SOLVER),
        reload: reload_seconds(view),
        style: STYLE,
        accent: frame.accent.map(|accent| accent.style()),
        script: &SCRIPT,
    };
    let html = page.render()?;
    Ok(RenderedPage { html, policy: policy::for_page(view), refresh_seconds: None })
}

/// The update that the script shows when it gets the site itself as its answer: the visitor has
/// entered in another tab.
fn update_when_inside(view: &PageView) -> String {
    let inside = PageView {
        state: PageState::Inside,
        refresh_ms: 0,
        challenge: None,
        message: None,
        ..view.clone()
    };
    PageContent::from_view(&inside).to_json()
}

/// After how long a page without script is reloaded, in seconds; 0: never.
pub(crate) fn reload_seconds(view: &PageView) -> u32 {
    let shortest = match view.state {
        PageState::YourTurn => SHORTEST_RELOAD_AT_TURN,
        _ => SHORTEST_RELOAD,
    };
    match view.refresh_ms {
        0 => 0,
        ms => ms.div_ceil(1000).max(shortest),
    }
}

// === impl Page ===

impl Page<'_> {
    fn text(&self, id: &str) -> String {
        self.texts.message(id, &[])
    }

    /// The `hidden` attribute of an element, or of its box, if its text is empty.
    fn hidden(&self, id: &str) -> &'static str {
        if self.content.text(id).is_empty() { " hidden" } else { "" }
    }

    /// What the script solves, as JSON.
    fn puzzle(&self) -> Option<String> {
        self.content.puzzle.as_ref().map(ToString::to_string)
    }

    fn logo_alt(&self) -> &str {
        self.frame.logo_alt.as_ref().map_or("", |alt| &alt.text)
    }

    /// The attribute `lang` of an operator's text.
    fn lang(&self, id: &str) -> String {
        let language = self.content.languages.get(id);
        language.map_or(String::new(), |language| format!(" lang=\"{language}\""))
    }

    fn machine_time(&self, id: &str) -> String {
        self.content.times.get(id).map_or(String::new(), |seconds| rfc3339(*seconds))
    }

    fn time(&self, id: &str) -> String {
        let Some(seconds) = self.content.times.get(id) else { return String::new() };
        match id {
            "updated" => self.language.time(*seconds),
            _ => self.language.date_and_time(*seconds),
        }
    }
}

#[cfg(test)]
mod tests;
