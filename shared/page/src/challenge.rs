//! The check before the line, as the page has it: the worker that solves the built-in puzzle, and the widgets
//! of other providers, with what their documentation says a page must allow.

use vestibule_domain::challenge::ChallengeProvider;

use crate::PageView;

/// The worker of the built-in puzzle.
pub(crate) const SOLVER: &str = include_str!("../assets/solver.js");

/// The widget of a provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widget<'a> {
    /// The class of the element that its script fills.
    pub(crate) class: &'static str,
    /// Its script.
    pub(crate) script: &'static str,
    /// Where its script, its frames and its requests may go.
    pub(crate) origins: &'static str,
    /// Where its styles may come from: a space and its origins, or nothing.
    pub(crate) styles: &'static str,
    /// Its public key.
    pub(crate) site_key: &'a str,
}

// === impl PageView ===

impl PageView {
    /// Whether the page has a puzzle to solve by itself.
    pub(crate) fn has_puzzle(&self) -> bool {
        self.challenge.as_ref().is_some_and(|challenge| challenge.puzzle.is_some())
    }

    /// Whether the visitor is shown a provider's widget.
    pub(crate) fn has_widget(&self) -> bool {
        self.widget().is_some()
    }

    /// Whether a solution of the visitor was just refused.
    pub(crate) fn was_refused(&self) -> bool {
        self.challenge.as_ref().is_some_and(|challenge| challenge.was_refused)
    }

    /// The widget that the visitor is shown.
    pub(crate) fn widget(&self) -> Option<Widget<'_>> {
        let challenge = self.challenge.as_ref()?;
        let (class, script, origins, styles) = match challenge.provider {
            ChallengeProvider::ProofOfWork => return None,
            ChallengeProvider::Turnstile => (
                "cf-turnstile",
                "https://challenges.cloudflare.com/turnstile/v0/api.js",
                "https://challenges.cloudflare.com",
                "",
            ),
            ChallengeProvider::Hcaptcha => (
                "h-captcha",
                "https://js.hcaptcha.com/1/api.js",
                "https://hcaptcha.com https://*.hcaptcha.com",
                " https://hcaptcha.com https://*.hcaptcha.com",
            ),
            ChallengeProvider::Recaptcha => (
                "g-recaptcha",
                "https://www.google.com/recaptcha/api.js",
                "https://www.google.com/recaptcha/ https://www.gstatic.com/recaptcha/ \
                 https://recaptcha.google.com/recaptcha/",
                "",
            ),
        };
        let site_key = challenge.site_key.as_deref()?;
        Some(Widget { class, script, origins, styles, site_key })
    }
}
