//! Until when a seat counts as taken whose visitor has left before its time. A gateway that verifies tokens by itself
//! lets a visitor in until the token ends, whatever has become of the session. What a script does about it is not here.

use serde::{Deserialize, Serialize};

use crate::SiteBinding;

/// What the seats of a room end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatsEndWith {
    /// `session`: whoever leaves frees its seat at once, though its token may still open gateways that verify by
    /// themselves.
    Session,
    /// `token`: a seat is taken until its last token ends.
    Token,
}

/// Until when the seat of a session counts as taken that ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatEnds {
    /// It is free at once.
    AtOnce,
    /// Until its last token ends.
    WithToken,
    /// Until its token ends, if it is an AWS-style one; otherwise it is free at once.
    WithAwsStyleToken,
}

// === impl SiteBinding ===

impl SiteBinding {
    /// Until when the seats of this room's sessions count as taken that end before their time. Unless an operator says
    /// so, until the token ends where it is made for those who verify by themselves: the browser's cookie, what clients
    /// of OpenID Connect get, and the tokens of AWS-style clients.
    #[must_use]
    pub fn seat_ends(&self) -> SeatEnds {
        match self.seats_end_with {
            Some(SeatsEndWith::Session) => SeatEnds::AtOnce,
            Some(SeatsEndWith::Token) => SeatEnds::WithToken,
            None if self.access_token_cookie || !self.oidc_clients.is_empty() => {
                SeatEnds::WithToken
            }
            None => SeatEnds::WithAwsStyleToken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_outlasts_its_session_where_its_token_opens_gateways_by_itself() {
        let ends = |access_token_cookie, seats_end_with| {
            SiteBinding { access_token_cookie, seats_end_with, ..SiteBinding::default() }
                .seat_ends()
        };
        assert_eq!(ends(false, None), SeatEnds::WithAwsStyleToken);
        assert_eq!(ends(true, None), SeatEnds::WithToken);
        for cookie in [false, true] {
            assert_eq!(ends(cookie, Some(SeatsEndWith::Session)), SeatEnds::AtOnce);
            assert_eq!(ends(cookie, Some(SeatsEndWith::Token)), SeatEnds::WithToken);
        }
    }

    #[test]
    fn a_site_that_has_logged_its_visitor_in_asks_no_more_until_the_token_ends() {
        let oidc_clients = vec![crate::OidcClient::default()];
        let binding = SiteBinding { oidc_clients, ..SiteBinding::default() };
        assert_eq!(binding.seat_ends(), SeatEnds::WithToken);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let written = |binding: &SiteBinding| serde_json::to_string(binding).unwrap();
        let chosen =
            SiteBinding { seats_end_with: Some(SeatsEndWith::Token), ..SiteBinding::default() };
        assert!(written(&chosen).contains(r#""seats_end_with":"token""#));
        assert_eq!(serde_json::from_str::<SiteBinding>(&written(&chosen)).unwrap(), chosen);
    }
}
