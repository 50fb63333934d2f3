//! What the calls of OpenID Connect say, without acting on it: what a site asks for, who it proves to be, and how it is
//! told what is wrong. What is sealed and signed is `vestibule-token`'s, what the calls do is `flows::logins`'.
//!
//! OpenID Connect Core 1.0 and Discovery 1.0; OAuth 2.0 by RFC 6749, as RFC 9700 wants it used: codes only, exact
//! addresses, PKCE by SHA-256, and the issuer in every answer (RFC 9207).

mod answer;
mod authorization_request;
mod configuration;
mod error_page;
mod parameters;
mod token_error;
mod token_request;

pub(crate) use self::{
    answer::{Answer, AuthorizationError},
    authorization_request::{AuthorizationRequest, Refused},
    configuration::Configuration,
    error_page::error_page,
    parameters::{NoText, check_text},
    token_error::{OAuthError, TokenError},
    token_request::TokenRequest,
};
