//! The waiting page, as pure rendering: from plain values ([`PageView`]) to the content in words
//! ([`PageContent`]), and from there to the page ([`render`]) and to the updates for its script
//! ([`PageContent::to_json`]). No I/O and no clock: admission serves the page, the controller
//! previews it.
//!
//! # Elements
//! Tests and custom scripts may rely on these ids and attributes.
//!
//! | where | what |
//! |---|---|
//! | `html[data-state]` | the state: `challenge`, `waiting`, `early`, `paused`, `turn`, `inside`, `turned_away`, `session_over`, `missed`, `busy`, `no_room`; `sold_out`: turned away, since nothing is left |
//! | `#site` | the host of the wanted page, `#logo` the operator's logo |
//! | `#languages`, `#language` | the form that chooses a language, its list |
//! | `#headline` | the `h1`: the visitor's state |
//! | `#room-title` | what the operator calls the line, above the headline |
//! | `#news` (`role=status`) | `#message`: what the operator says; read out when it changes, and nothing else is in there |
//! | `#status` (`role=status`) | `#status-label`, `#status-text` (mostly the wait), `#notice`: changes only when the meaning does; `#unreachable` only while the script's requests fail |
//! | `#countdown` (`role=timer`) | the time until the start of an event, with script; then `#status-text` is for screen readers only |
//! | `#alert` (`role=alert`) | read aloud at the turn and at the end of the hold |
//! | `#go` | the link: to the wanted page at the turn and inside, back into the line when it is over |
//! | `#enter-form`, `#enter` | the form that claims, instead of the link, if there is one |
//! | `#hold` (`role=timer`) | how long the place is held |
//! | `#progress`, `#progress-text` | how much of the wait is over, if it is known |
//! | `#position`, `#ahead`, `#starts`, `#ends`, `#updated` | position, people ahead, times |
//! | `#note`, `#auto` | further hints |
//! | `#tools`, `#sound`, `#notify` | switched on by the visitor (`aria-pressed`); only with script |
//! | `#closing`, `#closing-text` | what happens if the page is closed |
//! | `#room` | the room |
//! | `#widget`, `#solver` | the check before the line: another provider's widget, or the worker of the built-in one |
//! | `template#inside` | in place only: the update for when the script finds that the visitor is inside |
//!
//! # Without script
//! `<noscript>` reloads the page when it is time. A `Refresh` header would also reload a page whose
//! script runs, and move the focus; only custom pages, which rely on it, get it
//! ([`RenderedPage::refresh_seconds`]).

mod accent;
mod challenge;
mod cloudflare;
mod content;
mod custom;
mod formats;
mod html;
mod language;
mod logo;
mod mustache;
mod policy;
mod samples;
mod texts;
mod view;
mod waits;
mod words;

pub use self::{
    accent::Accent,
    cloudflare::CfWaitingRoom,
    content::{PAGE_JSON_TYPE, PageContent},
    custom::{CustomPage, MAX_TEMPLATE},
    html::{RenderedPage, render},
    language::Language,
    logo::{LogoError, LogoSource, MAX_LOGO, PageLogo, check_logo},
    mustache::TemplateProblem,
    samples::PreviewSample,
    view::{LanguageForm, Notices, PageChallenge, PageFrame, PageState, PageView},
    words::PageText,
};
