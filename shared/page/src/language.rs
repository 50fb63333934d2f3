//! The languages of the page, and the choice of one for a visitor. The texts are in
//! [`crate::texts`], the formats of numbers in [`crate::formats`].

/// A language of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
    /// Portuguese.
    Pt,
    /// Italian.
    It,
    /// Dutch.
    Nl,
    /// Polish.
    Pl,
    /// Japanese.
    Ja,
    /// Chinese, in simplified characters.
    Zh,
    /// Korean.
    Ko,
    /// Arabic, written from right to left.
    Ar,
}

/// The largest number of entries that are read of an `Accept-Language` header.
const MAX_ACCEPTED: usize = 32;

// === impl Language ===

impl Language {
    /// Every language, in the order of the selector.
    pub const ALL: [Self; 12] = [
        Self::En,
        Self::De,
        Self::Fr,
        Self::Es,
        Self::Pt,
        Self::It,
        Self::Nl,
        Self::Pl,
        Self::Ja,
        Self::Zh,
        Self::Ko,
        Self::Ar,
    ];

    /// Its code, for the attribute `lang`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
            Self::Pt => "pt",
            Self::It => "it",
            Self::Nl => "nl",
            Self::Pl => "pl",
            Self::Ja => "ja",
            Self::Zh => "zh",
            Self::Ko => "ko",
            Self::Ar => "ar",
        }
    }

    /// Its name in the language itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::De => "Deutsch",
            Self::Fr => "Français",
            Self::Es => "Español",
            Self::Pt => "Português",
            Self::It => "Italiano",
            Self::Nl => "Nederlands",
            Self::Pl => "Polski",
            Self::Ja => "日本語",
            Self::Zh => "中文",
            Self::Ko => "한국어",
            Self::Ar => "العربية",
        }
    }

    /// The locale with which a browser writes numbers and times as this page does.
    #[must_use]
    pub fn locale(self) -> &'static str {
        match self {
            Self::Ar => "ar-u-nu-arab",
            Self::Zh => "zh-Hans",
            Self::Pt => "pt-BR",
            other => other.code(),
        }
    }

    /// Its writing direction, for the attribute `dir`.
    #[must_use]
    pub fn direction(self) -> &'static str {
        if self == Self::Ar { "rtl" } else { "ltr" }
    }

    /// The language of a tag, whatever its country: `pt-BR` is Portuguese.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The available language that an `Accept-Language` header prefers; `None` when it accepts none
    /// of them.
    #[must_use]
    pub fn accepted(header: &str) -> Option<Self> {
        let entries = header.split(',').take(MAX_ACCEPTED).filter_map(accepted_entry);
        // Among equal qualities the first one wins; `max_by_key` would return the last.
        let best = entries.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(language, _)| language)
    }

    /// The language of a visitor: the first of `chosen` that is available, else what its browser
    /// accepts, else the `default` of the room, else English.
    #[must_use]
    pub fn negotiate(chosen: &[&str], accepted: &str, default: &str) -> Self {
        let chosen = chosen.iter().find_map(|tag| Self::from_tag(tag));
        chosen
            .or_else(|| Self::accepted(accepted))
            .or_else(|| Self::from_tag(default))
            .unwrap_or(Self::En)
    }
}

/// A language and its quality in thousandths; `None` if it is not available or its quality is 0.
fn accepted_entry(part: &str) -> Option<(Language, u16)> {
    let mut pieces = part.split(';').map(str::trim);
    let language = Language::from_tag(pieces.next()?)?;
    let quality = pieces.find_map(|piece| piece.strip_prefix("q=").or(piece.strip_prefix("Q=")));
    let thousandths = quality.map_or(Some(1000), thousandths)?;
    (thousandths > 0).then_some((language, thousandths))
}

fn thousandths(quality: &str) -> Option<u16> {
    let quality: f32 = quality.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    (0.0..=1.0).contains(&quality).then(|| (quality * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_whatever_their_country_and_case() {
        assert_eq!(Language::from_tag("pt-BR"), Some(Language::Pt));
        assert_eq!(Language::from_tag("ZH_tw"), Some(Language::Zh));
        for wrong in ["", "*", "enx", "x-de", "<script>"] {
            assert_eq!(Language::from_tag(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_highest_quality_wins_and_the_first_of_equals() {
        let accepted = Language::accepted;
        assert_eq!(accepted("de-CH, fr;q=0.9"), Some(Language::De));
        assert_eq!(accepted("fr;q=0.7, de;q=0.8, sv"), Some(Language::De));
        assert_eq!(accepted("it, nl"), Some(Language::It));
        assert_eq!(accepted("de;q=0, pl;q=0.001"), Some(Language::Pl));
        assert_eq!(accepted("sv, *;q=0.5"), None);
        assert_eq!(accepted("de;q=nonsense, ko;q=2, ja;q=0.1"), Some(Language::Ja));
        assert_eq!(accepted(&"xx,".repeat(100_000)), None);
    }

    #[test]
    fn what_the_visitor_chose_goes_first_and_the_rooms_language_last() {
        let negotiate = |chosen: &[&str], accepted| Language::negotiate(chosen, accepted, "pl");
        assert_eq!(negotiate(&["ko", "fr"], "de"), Language::Ko);
        assert_eq!(negotiate(&["nonsense", "fr"], "de"), Language::Fr);
        assert_eq!(negotiate(&[], "de"), Language::De);
        assert_eq!(negotiate(&[], "sv"), Language::Pl);
        assert_eq!(Language::negotiate(&[], "", "sv"), Language::En);
    }
}
