//! What a newcomer shows for a place in a room with a challenge: a solution or a pass, unread. Apps send it in a
//! header. The waiting page's script sends it in `Accept`, since some gateways drop headers of ours.

use axum::http::{HeaderMap, HeaderName};
use utoipa::IntoParams;

use super::accept::page_parameters;
use crate::flows::{Sender, Solution};

const CHALLENGE: HeaderName = HeaderName::from_static("vestibule-challenge");
/// The parameter of the page's type.
const PARAMETER: &str = "challenge";

/// What a call shows. Read by [`solution`].
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "read by the API document only")]
pub(crate) struct ChallengeHeader {
    /// Of a newcomer in a room with a challenge: the solution, or a pass.
    #[param(rename = "Vestibule-Challenge")]
    challenge: Option<String>,
}

/// What the request shows, as that of an app.
#[must_use]
pub(crate) fn solution(headers: &HeaderMap) -> Solution<'_> {
    let sent = headers.get(CHALLENGE).and_then(|value| value.to_str().ok());
    let of_page = || page_parameters(headers).find(|(name, _)| *name == PARAMETER);
    let shown = sent.or_else(|| of_page().map(|(_, value)| value));
    Solution { shown, sender: Sender::App }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header::ACCEPT};

    use super::*;

    #[test]
    fn it_comes_in_its_header_or_from_the_page() {
        let read = |name, value: &str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
            solution(&headers).shown.map(str::to_owned)
        };
        assert_eq!(read(CHALLENGE, "e30=").as_deref(), Some("e30="));
        let page = vestibule_page::PAGE_JSON_TYPE;
        assert_eq!(
            read(ACCEPT, &format!("{page};turn=hold;challenge=e30")).as_deref(),
            Some("e30")
        );
        assert_eq!(read(ACCEPT, page), None);
        assert_eq!(read(ACCEPT, "text/html;challenge=e30"), None);
    }
}
