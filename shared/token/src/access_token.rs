//! The claims of an access token and their encoding: compact JSON with sorted keys, byte for byte
//! as the AWS reference writes it, so that the same claims and RSA key always give the same token.
//! Signing is in the signing key, checking in [`verify`](crate::verify()).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::KeyAlgorithm;

/// The length of an encoded RSA-2048 signature and its dot, reserved in advance to avoid copying.
const SIGNATURE_ROOM: usize = 343;

/// The claims of a token. They are written in the order of the fields, which must stay
/// alphabetical.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claims {
    /// The room.
    pub aud: String,
    /// The key of its holder, if it is bound to one (RFC 9449).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<Confirmation>,
    /// When it expires, unix seconds; in that second it is no longer valid.
    pub exp: u64,
    /// When it was issued, unix seconds.
    pub iat: u64,
    /// The issuer: a URL of the deployment, or the text set by the operator.
    pub iss: String,
    /// From when it is valid, unix seconds.
    pub nbf: u64,
    /// The visitor's queue number.
    pub queue_position: u64,
    /// The visitor's request id.
    pub sub: String,
    /// Which of the three tokens this is.
    pub token_use: TokenUse,
}

/// How the holder of a token proves to be its holder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Confirmation {
    /// The thumbprint of its key.
    pub jkt: String,
}

/// The three tokens of an AWS-style answer. They differ only in this claim, and only `access` opens
/// a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenUse {
    /// `access`: the token that gateways check.
    Access,
    /// `id`: for clients that expect one.
    Id,
    /// `refresh`: for clients that expect one; it is accepted nowhere.
    Refresh,
}

/// The header of every token signed by `kid`, encoded as in a token.
pub(crate) fn encoded_header(algorithm: KeyAlgorithm, kid: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}","kid":"{kid}","typ":"JWT"}}"#))
}

/// The signed text: the header, a dot, the claims.
pub(crate) fn signing_input(
    encoded_header: &str,
    claims: &impl Serialize,
) -> Result<String, serde_json::Error> {
    let claims = serde_json::to_vec(claims)?;
    let mut input = String::with_capacity(encoded_header.len() + claims.len() * 2 + SIGNATURE_ROOM);
    input.push_str(encoded_header);
    input.push('.');
    URL_SAFE_NO_PAD.encode_string(claims, &mut input);
    Ok(input)
}

/// The token: `signing_input`, a dot, the signature.
pub(crate) fn with_signature(mut signing_input: String, signature: &[u8]) -> String {
    signing_input.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut signing_input);
    signing_input
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::claims;

    fn decoded(part: &str) -> String {
        String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    }

    #[test]
    fn the_header_is_compact_and_sorted() {
        for algorithm in [KeyAlgorithm::Rs256, KeyAlgorithm::Es256] {
            let header = decoded(&encoded_header(algorithm, "00ff"));
            assert_eq!(header, format!(r#"{{"alg":"{algorithm}","kid":"00ff","typ":"JWT"}}"#));
        }
    }

    #[test]
    fn the_claims_are_compact_and_sorted() {
        let input = signing_input("header", &claims()).unwrap();
        let (header, payload) = input.split_once('.').unwrap();
        assert_eq!(header, "header");
        assert_eq!(
            decoded(payload),
            concat!(
                r#"{"aud":"sale","exp":1763693600,"iat":1763690000,"iss":"https://line.example","#,
                r#""nbf":1763690000,"queue_position":4711,"#,
                r#""sub":"6f1c2a34-0b5d-4e7f-8a90-b1c2d3e4f506","token_use":"access"}"#
            )
        );
    }

    #[test]
    fn a_key_is_told_in_its_place() {
        let cnf = Some(Confirmation { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I".into() });
        let bound = Claims { cnf, ..claims() };
        let json = serde_json::to_string(&bound).unwrap();
        let start =
            r#"{"aud":"sale","cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"},"exp":"#;
        assert!(json.starts_with(start), "{json}");
        assert_eq!(serde_json::from_str::<Claims>(&json).unwrap(), bound);
    }

    #[test]
    fn the_three_uses_are_lower_case() {
        let uses = [TokenUse::Access, TokenUse::Id, TokenUse::Refresh];
        assert_eq!(serde_json::to_string(&uses).unwrap(), r#"["access","id","refresh"]"#);
    }
}
