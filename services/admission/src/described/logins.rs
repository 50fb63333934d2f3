//! How the provider of OpenID Connect reads what sites ask for, through their visitors and themselves.

use axum::http::HeaderValue;
use vestibule_site::SiteBinding;

use crate::oidc::{Answer, AuthorizationRequest, Refused, TokenRequest};

/// Where a visitor is led to by its site's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Led {
    /// Nowhere: it is told what is wrong.
    Nowhere,
    /// Back to this address, with an error.
    Refused(String),
    /// Into the line, and with this code back to this address.
    Asked(String),
}

/// Where the query of `/oidc/{room}/authorize` leads to, if `code` is what the visitor gets from `issuer`.
#[must_use]
pub fn led_to(query: &str, binding: &SiteBinding, issuer: &str, code: &str) -> Led {
    match AuthorizationRequest::read(query, binding, 0) {
        Err(Refused::Here(_)) => Led::Nowhere,
        Err(Refused::There { redirect_uri, state, error, description }) => {
            let answer = Answer { redirect_uri: &redirect_uri, state: state.as_deref(), issuer };
            Led::Refused(answer.with_error(error, description))
        }
        Ok(AuthorizationRequest { login, .. }) => {
            Led::Asked(Answer::to(&login, issuer).with_code(code))
        }
    }
}

/// Whether a request for tokens with this header `Authorization` and this form is that of a client that has proven who it
/// is.
#[must_use]
pub fn proves(authorization: Option<&HeaderValue>, form: &str, binding: &SiteBinding) -> bool {
    TokenRequest::read(authorization, form, binding).is_ok()
}
