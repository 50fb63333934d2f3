//! The texts of the page, from the Fluent files in `texts/`: one per language, all with the same
//! messages and variables (a test compares them). The variables are numbers only, never texts of a
//! visitor or an operator.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle as Bundle};
use unic_langid::LanguageIdentifier;

use crate::Language;

/// The texts of one language.
pub(crate) struct Texts {
    bundle: Bundle<FluentResource>,
}

static ALL: LazyLock<[Texts; 12]> = LazyLock::new(|| Language::ALL.map(Texts::load));

// === impl Texts ===

impl Texts {
    /// The texts of `language`.
    pub(crate) fn for_language(language: Language) -> &'static Self {
        &ALL[language as usize]
    }

    /// The message `id` with these numbers; empty if there is no such message, which a test
    /// excludes.
    pub(crate) fn message(&self, id: &str, numbers: &[(&'static str, u64)]) -> String {
        let Some(pattern) = self.bundle.get_message(id).and_then(|message| message.value()) else {
            return String::new();
        };
        let mut args = FluentArgs::with_capacity(numbers.len());
        for (name, number) in numbers {
            args.set(*name, *number);
        }
        self.bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
    }

    fn load(language: Language) -> Self {
        let id: LanguageIdentifier = language.code().parse().unwrap_or_default();
        let mut bundle = Bundle::new_concurrent(vec![id]);
        // Isolating marks are for texts of unknown direction; the variables are numbers.
        bundle.set_use_isolating(false);
        // Neither of the two calls below can fail: the name is unused, and the files are embedded
        // and tested.
        bundle.add_function("NUMBER", move |args, _| written(language, args)).ok();
        let resource = FluentResource::try_new(source(language).to_owned());
        bundle.add_resource(resource.unwrap_or_else(|(resource, _)| resource)).ok();
        Self { bundle }
    }
}

/// `NUMBER($n)`: the number as the language writes it.
fn written(language: Language, args: &[FluentValue<'_>]) -> FluentValue<'static> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
    let number = |value: f64| language.number(value as u64);
    match args.first() {
        Some(FluentValue::Number(value)) => FluentValue::String(number(value.value).into()),
        _ => FluentValue::Error,
    }
}

/// The embedded file of a language.
pub(crate) fn source(language: Language) -> &'static str {
    match language {
        Language::En => include_str!("../../texts/en.ftl"),
        Language::De => include_str!("../../texts/de.ftl"),
        Language::Fr => include_str!("../../texts/fr.ftl"),
        Language::Es => include_str!("../../texts/es.ftl"),
        Language::Pt => include_str!("../../texts/pt.ftl"),
        Language::It => include_str!("../../texts/it.ftl"),
        Language::Nl => include_str!("../../texts/nl.ftl"),
        Language::Pl => include_str!("../../texts/pl.ftl"),
        Language::Ja => include_str!("../../texts/ja.ftl"),
        Language::Zh => include_str!("../../texts/zh.ftl"),
        Language::Ko => include_str!("../../texts/ko.ftl"),
        Language::Ar => include_str!("../../texts/ar.ftl"),
    }
}

#[cfg(test)]
mod tests;
