//! A sample visitor in every state, for previews and for checking custom pages.

use vestibule_domain::{QueueingMethod, schedule::EventInForce};

use crate::{Language, Notices, PageFrame, PageState, PageView};

/// A state that can be previewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PreviewSample {
    /// In line, with a known wait.
    Waiting,
    /// In line, with an unknown wait.
    UnknownWait,
    /// In a random room.
    Random,
    /// Before the start of an event with a draw.
    Prequeue,
    /// The operator holds everyone.
    QueueAll,
    /// May enter.
    Turn,
    /// Has entered.
    Inside,
    /// The room turns everyone away.
    Reject,
    /// Nothing is left.
    SoldOut,
    /// Has lost the place.
    Over,
}

/// The time in previews: 21 November 2026, 12:00 UTC.
const NOW_MS: u64 = 1_795_262_400_000;

// === impl PreviewSample ===

impl PreviewSample {
    /// All samples.
    pub const ALL: [Self; 10] = [
        Self::Waiting,
        Self::UnknownWait,
        Self::Random,
        Self::Prequeue,
        Self::QueueAll,
        Self::Turn,
        Self::Inside,
        Self::Reject,
        Self::SoldOut,
        Self::Over,
    ];

    /// Its name in the address of a preview.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::UnknownWait => "unknown_wait",
            Self::Random => "random",
            Self::Prequeue => "prequeue",
            Self::QueueAll => "queue_all",
            Self::Turn => "turn",
            Self::Inside => "inside",
            Self::Reject => "reject",
            Self::SoldOut => "sold_out",
            Self::Over => "over",
        }
    }

    /// The sample of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sample| sample.name() == name)
    }

    /// The view of this sample in `language`. Its page never asks for updates.
    #[must_use]
    pub fn view(self, room: &str, language: Language) -> PageView {
        let view = waiting(room, language);
        let over =
            PageView { position: None, people_ahead: None, wait_seconds: None, ..view.clone() };
        match self {
            Self::Waiting => view,
            Self::UnknownWait => PageView { wait_seconds: None, ..view },
            Self::Random => PageView {
                method: QueueingMethod::Random,
                quartiles: Some([300, 600, 900]),
                wait_seconds: Some(600),
                ..over
            },
            Self::Prequeue => PageView { state: PageState::Early, event: prequeue(), ..over },
            Self::QueueAll => {
                PageView { state: PageState::Paused, queue_all: true, wait_seconds: None, ..view }
            }
            Self::Turn => PageView {
                state: PageState::YourTurn,
                people_ahead: Some(0),
                wait_seconds: Some(0),
                hold_seconds: Some(899),
                ..view
            },
            Self::Inside => PageView { state: PageState::Inside, wait_seconds: Some(0), ..view },
            Self::Reject => turned_away(over, false),
            Self::SoldOut => turned_away(over, true),
            Self::Over => PageView { state: PageState::Missed, interval_ms: 0, ..over },
        }
    }
}

fn turned_away(view: PageView, sold_out: bool) -> PageView {
    PageView {
        state: PageState::TurnedAway { keeps_place: sold_out, sold_out },
        method: QueueingMethod::Reject,
        interval_ms: 0,
        ..view
    }
}

fn waiting(room: &str, language: Language) -> PageView {
    PageView {
        room: room.to_owned(),
        state: PageState::Waiting,
        method: QueueingMethod::Fifo,
        queue_all: false,
        event: None,
        position: Some(1_235),
        people_ahead: Some(1_170),
        wait_seconds: Some(580),
        quartiles: None,
        waited_seconds: Some(390),
        now_ms: NOW_MS,
        updated_ms: NOW_MS,
        interval_ms: 20_000,
        refresh_ms: 0,
        hold_seconds: None,
        is_automatic: true,
        grace_seconds: Some(300),
        notices: Notices::default(),
        challenge: None,
        message: None,
        frame: PageFrame::plain(language),
    }
}

fn prequeue() -> Option<EventInForce> {
    let now = NOW_MS / 1000;
    Some(EventInForce {
        name: "preview".parse().ok()?,
        prequeueing: true,
        start: now + 1_100,
        end: now + 8_300,
        draw: true,
    })
}
