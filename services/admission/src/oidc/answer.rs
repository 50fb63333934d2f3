//! Where a visitor is sent back to, with what: a code or an error, and the site's state.

use vestibule_token::Login;

/// Why no code is given, as OAuth and OpenID Connect name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthorizationError {
    /// Something is missing, there twice, or wrong.
    InvalidRequest,
    /// Not `code`.
    UnsupportedResponseType,
    /// Without `openid`.
    InvalidScope,
    /// The visitor would have to wait, and the site wants no page to be shown.
    LoginRequired,
    /// Parameters come as an object.
    RequestNotSupported,
    /// The same, from an address.
    RequestUriNotSupported,
    /// The client wants to be registered.
    RegistrationNotSupported,
    /// It may work a moment later.
    TemporarilyUnavailable,
}

/// What a site is told through its visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    /// Where the visitor goes.
    pub(crate) redirect_uri: &'a str,
    /// What the site wants back.
    pub(crate) state: Option<&'a str>,
    /// Who answers (RFC 9207).
    pub(crate) issuer: &'a str,
}

// === impl AuthorizationError ===

impl AuthorizationError {
    /// Its name.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::LoginRequired => "login_required",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::RegistrationNotSupported => "registration_not_supported",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }
}

// === impl Answer ===

impl<'a> Answer<'a> {
    /// To what was asked for by `login`.
    pub(crate) fn to(login: &'a Login, issuer: &'a str) -> Self {
        Self { redirect_uri: &login.redirect_uri, state: login.state.as_deref(), issuer }
    }

    /// The address with a code.
    pub(crate) fn with_code(&self, code: &str) -> String {
        self.with(&[("code", code)])
    }

    /// The address with an error.
    pub(crate) fn with_error(&self, error: AuthorizationError, description: &str) -> String {
        self.with(&[("error", error.code()), ("error_description", description)])
    }

    fn with(&self, pairs: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs);
        query.extend_pairs(self.state.map(|state| ("state", state)));
        query.append_pair("iss", self.issuer);
        let joint = match self.redirect_uri {
            uri if uri.ends_with(['?', '&']) => "",
            uri if uri.contains('?') => "&",
            _ => "?",
        };
        format!("{}{joint}{}", self.redirect_uri, query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_address_has_already_stays_and_the_state_comes_back_as_it_was() {
        let of = |redirect_uri, state| Answer { redirect_uri, state, issuer: "https://w/oidc/s" };
        assert_eq!(
            of("https://a/cb", Some("a=b&c d+é")).with_code("x-_"),
            "https://a/cb?code=x-_&state=a%3Db%26c+d%2B%C3%A9&iss=https%3A%2F%2Fw%2Foidc%2Fs"
        );
        let error = of("https://a/cb?x=1", None);
        let error = error.with_error(AuthorizationError::LoginRequired, "wait first");
        let rest =
            "error=login_required&error_description=wait+first&iss=https%3A%2F%2Fw%2Foidc%2Fs";
        assert_eq!(error, format!("https://a/cb?x=1&{rest}"));
        assert!(of("https://a/cb?", None).with_code("x").starts_with("https://a/cb?code=x&"));
    }
}
