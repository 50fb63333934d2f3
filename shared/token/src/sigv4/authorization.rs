//! The header `Authorization` of a signed request: who signed it, for what, which headers, and the signature.

use super::SigV4Error;

/// What the header begins with.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What every scope ends with.
const TERMINATOR: &str = "aws4_request";

/// The most headers that are signed. Clients sign up to ten.
const MOST_HEADERS: usize = 64;

/// The header of a signed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization<'a> {
    pub(super) key_id: &'a str,
    /// As `YYYYMMDD`.
    pub(super) date: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    /// As they are written, and in their order.
    pub(super) signed_headers: &'a str,
    pub(super) signature: [u8; 32],
}

// === impl Authorization ===

impl<'a> Authorization<'a> {
    /// Whether a header's value is of this kind, rightly made or not.
    #[must_use]
    pub fn is_meant(value: &str) -> bool {
        value.trim_start().starts_with(ALGORITHM)
    }

    /// Reads the header's value.
    ///
    /// # Errors
    /// [`SigV4Error::Incomplete`], [`SigV4Error::Scope`].
    pub fn parse(value: &'a str) -> Result<Self, SigV4Error> {
        let parts = value.trim().strip_prefix(ALGORITHM);
        let parts = parts.filter(|parts| parts.starts_with(char::is_whitespace));
        let parts =
            parts.ok_or(incomplete("Authorization header must begin with 'AWS4-HMAC-SHA256 '."))?;
        let (mut credential, mut headers, mut signature) = (None, None, None);
        for part in parts.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let place = match name.trim() {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut headers,
                "Signature" => &mut signature,
                _ => {
                    return Err(incomplete(
                        "Authorization header has a parameter that is not known.",
                    ));
                }
            };
            if place.replace(value.trim()).is_some() {
                return Err(incomplete("Authorization header has a parameter twice."));
            }
        }
        let credential = credential
            .ok_or(incomplete("Authorization header requires 'Credential' parameter."))?;
        let signed_headers = headers
            .ok_or(incomplete("Authorization header requires 'SignedHeaders' parameter."))?;
        let signature =
            signature.ok_or(incomplete("Authorization header requires 'Signature' parameter."))?;
        let signature = read_signature(signature).ok_or(SigV4Error::Signature)?;
        check_headers(signed_headers)?;
        Self::of(credential, signed_headers, signature)
    }

    fn of(
        credential: &'a str,
        signed_headers: &'a str,
        signature: [u8; 32],
    ) -> Result<Self, SigV4Error> {
        // From its end: a key's name may have slashes.
        let mut parts = credential.rsplitn(5, '/');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let (terminator, service, region, date, key_id) = (next(), next(), next(), next(), next());
        let malformed =
            || incomplete("Credential must have 5 parts: key/date/region/service/aws4_request.");
        let key_id = key_id.ok_or_else(malformed)?;
        let (date, region, service) = (
            date.ok_or_else(malformed)?,
            region.ok_or_else(malformed)?,
            service.ok_or_else(malformed)?,
        );
        if terminator != Some(TERMINATOR) {
            let text = "Credential should be scoped with a valid terminator: 'aws4_request'.";
            return Err(SigV4Error::Scope(text.to_owned()));
        }
        Ok(Self { key_id, date, region, service, signed_headers, signature })
    }

    /// The key that it says it was signed with.
    #[must_use]
    pub fn key_id(&self) -> &'a str {
        self.key_id
    }

    /// What a signature holds for, beside the key.
    pub(super) fn scope(&self) -> String {
        let Self { date, region, service, .. } = self;
        format!("{date}/{region}/{service}/{TERMINATOR}")
    }

    /// The names of the signed headers.
    pub(super) fn headers(&self) -> impl Iterator<Item = &'a str> {
        self.signed_headers.split(';')
    }
}

/// Lower-case, sorted, none twice.
fn check_headers(names: &str) -> Result<(), SigV4Error> {
    let names: Vec<_> = names.split(';').collect();
    let is_name = |name: &&str| {
        let plain = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        !name.is_empty() && name.bytes().all(plain)
    };
    let are_sorted = names.windows(2).all(|pair| pair[0] < pair[1]);
    if names.len() > MOST_HEADERS || !names.iter().all(is_name) || !are_sorted {
        return Err(incomplete(
            "'SignedHeaders' must be lower-case names, sorted and separated by ';'.",
        ));
    }
    Ok(())
}

/// 64 hexadecimal digits, in lower case.
fn read_signature(text: &str) -> Option<[u8; 32]> {
    let mut signature = [0; 32];
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    (is_lower && hex::decode_to_slice(text, &mut signature).is_ok()).then_some(signature)
}

pub(super) fn incomplete(text: &'static str) -> SigV4Error {
    SigV4Error::Incomplete(text)
}
