//! What the page shows about one visitor in one room: plain values, filled in by the service. The
//! texts are made from them in [`crate::content`].

use serde_json::Value;
use vestibule_domain::{QueueingMethod, challenge::ChallengeProvider, schedule::EventInForce};
use vestibule_site::ReturnAddress;

use crate::{Accent, Language, LogoSource, PageText};

/// The values shown to one visitor in one room.
#[derive(Debug, Clone)]
pub struct PageView {
    /// The room; empty if there is none.
    pub room: String,
    /// The visitor's state.
    pub state: PageState,
    /// How the room chooses who enters next.
    pub method: QueueingMethod,
    /// Whether the operator holds everyone.
    pub queue_all: bool,
    /// The event in force.
    pub event: Option<EventInForce>,
    /// The position in line; `None` before its draw and in a random room.
    pub position: Option<u64>,
    /// People still there who enter before it; `None` as for the position.
    pub people_ahead: Option<u64>,
    /// The expected wait in seconds; `None`: unknown.
    pub wait_seconds: Option<u64>,
    /// In a random room: the times in seconds after which a quarter, half and three quarters of the
    /// visitors who wait now have entered.
    pub quartiles: Option<[u64; 3]>,
    /// How long the visitor has waited already, seconds.
    pub waited_seconds: Option<u64>,
    /// The time of rendering, unix ms.
    pub now_ms: u64,
    /// When the last snapshot of the room was made, unix ms; 0: never.
    pub updated_ms: u64,
    /// The interval until the next check-in, ms.
    pub interval_ms: u32,
    /// After how long to ask again, in ms; 0: never.
    pub refresh_ms: u32,
    /// How long the place is still held for a visitor whose turn it is, seconds; `None`: without
    /// limit, or unknown.
    pub hold_seconds: Option<u64>,
    /// Whether a page in front enters by itself when the turn comes; otherwise by a button.
    pub is_automatic: bool,
    /// How long a place is kept for a visitor who closed the page, seconds; `None`: without limit.
    pub grace_seconds: Option<u64>,
    /// Further facts to show.
    pub notices: Notices,
    /// What the visitor has to solve before it gets a place, in [`PageState::Challenge`].
    pub challenge: Option<PageChallenge>,
    /// What the operator says to a visitor in this state.
    pub message: Option<PageText>,
    /// The frame of the content: addresses, language, logo.
    pub frame: PageFrame,
}

/// The state of a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageState {
    /// Has no place yet, and something to solve first.
    Challenge,
    /// In line.
    Waiting,
    /// Before the start of an event, or before its draw.
    Early,
    /// In line, while the operator holds everyone.
    Paused,
    /// May enter.
    YourTurn,
    /// Has entered.
    Inside,
    /// The room turns everyone away.
    TurnedAway {
        /// Whether the visitor has a place, which it keeps.
        keeps_place: bool,
        /// Whether nothing is left to come in for.
        sold_out: bool,
    },
    /// The session has ended.
    SessionOver,
    /// The turn was missed, or the visitor was away for too long.
    Missed,
    /// The state is unknown for now, and the visitor has no place yet.
    Busy,
    /// The room does not exist, or no longer.
    NoRoom,
}

/// Further facts to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub struct Notices {
    /// The earlier place of the visitor expired, and this one is new.
    pub is_new_place: bool,
    /// The visitor is served, and no seat is free yet.
    pub is_served: bool,
    /// The visitor asked to enter, and no seat was free at that moment.
    pub no_seat: bool,
    /// A seat is held for the visitor.
    pub has_held_seat: bool,
    /// The time for which the place was held is over; entering may still succeed.
    pub is_late: bool,
    /// The store cannot be reached: the values are the last known ones.
    pub stale: bool,
}

/// What a visitor has to solve before it gets a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageChallenge {
    /// Whose challenge it is.
    pub provider: ChallengeProvider,
    /// The public key of its widget.
    pub site_key: Option<String>,
    /// The puzzle of the built-in one, as the script reads it.
    pub puzzle: Option<Value>,
    /// Whether a solution was just refused.
    pub was_refused: bool,
}

/// The parts of the page that are the same in every state.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The language.
    pub language: Language,
    /// Where the visitor wants to go.
    pub wanted: Option<ReturnAddress>,
    /// The target of the form that claims the seat; `None`: the visitor enters by the link to the
    /// wanted page.
    pub enter: Option<String>,
    /// Whether the page is shown at the wanted address instead of its own.
    pub is_in_place: bool,
    /// The address of this page, for getting back in line: on the same origin, or the wanted page.
    pub here: String,
    /// How the language is chosen.
    pub language_form: LanguageForm,
    /// The source of live updates: a path on the origin of the page; `None`: there are none.
    pub live: Option<String>,
    /// Where the operator's logo is.
    pub logo: Option<LogoSource>,
    /// What the logo says.
    pub logo_alt: Option<PageText>,
    /// What the operator calls the line.
    pub title: Option<PageText>,
    /// The operator's colours; `None`: the page's own.
    pub accent: Option<Accent>,
    /// Whether pages of any other site may frame this one.
    pub is_framed_anywhere: bool,
}

/// The form by which a visitor chooses a language: a `GET`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageForm {
    /// Its target: a path, without a query.
    pub action: String,
    /// The parameter that names the language.
    pub parameter: &'static str,
    /// The other parameters of the address.
    pub other_parameters: Vec<(String, String)>,
}

/// The shortest time after which a visitor who was turned away asks again, in ms; the longest is
/// twice this.
const SHORTEST_REOPEN_CHECK_MS: u64 = 30_000;

// === impl PageView ===

impl PageView {
    /// A page in `state` for a visitor of whom nothing else is known. It does not ask again.
    /// `now_ms` is 0 if no snapshot gives the time.
    #[must_use]
    pub fn without_visitor(state: PageState, now_ms: u64, frame: PageFrame) -> Self {
        Self {
            room: String::new(),
            state,
            method: QueueingMethod::Fifo,
            queue_all: false,
            event: None,
            position: None,
            people_ahead: None,
            wait_seconds: None,
            quartiles: None,
            waited_seconds: None,
            now_ms,
            updated_ms: now_ms,
            interval_ms: 0,
            refresh_ms: 0,
            hold_seconds: None,
            is_automatic: false,
            grace_seconds: None,
            notices: Notices::default(),
            challenge: None,
            message: None,
            frame,
        }
    }

    /// After how long a visitor who was turned away asks again whether the room is open, in ms: 30
    /// to 60 seconds. The milliseconds of `now_ms` spread the visitors over that time.
    #[must_use]
    pub fn reopen_check_ms(now_ms: u64) -> u32 {
        let spread = now_ms.wrapping_mul(7_919) % SHORTEST_REOPEN_CHECK_MS;
        u32::try_from(SHORTEST_REOPEN_CHECK_MS + spread).unwrap_or(u32::MAX)
    }
}

// === impl PageFrame ===

impl PageFrame {
    /// The page alone, in `language`: its links lead to its own address.
    #[must_use]
    pub fn plain(language: Language) -> Self {
        Self {
            language,
            wanted: None,
            enter: None,
            is_in_place: false,
            here: String::new(),
            language_form: LanguageForm {
                action: String::new(),
                parameter: "lang",
                other_parameters: Vec::new(),
            },
            live: None,
            logo: None,
            logo_alt: None,
            title: None,
            accent: None,
            is_framed_anywhere: false,
        }
    }
}

// === impl PageState ===

impl PageState {
    /// The name of the state in the page (`data-state`), its JSON and the address of a preview.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::Waiting => "waiting",
            Self::Early => "early",
            Self::Paused => "paused",
            Self::YourTurn => "turn",
            Self::Inside => "inside",
            Self::TurnedAway { sold_out: true, .. } => "sold_out",
            Self::TurnedAway { .. } => "turned_away",
            Self::SessionOver => "session_over",
            Self::Missed => "missed",
            Self::Busy => "busy",
            Self::NoRoom => "no_room",
        }
    }

    /// Whether the visitor is in line.
    #[must_use]
    pub fn is_in_line(self) -> bool {
        matches!(self, Self::Waiting | Self::Early | Self::Paused)
    }

    /// Whether the visitor has lost its place or its seat.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::SessionOver | Self::Missed)
    }
}
