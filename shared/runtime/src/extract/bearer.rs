//! The token that a request shows as `Authorization: Bearer …`. Whose it is, is not known here.

use axum::http::{HeaderMap, header::AUTHORIZATION};

/// The token; `None`: it shows none.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_follows_the_word_bearer() {
        let token = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token("Bearer 0123").as_deref(), Some("0123"));
        assert_eq!(token("bearer   0123").as_deref(), Some("0123"));
        assert_eq!(token("Bearer ").as_deref(), Some(""));
        for other in ["0123456789abcdef", "Bearer", "Basic 0123456789abcdef"] {
            assert_eq!(token(other), None, "{other}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
