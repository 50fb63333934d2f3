//! The options of providers of challenges: their secrets, and where they are asked.

use std::path::PathBuf;

use clap::Args;
use secrecy::SecretString;
use vestibule_domain::challenge::ChallengeProvider;
use vestibule_runtime::secret::{SecretError, SecretSource};

/// The options of providers of challenges; each is needed only for rooms that name the provider.
#[derive(Debug, Clone, Default, Args)]
pub struct ProviderOptions {
    /// Secret key of Cloudflare Turnstile, for rooms whose challenge it is. In the environment or as a file
    /// rather than as an argument, which others can see.
    #[arg(long, env = "VESTIBULE_TURNSTILE_SECRET", hide_env_values = true, value_name = "TEXT")]
    pub turnstile_secret: Option<SecretString>,

    /// File that holds it.
    #[arg(long, env = "VESTIBULE_TURNSTILE_SECRET_FILE", value_name = "FILE")]
    pub turnstile_secret_file: Option<PathBuf>,

    /// Where Turnstile is asked whether a visitor has passed.
    #[arg(
        long,
        env = "VESTIBULE_TURNSTILE_URL",
        value_name = "URL",
        default_value = "https://challenges.cloudflare.com/turnstile/v0/siteverify"
    )]
    pub turnstile_url: String,

    /// Secret key of hCaptcha.
    #[arg(long, env = "VESTIBULE_HCAPTCHA_SECRET", hide_env_values = true, value_name = "TEXT")]
    pub hcaptcha_secret: Option<SecretString>,

    /// File that holds it.
    #[arg(long, env = "VESTIBULE_HCAPTCHA_SECRET_FILE", value_name = "FILE")]
    pub hcaptcha_secret_file: Option<PathBuf>,

    /// Where hCaptcha is asked.
    #[arg(
        long,
        env = "VESTIBULE_HCAPTCHA_URL",
        value_name = "URL",
        default_value = "https://api.hcaptcha.com/siteverify"
    )]
    pub hcaptcha_url: String,

    /// Secret key of Google reCAPTCHA v2.
    #[arg(long, env = "VESTIBULE_RECAPTCHA_SECRET", hide_env_values = true, value_name = "TEXT")]
    pub recaptcha_secret: Option<SecretString>,

    /// File that holds it.
    #[arg(long, env = "VESTIBULE_RECAPTCHA_SECRET_FILE", value_name = "FILE")]
    pub recaptcha_secret_file: Option<PathBuf>,

    /// Where reCAPTCHA is asked.
    #[arg(
        long,
        env = "VESTIBULE_RECAPTCHA_URL",
        value_name = "URL",
        default_value = "https://www.google.com/recaptcha/api/siteverify"
    )]
    pub recaptcha_url: String,
}

// === impl ProviderOptions ===

impl ProviderOptions {
    /// Where `provider` is asked; `None`: the built-in one.
    pub(crate) fn url(&self, provider: ChallengeProvider) -> Option<&str> {
        match provider {
            ChallengeProvider::ProofOfWork => None,
            ChallengeProvider::Turnstile => Some(&self.turnstile_url),
            ChallengeProvider::Hcaptcha => Some(&self.hcaptcha_url),
            ChallengeProvider::Recaptcha => Some(&self.recaptcha_url),
        }
    }

    /// The secret of `provider`, if it has one.
    ///
    /// # Errors
    /// Names the option that cannot be used, never a secret.
    pub(crate) fn secret(
        &self,
        provider: ChallengeProvider,
    ) -> Result<Option<SecretString>, SecretError> {
        let (variable, value, file) = match provider {
            ChallengeProvider::ProofOfWork => return Ok(None),
            ChallengeProvider::Turnstile => {
                ("VESTIBULE_TURNSTILE_SECRET", &self.turnstile_secret, &self.turnstile_secret_file)
            }
            ChallengeProvider::Hcaptcha => {
                ("VESTIBULE_HCAPTCHA_SECRET", &self.hcaptcha_secret, &self.hcaptcha_secret_file)
            }
            ChallengeProvider::Recaptcha => {
                ("VESTIBULE_RECAPTCHA_SECRET", &self.recaptcha_secret, &self.recaptcha_secret_file)
            }
        };
        let (value, file) = (value.as_ref(), file.as_deref());
        let lines = SecretSource { variable, value, file, min_bytes: 1 }.read_lines()?;
        Ok(lines.into_iter().next())
    }
}
