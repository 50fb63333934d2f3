//! The content of the page in words: every text that may change, by the id of its element, and the
//! values that the script needs. The page and its updates are made from the same content, so the
//! script knows no language.

use std::collections::BTreeMap;

use serde::Serialize;
use vestibule_domain::QueueingMethod;

use crate::{PageState, PageView, ReturnAddress, texts::Texts, waits::WaitPhrase};

/// The media type of [`PageContent`] as JSON. A request that accepts it comes from the page's script.
pub const PAGE_JSON_TYPE: &str = "application/vnd.vestibule.page+json";

/// What the page shows, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageContent {
    /// How the visitor stands: [`PageState::name`].
    pub state: &'static str,
    /// The texts, by the ids of their elements; an empty one means that its element is hidden. The
    /// text `title` is that of the document; `unreachable` is shown only while requests fail.
    pub texts: BTreeMap<&'static str, String>,
    /// Moments, unix seconds, by the ids of their elements: the browser writes them in its zone.
    pub times: BTreeMap<&'static str, u64>,
    /// How much of the wait is over, 0 to 1; null: unknown, a range, or too little to tell.
    pub progress: Option<f64>,
    /// When to ask again, in seconds; 0: not by itself.
    pub refresh_seconds: f64,
    /// How long the place is held, in seconds; null: not told this time.
    pub hold_seconds: Option<u64>,
    /// How long until the event starts, in seconds, counted down by the script; null: there is
    /// nothing to count down to, or it takes a day and more.
    pub start_seconds: Option<f64>,
    /// Where the link leads.
    pub wanted: Option<String>,
    /// Whether the form enters, instead of the link.
    pub enter: bool,
}

/// Longer countdowns are not shown, in ms: the start is told by its date.
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
            progress,
            refresh_seconds: f64::from(view.refresh_ms) / 1000.0,
            hold_seconds: view.hold_seconds.filter(|_| view.state == PageState::YourTurn),
            start_seconds: view.start_seconds(),
            wanted: view.link().filter(|_| !enter).map(str::to_owned),
            enter,
        }
    }

    /// The content as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Only a map whose keys are no texts could fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The text of an element.
    #[must_use]
    pub fn text(&self, id: &str) -> &str {
        self.texts.get(id).map_or("", String::as_str)
    }

    /// The content without what changes merely because time passes: to find out whether there is
    /// anything to tell.
    #[must_use]
    pub fn without_clock(&self) -> Self {
        let mut content = Self { start_seconds: None, ..self.clone() };
        content.times.remove("updated");
        content
    }
}

// === impl PageView ===

impl PageView {
    /// How much of the wait is over, in hundredths; `None` if the rest is unknown or a range, and
    /// below one hundredth.
    fn progress(&self) -> Option<f64> {
        let (waited, left) = (self.waited_seconds?, self.wait_seconds?);
        if self.state != PageState::Waiting || self.quartiles.is_some() || waited == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let part = waited as f64 / (waited as f64 + left as f64);
        Some((part * 100.0).floor() / 100.0).filter(|part| *part > 0.0)
    }

    /// How long until the start that the visitor waits for.
    fn start_seconds(&self) -> Option<f64> {
        let event = self.event.as_ref().filter(|_| self.state == PageState::Early)?;
        let left = event.start.saturating_mul(1000).checked_sub(self.now_ms)?;
        #[expect(clippy::cast_precision_loss, reason = "less than a day")]
        let seconds = left as f64 / 1000.0;
        (left < LONGEST_COUNTDOWN_MS).then_some(seconds)
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

    /// Where a visitor goes on; `None` if nothing is known but this page itself.
    fn destination(&self) -> Option<&str> {
        let wanted = self.frame.wanted.as_ref().map(ReturnAddress::as_str);
        wanted.or_else(|| self.frame.is_in_place.then_some(&*self.frame.here))
    }

    /// Where the one link of the page leads, if it shows one.
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
        let headline = self.say(self.headline());
        let go = self.go();
        BTreeMap::from([
            ("title", self.title(&headline, &status)),
            ("headline", headline),
            ("status-label", label),
            ("status-text", status),
            ("progress-text", progress.map_or(String::new(), |part| self.progress(part))),
            ("position", number(view.position.filter(|_| in_line))),
            ("ahead", number(view.people_ahead.filter(|_| in_line))),
            ("note", self.say(self.note())),
            ("notice", self.notice()),
            ("unreachable", self.say(self.unreachable())),
            ("auto", self.say(if view.refresh_ms > 0 { "auto" } else { "" })),
            ("alert", self.say(self.alert())),
            ("go", if go.1 { String::new() } else { go.0.clone() }),
            ("enter", if go.1 { go.0 } else { String::new() }),
            ("hold", self.hold()),
            ("closing-text", self.closing()),
        ])
    }

    fn say(&self, id: &str) -> String {
        self.texts.say(id, &[])
    }

    fn headline(&self) -> &'static str {
        match self.view.state {
            PageState::Waiting => "headline-waiting",
            PageState::Early => "headline-early",
            PageState::Paused => "headline-paused",
            PageState::YourTurn => "headline-turn",
            PageState::Inside => "headline-inside",
            PageState::TurnedAway { .. } => "headline-away",
            PageState::SessionOver => "headline-session-over",
            PageState::Missed => "headline-missed",
            PageState::Busy => "headline-busy",
            PageState::NoRoom => "headline-no-room",
        }
    }

    /// The sentence that matters most, and what it is about.
    fn status(&self) -> (String, String) {
        let alone = |id: &str| (String::new(), self.say(id));
        match self.view.state {
            PageState::Waiting => (self.say("wait-label"), self.wait()),
            PageState::Early => (self.say("start-label"), self.until_start()),
            PageState::Paused => alone("paused"),
            PageState::YourTurn => alone("turn"),
            PageState::Inside if self.view.destination().is_none() => alone("inside-go-back"),
            PageState::Inside => alone("inside"),
            PageState::TurnedAway { keeps_place: true } => alone("away-kept"),
            PageState::TurnedAway { keeps_place: false } => alone("away"),
            PageState::SessionOver => alone("session-over"),
            PageState::Missed => alone("missed"),
            PageState::Busy => alone("busy"),
            PageState::NoRoom => alone("no-room"),
        }
    }

    fn wait(&self) -> String {
        match (self.view.wait_seconds, self.view.quartiles) {
            (None, _) => self.say("wait-unknown"),
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
        self.texts.say(id, &numbers)
    }

    /// In line, the tab tells how long it takes.
    fn title(&self, headline: &str, status: &str) -> String {
        let known = match self.view.state {
            PageState::Waiting => self.view.wait_seconds.is_some(),
            state => state == PageState::Early,
        };
        if known { format!("{status} · {headline}") } else { headline.to_owned() }
    }

    fn progress(&self, part: f64) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (part * 100.0).round() as u64;
        self.texts.say("progress", &[("percent", percent)])
    }

    fn note(&self) -> &'static str {
        let draw = self.view.event.as_ref().is_some_and(|event| event.draw);
        match (self.view.state, self.view.method) {
            (PageState::Waiting, _) if self.view.notices.is_at_door => "note-door",
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
            PageState::YourTurn if notices.is_late => "notice-late",
            PageState::YourTurn if notices.no_seat => "notice-full",
            state if notices.is_new_place && state.is_in_line() => "notice-again",
            _ => return String::new(),
        };
        self.say(id)
    }

    /// What the script shows while it reaches nobody; nothing on a page that does not ask.
    fn unreachable(&self) -> &'static str {
        match self.view.state {
            _ if self.view.refresh_ms == 0 => "",
            PageState::TurnedAway { keeps_place: true } => "unreachable",
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

    /// What the button says, and whether it is that of the form.
    fn go(&self) -> (String, bool) {
        match self.view.state {
            PageState::YourTurn => (self.say("go-turn"), self.view.frame.enter.is_some()),
            PageState::Inside if self.view.destination().is_some() => {
                (self.say("go-inside"), false)
            }
            state if state.is_over() => (self.say("go-again"), false),
            _ => (String::new(), false),
        }
    }

    fn hold(&self) -> String {
        let seconds = self.view.hold_seconds.filter(|_| self.view.state == PageState::YourTurn);
        seconds.map_or(String::new(), |seconds| self.view.frame.language.clock(seconds))
    }

    fn closing(&self) -> String {
        match (self.view.state, self.view.grace_seconds) {
            (PageState::YourTurn, _) if self.view.hold_seconds.is_some() => {
                self.say("closing-turn")
            }
            (state, _) if state.is_over() => self.say("closing-over"),
            (
                PageState::Inside
                | PageState::TurnedAway { .. }
                | PageState::Busy
                | PageState::NoRoom,
                _,
            ) => String::new(),
            (PageState::YourTurn, _) | (_, None) => self.say("closing-kept"),
            (_, Some(seconds)) if seconds < 60 => {
                self.texts.say("closing-seconds", &[("seconds", seconds)])
            }
            // Rounded down, so that the promise is kept.
            (_, Some(seconds)) => self.texts.say("closing-minutes", &[("minutes", seconds / 60)]),
        }
    }
}

#[cfg(test)]
mod tests;
