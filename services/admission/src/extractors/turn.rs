//! How a request would take its visitor's turn. The waiting page's script says so in `Accept`, the one header
//! that every gateway passes on; an app that claims, in the query.

use axum::http::HeaderMap;
use serde::Deserialize;
use vestibule_domain::{Enter, RoomSettings};

use super::accept::page_parameters;
use crate::flows::Turn;

/// The query of a claim.
#[derive(Debug, Clone, Copy, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TurnQuery {
    /// `enter` (default): take a seat; `hold`: have one held, and claim again within
    /// `seat_held_seconds`.
    #[serde(default)]
    #[param(value_type = Option<ClaimedTurn>, inline)]
    turn: ClaimedTurn,
}

/// How a claim takes the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum ClaimedTurn {
    #[default]
    Enter,
    Hold,
}

/// How the waiting page takes the turn: `turn=enter`, somebody looks at it, and enters; `turn=hold`, a seat is
/// held meanwhile. In a room whose visitors enter by a button it only has a seat held.
#[must_use]
pub(crate) fn turn_of_page(headers: &HeaderMap, settings: &RoomSettings) -> Turn {
    let turn = page_parameters(headers).find(|(name, _)| *name == "turn");
    match turn.map(|(_, value)| value) {
        Some("enter") if settings.enter == Enter::Automatic => Turn::Enter,
        Some("enter" | "hold") => Turn::Hold,
        _ => Turn::Later,
    }
}

// === impl TurnQuery ===

impl From<TurnQuery> for Turn {
    fn from(query: TurnQuery) -> Self {
        match query.turn {
            ClaimedTurn::Enter => Self::Enter,
            ClaimedTurn::Hold => Self::Hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header::ACCEPT};

    use super::*;

    #[test]
    fn a_page_enters_by_itself_unless_the_room_has_a_button() {
        let automatic = RoomSettings::default();
        let button = RoomSettings { enter: Enter::Button, ..RoomSettings::default() };
        let asked = |accept: &str| {
            let accept = HeaderValue::from_str(accept).unwrap();
            let headers = HeaderMap::from_iter([(ACCEPT, accept)]);
            [&automatic, &button].map(|settings| turn_of_page(&headers, settings))
        };
        let page = vestibule_page::PAGE_JSON_TYPE;
        assert_eq!(asked(&format!("{page};turn=enter")), [Turn::Enter, Turn::Hold]);
        assert_eq!(asked(&format!("{page}; turn=hold")), [Turn::Hold; 2]);
        assert_eq!(asked(&format!("{page};turn=hold;challenge=e30")), [Turn::Hold; 2]);
        assert_eq!(asked(&format!("{page};turn=else")), [Turn::Later; 2]);
        assert_eq!(asked(page), [Turn::Later; 2]);
        assert_eq!(asked("text/html;turn=enter"), [Turn::Later; 2], "not the page's script");
    }
}
