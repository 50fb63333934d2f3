//! The texts: every language has every key, with the right plurals.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::{
    ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey},
    parser::parse,
};

use super::*;

/// The variables of a message, and the plural forms of each of its choices.
#[derive(Debug, Default, PartialEq)]
struct Message {
    variables: BTreeSet<String>,
    choices: Vec<BTreeSet<String>>,
}

/// The plural forms of whole numbers up to some thousands in a language.
fn plural_forms(language: Language) -> &'static [&'static str] {
    match language {
        Language::Ja | Language::Zh | Language::Ko => &["other"],
        Language::Pl => &["few", "many", "one", "other"],
        Language::Ar => &["few", "many", "one", "other", "two", "zero"],
        _ => &["one", "other"],
    }
}

fn messages(language: Language) -> BTreeMap<String, Message> {
    let file =
        parse(source(language)).unwrap_or_else(|(_, errors)| panic!("{language:?}: {errors:?}"));
    let mut messages = BTreeMap::new();
    for entry in file.body {
        if let Entry::Message(message) = entry {
            let mut found = Message::default();
            collect(&message.value.unwrap(), &mut found);
            let twice = messages.insert(message.id.name.to_owned(), found);
            assert_eq!(twice, None, "{language:?}: {} is there twice", message.id.name);
        }
    }
    messages
}

fn collect(pattern: &Pattern<&str>, found: &mut Message) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => collect_inline(inline, found),
            Expression::Select { selector, variants } => {
                collect_inline(selector, found);
                let mut forms = BTreeSet::new();
                for variant in variants {
                    if let VariantKey::Identifier { name } = variant.key {
                        forms.insert(name.to_owned());
                    }
                    collect(&variant.value, found);
                }
                found.choices.push(forms);
            }
        }
    }
}

fn collect_inline(inline: &InlineExpression<&str>, found: &mut Message) {
    match inline {
        InlineExpression::VariableReference { id } => {
            found.variables.insert(id.name.to_owned());
        }
        InlineExpression::FunctionReference { id, arguments } => {
            assert_eq!(id.name, "NUMBER");
            arguments.positional.iter().for_each(|argument| collect_inline(argument, found));
        }
        other => panic!("unexpected: {other:?}"),
    }
}

/// Languages without plurals, or with a word for the number, may leave it out.
fn may_leave_out(id: &str) -> bool {
    id == "wait-between-hours" || id == "wait-between-minutes"
}

#[test]
fn every_language_has_the_same_messages_and_variables() {
    let english = messages(Language::En);
    for language in Language::ALL {
        let own = messages(language);
        let keys = |all: &BTreeMap<String, Message>| all.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&own), keys(&english), "{language:?}");
        for (id, message) in own {
            let wanted = &english[&id].variables;
            let is_sound = message.variables == *wanted
                || (may_leave_out(&id) && message.variables.is_subset(wanted));
            assert!(is_sound, "{language:?}, {id}: {:?}", message.variables);
        }
    }
}

#[test]
fn every_choice_has_all_plural_forms_of_its_language() {
    for language in Language::ALL {
        let forms: BTreeSet<_> =
            plural_forms(language).iter().map(|form| (*form).to_owned()).collect();
        for (id, message) in messages(language) {
            for choice in message.choices {
                assert_eq!(choice, forms, "{language:?}, {id}");
            }
        }
    }
}

#[test]
fn every_message_comes_out_whole_for_every_number() {
    for language in Language::ALL {
        for (id, message) in messages(language) {
            for number in (0..130).chain([1_000, 1_234_567]) {
                let numbers = ["minutes", "seconds", "hours", "from", "to", "percent"]
                    .map(|name| (name, number));
                let text = Texts::for_language(language).message(&id, &numbers);
                let odd = |c: char| matches!(c, '{' | '}' | '$' | '\u{2068}' | '\u{2069}');
                assert!(
                    !text.trim().is_empty() && !text.contains(odd),
                    "{language:?} {id}: {text}"
                );
            }
            if message.variables.is_empty() {
                assert!(
                    !Texts::for_language(language).message(&id, &[]).contains("NUMBER"),
                    "{id}"
                );
            }
        }
    }
}

#[test]
fn plurals_are_right_where_there_are_many() {
    let say = |language, minutes| {
        Texts::for_language(language).message("closing-minutes", &[("minutes", minutes)])
    };
    let polish = |minutes, form: &str| {
        let text = say(Language::Pl, minutes);
        assert!(text.contains(&format!("przez {minutes} {form}. ")), "{text}");
    };
    polish(1, "minutę");
    polish(3, "minuty");
    polish(5, "minut");
    polish(12, "minut");
    polish(22, "minuty");
    let arabic = |minutes, form: &str| {
        let text = say(Language::Ar, minutes);
        assert!(text.contains(form), "{text}");
    };
    arabic(1, "دقيقة واحدة");
    arabic(2, "دقيقتين");
    arabic(5, "٥ دقائق");
    arabic(15, "١٥ دقيقة");
    arabic(100, "١٠٠ دقيقة");
    assert!(say(Language::En, 1).contains("for 1 minute."));
    assert!(say(Language::De, 2).contains("2 Minuten lang"));
}

#[test]
fn an_unknown_message_is_empty() {
    assert_eq!(Texts::for_language(Language::En).message("", &[]), "");
    assert_eq!(Texts::for_language(Language::En).message("nonsense", &[]), "");
}
