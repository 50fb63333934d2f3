//! Asks Turnstile, hCaptcha and reCAPTCHA whether a visitor has passed: their `siteverify` call, which all
//! three document alike. A token counts once, and the provider sees to that.
//!
//! Neither secrets nor tokens are logged. No redirect is followed, and no address of a visitor is sent.

use std::{
    error::Error,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Bytes,
    http::{Method, Request, StatusCode, Uri, header::CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::time::Instant;
use vestibule_domain::challenge::ChallengeProvider;
use vestibule_runtime::{ErrorChain, Sparingly};
use vestibule_site::ClientNetwork;

use super::{ProviderOptions, slots::Slots};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The largest answer that is read, in bytes: a real one has a few hundred.
const LARGEST_ANSWER: usize = 16 * 1024;
/// The longest token that is passed on, in bytes.
const LONGEST_TOKEN: usize = 8 * 1024;
/// What a token can be answered that the provider cannot even read.
const OF_THE_TOKEN: [StatusCode; 4] = [
    StatusCode::BAD_REQUEST,
    StatusCode::PAYLOAD_TOO_LARGE,
    StatusCode::URI_TOO_LONG,
    StatusCode::UNPROCESSABLE_ENTITY,
];
/// Failures are said at most once in this time.
const SAY: Duration = Duration::from_secs(10);

/// The providers.
#[derive(Debug)]
pub(crate) struct Providers {
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    sites: Vec<Site>,
    slots: Slots,
    failures: Mutex<Sparingly>,
}

/// One provider that can be asked.
#[derive(Debug)]
struct Site {
    provider: ChallengeProvider,
    url: Uri,
    secret: SecretString,
}

/// What a provider says of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The visitor has passed.
    Passed,
    /// It has not, or not with this token.
    Refused,
    /// The token was used before, or is too old.
    Used,
    /// The provider could not be asked, or does not accept our question.
    Failed,
    /// Too many questions are under way here, in all or of the visitor's network. It is told to come back, whatever the
    /// room does when a provider fails: whoever sends rubbish in bulk shall not open it.
    Busy,
}

/// What providers answer.
#[derive(Debug, Deserialize)]
struct Answer {
    success: bool,
    #[serde(default, rename = "error-codes")]
    error_codes: Vec<String>,
}

// === impl Providers ===

impl Providers {
    /// The providers whose secrets the options give.
    ///
    /// # Errors
    /// Names the option that cannot be used, never a secret.
    pub(crate) fn read(options: &ProviderOptions) -> Result<Self, Box<dyn Error>> {
        use ChallengeProvider::{Hcaptcha, Recaptcha, Turnstile};
        let mut sites = Vec::new();
        for provider in [Turnstile, Hcaptcha, Recaptcha] {
            let (Some(secret), Some(url)) = (options.secret(provider)?, options.url(provider))
            else {
                continue;
            };
            let upper = provider.name().to_uppercase();
            let url = address(url).map_err(|reason| format!("VESTIBULE_{upper}_URL: {reason}"))?;
            sites.push(Site { provider, url, secret });
        }
        Ok(Self::of(sites))
    }

    /// None.
    pub(crate) fn none() -> Self {
        Self::of(Vec::new())
    }

    fn of(sites: Vec<Site>) -> Self {
        let connector = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http();
        let http = Client::builder(TokioExecutor::new()).build(connector.enable_http1().build());
        let failures = Mutex::new(Sparingly::new(SAY));
        Self { http, sites, slots: Slots::default(), failures }
    }

    /// Asks `provider` about the token that its widget gave a visitor of `network` for `site_key`.
    pub(crate) async fn verify(
        &self,
        provider: ChallengeProvider,
        site_key: &str,
        token: &str,
        network: Option<ClientNetwork>,
    ) -> Verdict {
        if !is_token(token) {
            return Verdict::Refused;
        }
        let Some(site) = self.sites.iter().find(|site| site.provider == provider) else {
            return self.failed(provider, "this instance has no secret of it");
        };
        let Some(_slot) = self.slots.take(network) else { return Verdict::Busy };
        let asked = tokio::time::timeout(TIMEOUT, self.ask(site, site_key, token)).await;
        let reason = match asked {
            Ok(Ok(answer)) if answer.success => return Verdict::Passed,
            Ok(Ok(answer)) if answer.is_of_used_token() => return Verdict::Used,
            Ok(Ok(answer)) if !answer.is_our_fault() => return Verdict::Refused,
            Ok(Ok(answer)) => format!("it answers {:?}", answer.error_codes),
            Ok(Err(reason)) => reason,
            Err(_) => format!("no answer within {TIMEOUT:?}"),
        };
        self.failed(provider, &reason)
    }

    /// Says so, but not for each of the many who may send a token.
    fn failed(&self, provider: ChallengeProvider, reason: &str) -> Verdict {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = failures.note(Instant::now()) {
            let provider = provider.name();
            tracing::error!(provider, reason, times, "the provider of a challenge fails");
        }
        Verdict::Failed
    }

    async fn ask(&self, site: &Site, site_key: &str, token: &str) -> Result<Answer, String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(site.url.clone())
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Full::from(site.question(site_key, token)))
            .map_err(|error| error.to_string())?;
        let response = self.http.request(request).await;
        let response = response.map_err(|error| ErrorChain(&error).to_string())?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LARGEST_ANSWER).collect().await;
        let body = body.map_err(|error| ErrorChain(&*error).to_string())?.to_bytes();
        // Some answer a bad token with 400 and the same document.
        match serde_json::from_slice(&body) {
            Ok(answer) if status == StatusCode::OK || says_why(&answer, status) => Ok(answer),
            // What we have sent is the visitor's: it shall not be able to bring about a failure.
            _ if OF_THE_TOKEN.contains(&status) => {
                Ok(Answer { success: false, error_codes: vec![] })
            }
            _ => Err(format!("it answers {status}")),
        }
    }
}

/// Whether an answer with the status of an error is about the token: it says what is wrong, or its status does. A firewall's
/// or a limit's says nothing of the token.
fn says_why(answer: &Answer, status: StatusCode) -> bool {
    OF_THE_TOKEN.contains(&status) || status.is_client_error() && !answer.error_codes.is_empty()
}

/// Whether a widget may have given it. Others are not passed on: a firewall before the provider may refuse what looks like
/// an attack, and a visitor shall not be able to bring about a failure.
fn is_token(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:|".contains(&byte);
    !text.is_empty() && text.len() <= LONGEST_TOKEN && text.bytes().all(is_usual)
}

/// Where a provider is asked. It is told our secret, so it must not be in the clear, but on this machine.
fn address(text: &str) -> Result<Uri, String> {
    let url: Uri = text.parse().map_err(|_| format!("{text:?} is no address"))?;
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse().is_ok_and(|host: IpAddr| host.is_loopback());
    let is_secret = url.scheme_str() == Some("https");
    if host.is_empty() || !is_secret && !is_here {
        return Err("it must begin with https://, since the secret key is sent there".to_owned());
    }
    Ok(url)
}

// === impl Site ===

impl Site {
    /// The form that it is sent. Of hCaptcha's many site keys the token is to be of the room's.
    fn question(&self, site_key: &str, token: &str) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("secret", self.secret.expose_secret()).append_pair("response", token);
        if self.provider == ChallengeProvider::Hcaptcha {
            form.append_pair("sitekey", site_key);
        }
        form.finish()
    }
}

// === impl Answer ===

impl Answer {
    /// Whether the token was a good one, of which this is not the first question, or a late one.
    fn is_of_used_token(&self) -> bool {
        self.error_codes.iter().any(|code| {
            matches!(
                code.as_str(),
                "timeout-or-duplicate" | "already-seen-response" | "expired-input-response"
            )
        })
    }

    /// Whether the token may be a good one all the same: our secret is wrong, or the provider has a fault.
    fn is_our_fault(&self) -> bool {
        self.error_codes.iter().any(|code| {
            matches!(
                code.as_str(),
                "missing-input-secret"
                    | "invalid-input-secret"
                    | "sitekey-secret-mismatch"
                    | "not-using-dummy-passcode"
                    | "internal-error"
                    | "rate-limited"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_widget_gives_is_no_token() {
        for token in ["0.AbC-_x.y", "P1_eyJ0eXAi.e30=", "03AFcWeA5+/:|~", &"a".repeat(8192)] {
            assert!(is_token(token), "{token}");
        }
        for other in ["", "<script>", "a b", "a'b", "ü", &"a".repeat(8193)] {
            assert!(!is_token(other), "{other}");
        }
    }

    #[test]
    fn our_secret_is_sent_in_the_clear_to_this_machine_alone() {
        for sound in
            ["https://a.example/x", "http://127.0.0.1:8/x", "http://[::1]/", "http://localhost/"]
        {
            assert!(address(sound).is_ok(), "{sound}");
        }
        for wrong in [
            "http://a.example/x",
            "a.example",
            "/x",
            "",
            "ftp://a.example",
            "http://127.0.0.1.a.example",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
