//! What a provider tells of itself (OpenID Connect Discovery 1.0, 3): what is true, and nothing that may come one day.

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_token::{Jwks, KeyAlgorithm};

/// What a provider tells of itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Configuration {
    /// Who it is: the `iss` of its id tokens.
    issuer: String,
    /// Where a site sends its visitors.
    authorization_endpoint: String,
    /// Where it exchanges codes.
    token_endpoint: String,
    /// Where it asks about an access token.
    userinfo_endpoint: String,
    /// The keys that id tokens are signed by.
    jwks_uri: String,
    scopes_supported: [&'static str; 1],
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 1],
    prompt_values_supported: [&'static str; 1],
    subject_types_supported: [&'static str; 1],
    /// What the keys sign with; that of the one in force first.
    #[schema(value_type = Vec<String>, example = json!(["RS256"]))]
    id_token_signing_alg_values_supported: Vec<KeyAlgorithm>,
    token_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    claims_supported: [&'static str; 9],
    /// False: it would be true if nothing was said.
    request_uri_parameter_supported: bool,
    authorization_response_iss_parameter_supported: bool,
}

// === impl Configuration ===

impl Configuration {
    /// That of the provider `issuer`, whose tokens `keys` verify.
    pub(crate) fn of(issuer: &str, keys: &Jwks) -> Self {
        let mut algorithms = Vec::new();
        for algorithm in keys.keys.iter().map(|key| key.jwk.algorithm()) {
            if !algorithms.contains(&algorithm) {
                algorithms.push(algorithm);
            }
        }
        Self {
            authorization_endpoint: format!("{issuer}/authorize"),
            token_endpoint: format!("{issuer}/token"),
            userinfo_endpoint: format!("{issuer}/userInfo"),
            jwks_uri: format!("{issuer}/.well-known/jwks.json"),
            issuer: issuer.to_owned(),
            scopes_supported: ["openid"],
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: ["authorization_code"],
            prompt_values_supported: ["none"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: algorithms,
            token_endpoint_auth_methods_supported: [
                "client_secret_basic",
                "client_secret_post",
                "none",
            ],
            code_challenge_methods_supported: ["S256"],
            claims_supported: [
                "iss",
                "sub",
                "aud",
                "exp",
                "iat",
                "auth_time",
                "nonce",
                "at_hash",
                "token_use",
            ],
            request_uri_parameter_supported: false,
            authorization_response_iss_parameter_supported: true,
        }
    }
}
