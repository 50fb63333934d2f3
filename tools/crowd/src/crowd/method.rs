//! Queueing methods on the command line, and what the report goes by. The methods themselves are
//! the domain's.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use vestibule_domain::QueueingMethod;

/// Reads a method by its name.
pub(crate) fn parser() -> impl TypedValueParser<Value = QueueingMethod> {
    let values = QueueingMethod::ALL.map(|method| {
        PossibleValue::new(method.name()).help(match method {
            QueueingMethod::Fifo => "In order of arrival",
            QueueingMethod::Random => "By chance, the same for everyone who waits",
            QueueingMethod::Passthrough => "Everyone at once, whatever the limits",
            QueueingMethod::Reject => "Nobody: newcomers are turned away",
        })
    });
    PossibleValuesParser::new(values).try_map(|name| {
        QueueingMethod::ALL.into_iter().find(|method| method.name() == name).ok_or("no such method")
    })
}

/// Whether the limits hold; taken for granted where the method is not known.
pub(crate) fn keeps_limits(method: Option<QueueingMethod>) -> bool {
    method.is_none_or(|method| !method.rules().is_open())
}

/// Whether there is an order of arrival that could be broken.
pub(crate) fn keeps_order(method: Option<QueueingMethod>) -> bool {
    method.is_none_or(|method| method.rules().is_ordered() && !method.rules().is_open())
}
