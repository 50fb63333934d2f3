//! What the page knows about one visitor in one room: plain values, filled in by the service. The
//! texts are made from them in [`crate::content`].

use vestibule_domain::{QueueingMethod, schedule::EventInForce};

use crate::{Language, ReturnAddress};

/// What is shown of one visitor in one room.
#[derive(Debug, Clone)]
pub struct PageView {
    /// The room; empty if there is none.
    pub room: String,
    /// How the visitor stands.
    pub state: PageState,
    /// How the room chooses who enters next.
    pub method: QueueingMethod,
    /// Whether the operator holds everyone.
    pub queue_all: bool,
    /// The event in force.
    pub event: Option<EventInForce>,
    /// The place in line; `None` before its draw and where chance decides.
    pub position: Option<u64>,
    /// People still there who enter first; `None` as for the position.
    pub people_ahead: Option<u64>,
    /// The expected wait in seconds; `None`: unknown.
    pub wait_seconds: Option<u64>,
    /// Where chance decides: after so many seconds a quarter, half and three quarters of those who
    /// wait like this have entered.
    pub quartiles: Option<[u64; 3]>,
    /// How long the visitor has waited already, seconds.
    pub waited_seconds: Option<u64>,
    /// The moment of rendering, unix ms.
    pub now_ms: u64,
    /// When the room was last heard of, unix ms; 0: never.
    pub updated_ms: u64,
    /// The visitor's last check-in that counted, unix ms; 0: none did yet.
    pub checked_in_ms: u64,
    /// The interval that was told then, ms.
    pub interval_ms: u32,
    /// When to ask again, ms from now; 0: not by itself.
    pub refresh_ms: u32,
    /// How long the place is still held for someone whose turn it is, seconds; `None`: for as long
    /// as is needed, or unknown.
    pub hold_seconds: Option<u64>,
    /// How long a place is kept for someone who closed the page, seconds; `None`: for ever.
    pub grace_seconds: Option<u64>,
    /// What else there is to say.
    pub notices: Notices,
    /// What is around it: addresses, language, look.
    pub frame: PageFrame,
}

/// How a visitor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageState {
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
    /// The room turns everyone away; with a place that is kept, or without one.
    TurnedAway {
        /// Whether the visitor has a place, which it keeps.
        keeps_place: bool,
    },
    /// The time inside is over.
    SessionOver,
    /// The turn was missed, or the visitor was away for too long.
    Missed,
    /// Nobody can tell for now, and the visitor has no place yet.
    Busy,
    /// The room does not exist, or no longer.
    NoRoom,
}

/// What else there is to say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub struct Notices {
    /// The visitor's earlier place had run out, and this one is new.
    pub is_new_place: bool,
    /// It would be the visitor's turn if a seat were free.
    pub is_at_door: bool,
    /// The visitor asked to enter, and no seat was free at that moment.
    pub no_seat: bool,
    /// The time for which the place was held is over; entering may still succeed.
    pub is_late: bool,
    /// The store cannot be reached: this is the last that was known.
    pub stale: bool,
}

/// What is the same in every state: addresses, language, look.
#[derive(Debug, Clone)]
pub struct PageFrame {
    /// The language.
    pub language: Language,
    /// Where the visitor wants to go.
    pub wanted: Option<ReturnAddress>,
    /// Where to enter by a form, which claims the seat; `None`: the link to the wanted page does.
    pub enter: Option<String>,
    /// Whether the page stands at the address that is wanted, instead of its own.
    pub is_in_place: bool,
    /// The address of this page itself, for getting back in line: same origin, or the wanted page.
    pub here: String,
    /// How the language is chosen.
    pub language_form: LanguageForm,
    /// Where live updates come from: a path on the origin of the page; `None`: there are none.
    pub live: Option<String>,
    /// The operator's logo as a `data:` URI of an image.
    pub logo: Option<String>,
    /// Whether pages of any other site may show this one in a frame.
    pub is_framed_anywhere: bool,
}

/// The form by which a visitor chooses a language: a `GET`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageForm {
    /// Where it leads: a path, without a query.
    pub action: String,
    /// The parameter that names the language.
    pub parameter: &'static str,
    /// The parameters that are kept.
    pub kept: Vec<(String, String)>,
}

/// A room that turns everyone away is asked about this seldom, in ms: from here to twice this.
const SHORTEST_REOPEN_CHECK_MS: u64 = 30_000;

// === impl PageView ===

impl PageView {
    /// A page in `state` for someone of whom nothing else is known; it does not ask again by
    /// itself. `now_ms` is 0 where no room tells the time.
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
            checked_in_ms: 0,
            interval_ms: 0,
            refresh_ms: 0,
            hold_seconds: None,
            grace_seconds: None,
            notices: Notices::default(),
            frame,
        }
    }

    /// When someone who is turned away asks again whether the room is open, in ms from `now_ms`:
    /// 30 to 60 seconds. The milliseconds of the clock spread the visitors over that time.
    #[must_use]
    pub fn reopen_check_ms(now_ms: u64) -> u32 {
        let spread = now_ms.wrapping_mul(7_919) % SHORTEST_REOPEN_CHECK_MS;
        u32::try_from(SHORTEST_REOPEN_CHECK_MS + spread).unwrap_or(u32::MAX)
    }
}

// === impl PageFrame ===

impl PageFrame {
    /// Only the page, in `language`: its links lead to its own address.
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
                kept: Vec::new(),
            },
            live: None,
            logo: None,
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
            Self::Waiting => "waiting",
            Self::Early => "early",
            Self::Paused => "paused",
            Self::YourTurn => "turn",
            Self::Inside => "inside",
            Self::TurnedAway { .. } => "turned_away",
            Self::SessionOver => "session_over",
            Self::Missed => "missed",
            Self::Busy => "busy",
            Self::NoRoom => "no_room",
        }
    }

    /// Whether the visitor stands in line.
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
