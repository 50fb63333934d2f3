//! What the operator says on the page, in the visitor's language or the next best. It is plain text, of which the
//! page knows the language where the operator has said it.

use vestibule_domain::RoomSettings;
use vestibule_site::{LocalText, SiteBinding};

use crate::{Accent, Language, PageState, PageView};

/// A text of the operator's, as one visitor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// The text, perhaps of several lines.
    pub text: String,
    /// Its language; `None`: not known.
    pub language: Option<Language>,
}

// === impl PageText ===

impl PageText {
    /// `text` for a visitor who reads `language`, in a room whose own is `default`.
    #[must_use]
    pub fn choose(text: Option<&LocalText>, language: Language, default: &str) -> Option<Self> {
        let (text, code) = text?.in_one_of(&[language.code(), default])?;
        Some(Self { text: text.to_owned(), language: code.and_then(Language::from_tag) })
    }
}

// === impl PageView ===

impl PageView {
    /// The same with what the operator says and with the operator's colour.
    #[must_use]
    pub fn with_words(mut self, settings: &RoomSettings, binding: &SiteBinding) -> Self {
        let (language, default) = (self.frame.language, binding.default_language.as_str());
        let choose = |text: Option<&LocalText>| PageText::choose(text, language, default);
        self.message = choose(match self.state {
            PageState::TurnedAway { .. } => settings.closed_message.as_ref(),
            PageState::Challenge | PageState::YourTurn => settings.message.as_ref(),
            state if state.is_in_line() => settings.message.as_ref(),
            _ => None,
        });
        self.frame.title = choose(settings.title.as_ref());
        self.frame.logo_alt = choose(binding.logo_alt.as_ref());
        self.frame.accent = Accent::of(binding);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PreviewSample;

    fn settings(json: &str) -> RoomSettings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn each_state_has_its_message() {
        let settings = settings(r#"{"message":"Soon","closed_message":"Over"}"#);
        let message = |sample: PreviewSample| {
            let view = sample.view("room", Language::En);
            view.with_words(&settings, &SiteBinding::default()).message.map(|message| message.text)
        };
        for sample in PreviewSample::ALL {
            let expected = match sample {
                PreviewSample::Reject | PreviewSample::SoldOut => Some("Over"),
                PreviewSample::Inside | PreviewSample::Over => None,
                _ => Some("Soon"),
            };
            assert_eq!(message(sample).as_deref(), expected, "{sample:?}");
        }
    }

    #[test]
    fn a_visitor_reads_its_language_or_else_the_rooms() {
        let settings = settings(r#"{"message":{"de":"Gleich","fr":"Bientôt"},"title":"Sale"}"#);
        let room = SiteBinding { default_language: "fr".into(), ..SiteBinding::default() };
        let view =
            |language| PreviewSample::Waiting.view("room", language).with_words(&settings, &room);
        let text = |text: &str, language| Some(PageText { text: text.into(), language });
        assert_eq!(view(Language::De).message, text("Gleich", Some(Language::De)));
        assert_eq!(view(Language::Ar).message, text("Bientôt", Some(Language::Fr)));
        assert_eq!(view(Language::Ar).frame.title, text("Sale", None));
    }
}
