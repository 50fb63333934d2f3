//! The content of the page in words: every text that may change, by the id of its element, and the
//! values that the script needs. The page and its updates are made from the same content, so the
//! script needs no texts.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use vestibule_domain::QueueingMethod;
use vestibule_site::ReturnAddress;

use crate::{Language, PageState, PageText, PageView, texts::Texts, waits::WaitPhrase};

/// The media type of [`PageContent`] as JSON. A request that accepts it comes from the page's script.
pub const PAGE_JSON_TYPE: &str = "application/vnd.vestibule.page+json";

/// What the page shows, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageContent {
    /// The visitor's state: [`PageState::name`].
    pub state: &'static str,
    /// The texts by the ids of their elements; an empty text hides its element. `title` is the
    /// title of the document; `unreachable` is shown only while requests fail.
    pub texts: BTreeMap<&'static str, String>,
    /// Times, unix seconds, by the ids of their elements. The browser formats them in its time
    /// zone.
    pub times: BTreeMap<&'static str, u64>,
    /// The languages of the texts that are the operator's, by the ids of their elements; empty: not known.
    pub languages: BTreeMap<&'static str, &'static str>,
    /// The share of the wait that is over, 0 to 1; null: unknown, a range, or below one hundredth.
    pub progress: Option<f64>,
    /// After how long to ask again, in seconds; 0: never.
    pub refresh_seconds: f64,
    /// How long the place is held, in seconds; null: not known.
    pub hold_seconds: Option<u64>,
    /// Whether the visitor is served, and no seat is free yet.
    pub served: bool,
    /// Whether the page enters by itself, while it is in front.
    pub automatic: bool,
    /// The time until the event starts, in seconds, counted down by the script; null: no event
    /// starts, or it starts in a day or later.
    pub start_seconds: Option<f64>,
    /// Where the link leads.
    pub wanted: Option<String>,
    /// Whether the visitor enters by the form instead of the link.
    pub enter: bool,
    /// The puzzle that the script solves for the visitor, before it has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub puzzle: Option<Value>,
}

/// The longest countdown shown, in ms; before it the date of the start is shown.
const LONGEST_COUNTDOWN_MS: u64 = 24 * 3_600_000;

// === impl PageContent ===

impl PageContent {
    /// The content for `view`.
    #[must_use]
    pub fn from_view(view: &PageView) -> Self {
        let texts = Texts::for_language(view.frame.language);
        let progress = view.progress();
        let enter = view.state == PageState::YourTurn && view.frame.enter.is_some();
        Self {
            state: view.state.name(),
            texts: ContentWriter { view, texts }.all(progress),
            times: view.times(),
            languages: view.languages(),
            progress,
            refresh_seconds: f64::from(view.refresh_ms) / 1000.0,
            hold_seconds: view.hold_seconds.filter(|_| view.state == PageState::YourTurn),
            served: view.notices.is_served,
            automatic: view.is_automatic,
            start_seconds: view.start_seconds(),
            wanted: view.link().filter(|_| !enter).map(str::to_owned),
            enter,
            puzzle: view.challenge.as_ref().and_then(|challenge| challenge.puzzle.clone()),
        }
    }

    /// The content as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Serializing fails only for maps with keys that are not strings.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The text of an element.
    #[must_use]
    pub fn text(&self, id: &str) -> &str {
        self.texts.get(id).map_or("", String::as_str)
    }

    /// The content without values that change only because time passes, to detect whether an update
    /// is needed.
    #[must_use]
    pub fn without_clock(&self) -> Self {
        let mut content = Self { start_seconds: None, ..self.clone() };
        content.times.remove("updated");
        content
    }
}

// === impl PageView ===

impl PageView {
    /// The share of the wait that is over, in whole hundredths; `None` if the remaining wait is
    /// unknown or a range, or the share is below one hundredth.
    fn progress(&self) -> Option<f64> {
        let (waited, left) = (self.waited_seconds?, self.wait_seconds?);
        if self.state != PageState::Waiting || self.quartiles.is_some() || waited == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let part = waited as f64 / (waited as f64 + left as f64);
        Some((part * 100.0).floor() / 100.0).filter(|part| *part > 0.0)
    }

    /// The time until the start that the visitor waits for, in seconds.
    fn start_seconds(&self) -> Option<f64> {
        let event = self.event.as_ref().filter(|_| self.state == PageState::Early)?;
        let left = event.start.saturating_mul(1000).checked_sub(self.now_ms)?;
        #[expect(clippy::cast_precision_loss, reason = "less than a day")]
        let seconds = left as f64 / 1000.0;
        (left < LONGEST_COUNTDOWN_MS).then_some(seconds)
    }

    fn languages(&self) -> BTreeMap<&'static str, &'static str> {
        let texts = [("message", &self.message), ("room-title", &self.frame.title)];
        let of_one = |(id, text): (_, &Option<PageText>)| {
            Some((id, text.as_ref()?.language.map_or("", Language::code)))
        };
        texts.into_iter().filter_map(of_one).collect()
    }

    fn times(&self) -> BTreeMap<&'static str, u64> {
        let mut times = BTreeMap::new();
        if self.updated_ms > 0 {
            times.insert("updated", self.updated_ms / 1000);
        }
        let Some(event) = &self.event else { return times };
        if event.prequeueing {
            times.insert("starts", event.start);
        }
        if !self.state.is_over() {
            times.insert("ends", event.end);
        }
        times
    }

    /// The address to which the visitor goes on; `None` if only the address of this page is known.
    fn destination(&self) -> Option<&str> {
        let wanted = self.frame.wanted.as_ref().map(ReturnAddress::as_str);
        wanted.or_else(|| self.frame.is_in_place.then_some(&*self.frame.here))
    }

    /// The target of the page's link, if it shows one.
    fn link(&self) -> Option<&str> {
        match self.state {
            PageState::YourTurn => self.destination().or(Some(&self.frame.here)),
            PageState::Inside => self.destination(),
            state if state.is_over() => Some(&self.frame.here),
            _ => None,
        }
    }
}

struct ContentWriter<'a> {
    view: &'a PageView,
    texts: &'a Texts,
}

// === impl ContentWriter ===

impl ContentWriter<'_> {
    fn all(&self, progress: Option<f64>) -> BTreeMap<&'static str, String> {
        let view = self.view;
        let language = view.frame.language;
        let number = |number: Option<u64>| number.map_or(String::new(), |n| language.number(n));
        let in_line = view.state.is_in_line();
        let (label, status) = self.status();
        let headline = self.text(self.headline());
        let go = self.go();
        let said =
            |text: &Option<PageText>| text.as_ref().map_or(String::new(), |text| text.text.clone());
        BTreeMap::from([
            ("room-title", said(&view.frame.title)),
            ("message", said(&view.message)),
            ("title", self.title(&headline, &status)),
            ("headline", headline),
            ("status-label", label),
            ("status-text", status),
            ("progress-text", self.progress_text(progress)),
            ("position", number(view.position.filter(|_| in_line))),
            ("ahead", number(view.people_ahead.filter(|_| in_line))),
            ("note", self.text(self.note())),
            ("notice", self.notice()),
            ("unreachable", self.text(self.unreachable())),
            ("auto", self.text(if view.refresh_ms > 0 { "auto" } else { "" })),
            ("alert", self.text(self.alert())),
            ("go", if go.1 { String::new() } else { go.0.clone() }),
            ("enter", if go.1 { go.0 } else { String::new() }),
            ("hold", self.hold()),
            ("hold-after", self.hold_after()),
            ("closing-text", self.closing()),
        ])
    }

    fn text(&self, id: &str) -> String {
        self.texts.message(id, &[])
    }

    fn headline(&self) -> &'static str {
        match self.view.state {
            PageState::Challenge => "headline-challenge",
            PageState::Waiting => "headline-waiting",
            PageState::Early => "headline-early",
            PageState::Paused => "headline-paused",
            PageState::YourTurn => "headline-turn",
            PageState::Inside => "headline-inside",
            PageState::TurnedAway { sold_out: true, .. } => "headline-sold-out",
            PageState::TurnedAway { .. } => "headline-away",
            PageState::SessionOver => "headline-session-over",
            PageState::Missed => "headline-missed",
            PageState::Busy => "headline-busy",
            PageState::NoRoom => "headline-no-room",
        }
    }

    /// The label and the text of the most important sentence.
    fn status(&self) -> (String, String) {
        let alone = |id: &str| (String::new(), self.text(id));
        match self.view.state {
            PageState::Challenge if self.view.has_widget() => alone("challenge-widget"),
            PageState::Challenge => alone("challenge"),
            PageState::Waiting => (self.text("wait-label"), self.wait()),
            PageState::Early => (self.text("start-label"), self.until_start()),
            PageState::Paused => alone("paused"),
            PageState::YourTurn => alone("turn"),
            PageState::Inside if self.view.destination().is_none() => alone("inside-go-back"),
            PageState::Inside => alone("inside"),
            PageState::TurnedAway { keeps_place, sold_out } => {
                alone(match (sold_out, keeps_place) {
                    (true, true) => "sold-out-kept",
                    (true, false) => "sold-out",
                    (false, true) => "away-kept",
                    (false, false) => "away",
                })
            }
            PageState::SessionOver => alone("session-over"),
            PageState::Missed => alone("missed"),
            PageState::Busy => alone("busy"),
            PageState::NoRoom => alone("no-room"),
        }
    }

    fn wait(&self) -> String {
        match (self.view.wait_seconds, self.view.quartiles) {
            (None, _) => self.text("wait-unknown"),
            (Some(_), Some([low, _, high])) => self.phrase(WaitPhrase::spread(low, high)),
            (Some(seconds), None) => self.phrase(WaitPhrase::expected(seconds)),
        }
    }

    fn until_start(&self) -> String {
        let start = self.view.event.as_ref().map_or(0, |event| event.start);
        self.phrase(WaitPhrase::expected(start.saturating_sub(self.view.now_ms / 1000)))
    }

    fn phrase(&self, phrase: WaitPhrase) -> String {
        let (id, numbers) = phrase.message();
        self.texts.message(id, &numbers)
    }

    /// The title of the document: in line it contains the expected wait; last comes what the operator calls the line.
    fn title(&self, headline: &str, status: &str) -> String {
        let known = match self.view.state {
            PageState::Waiting => self.view.wait_seconds.is_some(),
            state => state == PageState::Early,
        };
        let wait = known.then_some(status);
        let line = self.view.frame.title.as_ref().map(|title| title.text.as_str());
        let parts = wait.into_iter().chain([headline]).chain(line);
        parts.collect::<Vec<_>>().join(" · ")
    }

    /// Of the wait; or of the puzzle, which says only that it is under way.
    fn progress_text(&self, progress: Option<f64>) -> String {
        let solves = self.view.challenge.as_ref().is_some_and(|check| check.puzzle.is_some());
        match progress {
            _ if solves => self.text("challenge-progress"),
            Some(part) => self.progress(part),
            None => String::new(),
        }
    }

    fn progress(&self, part: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (part * 100.0).round() as u64;
        self.texts.message("progress", &[("percent", percent)])
    }

    fn note(&self) -> &'static str {
        let draw = self.view.event.as_ref().is_some_and(|event| event.draw);
        match (self.view.state, self.view.method) {
            (PageState::Waiting, _) if self.view.notices.is_served => "note-door",
            (PageState::Early, _) if draw => "note-draw",
            (PageState::Early, QueueingMethod::Fifo) => "note-early",
            (PageState::Waiting, QueueingMethod::Fifo) if draw => "",
            (PageState::Waiting, QueueingMethod::Fifo) => "note-order",
            (PageState::Waiting | PageState::Early, QueueingMethod::Random) => "note-chance",
            _ => "",
        }
    }

    fn notice(&self) -> String {
        let notices = self.view.notices;
        let id = match self.view.state {
            _ if notices.stale => "notice-stale",
            PageState::Challenge if self.view.was_refused() => "challenge-refused",
            PageState::YourTurn if notices.is_late => "notice-late",
            PageState::YourTurn if notices.no_seat => "notice-full",
            state if notices.is_new_place && state.is_in_line() => "notice-again",
            _ => return String::new(),
        };
        self.text(id)
    }

    /// The message that the script shows while its requests fail; empty on a page that makes none.
    fn unreachable(&self) -> &'static str {
        match self.view.state {
            PageState::Challenge => "unreachable-no-place",
            _ if self.view.refresh_ms == 0 => "",
            PageState::TurnedAway { keeps_place: true, .. } => "unreachable",
            state if state.is_in_line() => "unreachable",
            _ => "unreachable-no-place",
        }
    }

    fn alert(&self) -> &'static str {
        match self.view.state {
            PageState::YourTurn if self.view.notices.is_late => "notice-late",
            PageState::YourTurn => "alert-turn",
            PageState::Missed => "alert-missed",
            _ => "",
        }
    }

    /// The text of the button, and whether it is the button of the form.
    fn go(&self) -> (String, bool) {
        match self.view.state {
            PageState::YourTurn => (self.text("go-turn"), self.view.frame.enter.is_some()),
            PageState::Inside if self.view.destination().is_some() => {
                (self.text("go-inside"), false)
            }
            state if state.is_over() => (self.text("go-again"), false),
            _ => (String::new(), false),
        }
    }

    fn hold(&self) -> String {
        let seconds = self.view.hold_seconds.filter(|_| self.view.state == PageState::YourTurn);
        seconds.map_or(String::new(), |seconds| self.view.frame.language.clock(seconds))
    }

    /// What happens once a held seat is held no longer.
    fn hold_after(&self) -> String {
        let is_held = self.view.notices.has_held_seat && self.view.state == PageState::YourTurn;
        self.text(if is_held { "hold-after" } else { "" })
    }

    fn closing(&self) -> String {
        match (self.view.state, self.view.grace_seconds) {
            (PageState::YourTurn, _) if self.view.hold_seconds.is_some() => {
                self.text("closing-turn")
            }
            (state, _) if state.is_over() => self.text("closing-over"),
            (
                PageState::Challenge
                | PageState::Inside
                | PageState::TurnedAway { .. }
                | PageState::Busy
                | PageState::NoRoom,
                _,
            ) => String::new(),
            (PageState::YourTurn, _) | (_, None) => self.text("closing-kept"),
            (_, Some(seconds)) if seconds < 60 => {
                self.texts.message("closing-seconds", &[("seconds", seconds)])
            }
            // Rounded down, so that the place is kept at least this long.
            (_, Some(seconds)) => {
                self.texts.message("closing-minutes", &[("minutes", seconds / 60)])
            }
        }
    }
}

#[cfg(test)]
mod tests;
