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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Language, PageChallenge, PageContent, PageFrame, PageState, render};

    fn view(provider: ChallengeProvider) -> PageView {
        let is_ours = provider == ChallengeProvider::ProofOfWork;
        PageView {
            challenge: Some(PageChallenge {
                provider,
                site_key: (!is_ours).then(|| "1x\"><script>".to_owned()),
                puzzle: is_ours.then(|| json!({ "salt": "a?expires=1&", "challenge": "'\"<" })),
                was_refused: false,
            }),
            ..PageView::without_visitor(
                PageState::Challenge,
                1_000,
                PageFrame { is_in_place: true, ..PageFrame::plain(Language::En) },
            )
        }
    }

    #[test]
    fn the_built_in_one_needs_nothing_but_a_worker_of_the_page() {
        let page = render(&view(ChallengeProvider::ProofOfWork)).unwrap();
        assert!(page.policy.contains("; worker-src blob:;"), "{}", page.policy);
        assert!(!page.policy.contains("http") && !page.html.contains("src=\"http"));
        let puzzle = page.html.split_once("data-puzzle=\"").unwrap().1;
        let puzzle = puzzle.split_once('"').unwrap().0;
        assert!(puzzle.contains("&#34;challenge&#34;:&#34;&#39;"), "{puzzle}");
        assert!(page.html.contains("<script type=\"text/plain\" id=\"solver\">'use strict';"));
        // What ends a script would end this one.
        assert!(!SOLVER.contains("</"));
        assert!(page.html.contains("<noscript><p id=\"scriptless\">This check needs JavaScript"));
        // The script shows the bar; without it there is none.
        assert!(page.html.contains("<div id=\"progress-box\" data-box hidden>"));
        let inside = page.html.split_once("<template id=\"inside\">").unwrap().1;
        assert!(!inside.split_once("</template>").unwrap().0.contains("puzzle"), "{inside}");
    }

    #[test]
    fn other_pages_allow_no_worker_and_no_provider() {
        let ours = view(ChallengeProvider::ProofOfWork);
        let waiting = PageView { state: PageState::Waiting, challenge: None, ..ours };
        let page = render(&waiting).unwrap();
        assert!(!page.policy.contains("worker-src") && !page.policy.contains("http"));
        assert!(!page.html.contains("id=\"solver\"") && !page.html.contains("id=\"widget\""));
    }

    #[test]
    fn a_provider_may_load_what_it_documents_and_no_other_is_let_in() {
        use ChallengeProvider::{Hcaptcha, Recaptcha, Turnstile};
        for (provider, class, origin, others) in [
            (
                Turnstile,
                "cf-turnstile",
                "https://challenges.cloudflare.com",
                ["hcaptcha", "google"],
            ),
            (Hcaptcha, "h-captcha", "https://*.hcaptcha.com", ["cloudflare", "google"]),
            (
                Recaptcha,
                "g-recaptcha",
                "https://www.google.com/recaptcha/",
                ["cloudflare", "hcapt"],
            ),
        ] {
            let page = render(&view(provider)).unwrap();
            for directive in ["script-src", "frame-src"] {
                let directive = page.policy.split("; ").find(|part| part.starts_with(directive));
                let directive = directive.unwrap();
                assert!(directive.contains(origin), "{directive}");
                assert!(!directive.contains("unsafe"), "{directive}");
            }
            assert!(others.iter().all(|other| !page.policy.contains(other)), "{}", page.policy);
            assert!(!page.policy.contains("worker-src blob:"));
            let widget = format!(
                "class=\"{class}\" data-sitekey=\"1x&#34;&#62;&#60;script&#62;\" \
                 data-callback=\"vestibuleSolved\""
            );
            assert!(page.html.contains(&widget), "{}", page.html);
        }
    }

    #[test]
    fn whoever_was_refused_is_told_so() {
        let mut view = view(ChallengeProvider::Turnstile);
        assert_eq!(PageContent::from_view(&view).text("notice"), "");
        if let Some(challenge) = &mut view.challenge {
            challenge.was_refused = true;
        }
        assert!(PageContent::from_view(&view).text("notice").contains("did not succeed"));
        assert!(PageContent::from_view(&view).text("status-text").contains("check below"));
    }
}
