//! What a newcomer has to show before it gets a place: the setting of a room, and how hard the built-in
//! puzzle is. Puzzles are made and checked in `vestibule-token`; who is asked for one is decided by the
//! admission service.

mod difficulty;
pub mod endless_line;

use serde::{Deserialize, Serialize};

pub use self::difficulty::{JoinRate, max_number};
use crate::FieldError;

/// The longest site key, in characters: more than any provider's.
const LONGEST_SITE_KEY: usize = 256;

/// What newcomers of a room have to show.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Challenge {
    /// Whether they have to, and what becomes of those who cannot.
    pub mode: ChallengeMode,
    /// Whose challenge it is.
    pub provider: ChallengeProvider,
    /// The public key of the provider's widget; null for the built-in challenge.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 256))]
    pub site_key: Option<String>,
    /// What becomes of newcomers while the provider cannot be asked.
    pub on_provider_failure: OnProviderFailure,
}

/// Whether newcomers are challenged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChallengeMode {
    /// Nobody is.
    #[default]
    Off,
    /// Whoever sends a solution has it checked and counted; everybody gets a place.
    Log,
    /// Without a solution there is no place: 403, with the challenge to solve.
    Challenge,
    /// Without one there is no place, and apps are not told so: whoever joins with none, or with a wrong one, gets
    /// an answer like that of anybody who waits, and never enters. Told, as by `challenge`, are: browsers that have
    /// not solved it yet (the page, with or without script, and what comes through a gateway), AWS-style clients,
    /// and everybody whose solution is genuine but too old or used before.
    EndlessLine,
}

/// Whose challenge newcomers solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChallengeProvider {
    /// The built-in one: the browser computes for about a second. Nobody else is asked.
    #[default]
    ProofOfWork,
    /// Cloudflare Turnstile.
    Turnstile,
    /// hCaptcha.
    Hcaptcha,
    /// Google reCAPTCHA v2.
    Recaptcha,
}

/// What becomes of newcomers while the provider cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnProviderFailure {
    /// They are told to come back: 503 and `Retry-After`.
    #[default]
    Refuse,
    /// They get a place.
    Admit,
}

// === impl Challenge ===

impl Challenge {
    /// Whether solutions are looked at.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.mode != ChallengeMode::Off
    }

    /// What is wrong, if anything is.
    pub(crate) fn error(&self) -> Option<FieldError> {
        let wrong = |reason: String| FieldError { field: "challenge.site_key".into(), reason };
        match (&self.site_key, self.provider) {
            (None, ChallengeProvider::ProofOfWork) => None,
            (Some(_), ChallengeProvider::ProofOfWork) => {
                Some(wrong("must be null: the built-in challenge has none".into()))
            }
            (None, _) => self
                .is_on()
                .then(|| wrong("must be the key that the provider gave for its widget".into())),
            (Some(key), _) => (!is_site_key(key)).then(|| {
                wrong(format!("must be 1 to {LONGEST_SITE_KEY} letters, digits, `_`, `-` or `.`"))
            }),
        }
    }
}

fn is_site_key(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=LONGEST_SITE_KEY).contains(&text.len()) && text.chars().all(plain)
}

// === impl ChallengeProvider ===

impl ChallengeProvider {
    /// Its name, as in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProofOfWork => "proof_of_work",
            Self::Turnstile => "turnstile",
            Self::Hcaptcha => "hcaptcha",
            Self::Recaptcha => "recaptcha",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Challenge {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn nobody_is_challenged_by_default() {
        assert_eq!(read("{}"), Challenge::default());
        assert!(!Challenge::default().is_on());
        assert_eq!(Challenge::default().error(), None);
    }

    #[test]
    fn a_provider_needs_its_key_and_the_built_in_one_has_none() {
        for sound in [
            r#"{"mode": "challenge"}"#,
            r#"{"mode": "log", "provider": "turnstile", "site_key": "1x00000000000000000000AA"}"#,
            r#"{"mode": "off", "provider": "hcaptcha"}"#,
        ] {
            assert_eq!(read(sound).error(), None, "{sound}");
        }
        for wrong in [
            r#"{"mode": "challenge", "site_key": "x"}"#,
            r#"{"mode": "log", "provider": "recaptcha"}"#,
            r#"{"provider": "recaptcha", "site_key": ""}"#,
            r#"{"provider": "recaptcha", "site_key": "a\"b"}"#,
        ] {
            assert_eq!(read(wrong).error().unwrap().field, "challenge.site_key", "{wrong}");
        }
    }

    #[test]
    fn names_are_those_of_settings() {
        use ChallengeProvider::{Hcaptcha, ProofOfWork, Recaptcha, Turnstile};
        for provider in [ProofOfWork, Turnstile, Hcaptcha, Recaptcha] {
            assert_eq!(serde_json::to_value(provider).unwrap(), provider.name());
        }
    }
}
