//! What a tick that is recorded has seen and decided.

use vestibule_domain::plan::{Plan, TickInput};
use vestibule_traces::Span;

/// Notes it in the tick's span.
pub(super) fn note_decision(span: &Span, input: &TickInput, plan: &Plan, rests: bool) {
    let figures = [
        ("vestibule.queue_counter", input.queue_counter),
        ("vestibule.serving_counter.before", input.serving_counter),
        ("vestibule.serving_counter", plan.serving_counter),
        ("vestibule.promised", plan.promised),
        ("vestibule.waiting", plan.waiting),
        ("vestibule.active_users", input.usage.active),
        ("vestibule.at_door", input.at_door),
    ];
    for (name, figure) in figures {
        span.set(name, i64::try_from(figure).unwrap_or(i64::MAX));
    }
    span.set("vestibule.rests", rests);
}
