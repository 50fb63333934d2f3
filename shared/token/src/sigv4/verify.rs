//! Checks a signed request: first all that needs no key and no body, then the signature.

use aws_lc_rs::{
    digest::{self, SHA256},
    hmac::{self, HMAC_SHA256},
};

use super::{Authorization, SigV4Error, SigV4Key, authorization::incomplete, canonical, time};

/// The service of the calls of an API gateway.
pub const SIGV4_SERVICE: &str = "execute-api";

/// So far may the signer's clock be from ours, in seconds.
pub const SKEW_SECONDS: i64 = 300;

const DATE: &str = "x-amz-date";
const TOKEN: &str = "x-amz-security-token";
const PAYLOAD: &str = "x-amz-content-sha256";

/// A request as it was received, but for its body.
#[derive(Debug, Clone, Copy)]
pub struct SignedRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The path as it was sent, not decoded.
    pub path: &'a str,
    /// The query as it was sent, not decoded; empty: there is none.
    pub query: &'a str,
    /// What may have been signed as `host`: the header, and what a proxy that is trusted says instead.
    pub hosts: &'a [&'a str],
    /// The other headers, each by its name in lower case, in the order in which they came.
    pub headers: &'a [(&'a str, &'a str)],
}

// === impl SignedRequest ===

impl<'a> SignedRequest<'a> {
    fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// The value of a header as it is signed; of several of one name, all. `None`: there is none.
    fn signed(&self, name: &str) -> Option<String> {
        let mut values = self.all(name).map(canonical::value);
        let first = values.next()?;
        Some(values.fold(first, |all, value| format!("{all},{value}")))
    }
}

// === impl Authorization ===

impl Authorization<'_> {
    /// Checks what needs neither the key nor the body: that it is for `region`, and signed at `now` (unix seconds), give
    /// or take [`SKEW_SECONDS`], and that what must be signed is.
    ///
    /// # Errors
    /// [`SigV4Error`].
    pub fn check(
        &self,
        request: &SignedRequest<'_>,
        region: &str,
        now: i64,
    ) -> Result<(), SigV4Error> {
        if self.service != SIGV4_SERVICE {
            let text =
                format!("Credential should be scoped to correct service: '{SIGV4_SERVICE}'.");
            return Err(SigV4Error::Scope(text));
        }
        if self.region != region {
            let text = "Credential should be scoped to a valid region.".to_owned();
            return Err(SigV4Error::Scope(text));
        }
        self.check_headers(request)?;
        self.check_time(request, now)
    }

    fn check_headers(&self, request: &SignedRequest<'_>) -> Result<(), SigV4Error> {
        let is_signed = |name: &str| self.headers().any(|signed| signed == name);
        if !is_signed("host") || request.hosts.is_empty() {
            return Err(incomplete("'Host' must be a 'SignedHeader' in the AWS Authorization."));
        }
        if !is_signed(DATE) {
            return Err(incomplete(
                "'X-Amz-Date' must be a 'SignedHeader' in the AWS Authorization.",
            ));
        }
        if request.header(TOKEN).is_some() && !is_signed(TOKEN) {
            return Err(incomplete(
                "'X-Amz-Security-Token' must be a 'SignedHeader' in the AWS Authorization.",
            ));
        }
        if self.headers().any(|name| name != "host" && request.header(name).is_none()) {
            return Err(incomplete("A header of 'SignedHeaders' is not in the request."));
        }
        Ok(())
    }

    fn check_time(&self, request: &SignedRequest<'_>, now: i64) -> Result<(), SigV4Error> {
        let sent = request.header(DATE).unwrap_or_default();
        let signed = time::parse(sent)
            .ok_or(incomplete("'X-Amz-Date' must be as in '20150830T123600Z'."))?;
        if !sent.starts_with(self.date) || self.date.len() != 8 {
            let text = "Date in Credential scope does not match YYYYMMDD from 'X-Amz-Date'.";
            return Err(SigV4Error::Scope(text.to_owned()));
        }
        let (earliest, latest) = (now - SKEW_SECONDS, now + SKEW_SECONDS);
        let [now, least, most] = [now, earliest, latest].map(time::format);
        if signed < earliest {
            let text =
                format!("Signature expired: {sent} is now earlier than {least} ({now} - 5 min.)");
            return Err(SigV4Error::Time(text));
        }
        if signed > latest {
            let text = format!(
                "Signature not yet current: {sent} is still later than {most} ({now} + 5 min.)"
            );
            return Err(SigV4Error::Time(text));
        }
        Ok(())
    }

    /// Checks that whoever has `key` signed this request with this body. [`Self::check`] comes first.
    ///
    /// # Errors
    /// [`SigV4Error::UnknownKey`], [`SigV4Error::Payload`], [`SigV4Error::Signature`].
    pub fn verify(
        &self,
        request: &SignedRequest<'_>,
        body: &[u8],
        key: &SigV4Key,
    ) -> Result<(), SigV4Error> {
        if !key.has_session_token(request.header(TOKEN)) {
            return Err(SigV4Error::UnknownKey);
        }
        let payload = sha256_hex(body);
        // So `UNSIGNED-PAYLOAD` and its kin are refused, too.
        if request.all(PAYLOAD).any(|said| said.trim() != payload) {
            return Err(SigV4Error::Payload);
        }
        let signing = self.signing_key(key);
        for query in canonical::queries(request.query) {
            for host in request.hosts {
                let canonical = self.canonical(request, &query, host, &payload);
                let text = self.string_to_sign(request, &canonical);
                // Takes as long wherever they differ.
                if hmac::verify(&signing, text.as_bytes(), &self.signature).is_ok() {
                    return Ok(());
                }
            }
        }
        Err(SigV4Error::Signature)
    }

    /// The request in the form that is signed.
    pub(super) fn canonical(
        &self,
        request: &SignedRequest<'_>,
        query: &str,
        host: &str,
        payload: &str,
    ) -> String {
        let mut text = format!("{}\n{}\n{query}\n", request.method, canonical::path(request.path));
        for name in self.headers() {
            let value =
                if name == "host" { Some(canonical::value(host)) } else { request.signed(name) };
            text.extend([name, ":", &value.unwrap_or_default(), "\n"]);
        }
        text.extend(["\n", self.signed_headers, "\n", payload]);
        text
    }

    pub(super) fn string_to_sign(&self, request: &SignedRequest<'_>, canonical: &str) -> String {
        let (date, scope) = (request.header(DATE).unwrap_or_default(), self.scope());
        format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", sha256_hex(canonical.as_bytes()))
    }

    /// The key of this day, region and service.
    pub(super) fn signing_key(&self, key: &SigV4Key) -> hmac::Key {
        let parts = [self.date, self.region, self.service, "aws4_request"];
        parts.iter().fold(key.first(), |key, part| {
            hmac::Key::new(HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref())
        })
    }
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(digest::digest(&SHA256, bytes))
}
