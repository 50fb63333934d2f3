//! A plan in lines that people read.

use std::fmt::Write;

use serde_json::Value;

use crate::api_types::{Action, FieldChange, Plan, Step};

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 120;

/// What was changed, or would be: a line each, and a last one that counts.
pub(super) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        show_step(&mut text, step);
    }
    if plan.unasked_beacons > 0 {
        let _ = writeln!(
            text,
            "Not asked, since that needs the role `operator`: {} rounds of beacons.",
            plan.unasked_beacons
        );
    }
    let _ = writeln!(text, "{}", summary(plan));
    text
}

fn show_step(text: &mut String, step: &Step) {
    let room = &step.room;
    // Writing into a text cannot fail.
    let _ = match (step.action, step.people) {
        (Action::Create, _) => writeln!(text, "+ rooms.{room}"),
        (Action::Change, _) => Ok(()),
        (Action::Delete, Some(people)) if people.count() > 0 => {
            writeln!(text, "- rooms.{room} ({} waiting, {} inside)", people.waiting, people.inside)
        }
        (Action::Delete, _) => writeln!(text, "- rooms.{room}"),
    };
    for change in &step.changes {
        let _ = writeln!(text, "{}", line(change));
    }
}

fn line(FieldChange { path, before, after }: &FieldChange) -> String {
    match (before, after) {
        (None, Some(after)) => format!("+ {path}: {}", short(after)),
        (Some(Value::Object(_)) | None, None) => format!("- {path}"),
        (Some(before), None) => format!("- {path}: {}", short(before)),
        (Some(before), Some(after)) => format!("~ {path}: {} → {}", short(before), short(after)),
    }
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether a text needs no quotes, and does nothing to a terminal.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text == text.trim() && !text.contains(|c: char| c.is_control() || c == '"')
}

fn summary(plan: &Plan) -> String {
    let count = |action| plan.steps.iter().filter(|step| step.action == action).count();
    let counts = [
        (count(Action::Create), "created"),
        (count(Action::Change), "changed"),
        (count(Action::Delete), "deleted"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let done: Vec<_> = counts.map(|(count, done)| format!("{count} {done}")).collect();
    let same = format!("{} as declared already", plan.unchanged);
    match (done.is_empty(), plan.dry_run) {
        (true, _) => format!("Nothing to do: {same}."),
        (false, true) => {
            format!("Rooms that would be: {}; {same}. Nothing was changed.", done.join(", "))
        }
        (false, false) => format!("Rooms: {}; {same}.", done.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_change_is_a_line_and_the_last_one_counts() {
        let read: Plan = serde_json::from_value(json!({ "dry_run": false, "unchanged": 3, "steps": [
            { "room": "sale", "action": "change", "changes": [
                { "path": "rooms.sale.total_active_users", "before": 2000, "after": 3000 },
                { "path": "rooms.sale.issuer", "before": null, "after": "https://x" },
                { "path": "rooms.sale.labels.a", "before": "b" },
                { "path": "rooms.sale.events.launch", "before": {"event_start_time": "x"} },
                { "path": "rooms.sale.default_language", "before": "e\u{1b}[31m", "after": "de" },
            ] },
            { "room": "vip", "action": "create", "changes": [{ "path": "rooms.vip.queue_all", "after": true }] },
            { "room": "old", "action": "delete", "changes": [], "people": { "waiting": 12, "inside": 30 } },
        ] })).unwrap();
        let expected = "~ rooms.sale.total_active_users: 2000 → 3000\n\
            ~ rooms.sale.issuer: null → https://x\n\
            - rooms.sale.labels.a: b\n\
            - rooms.sale.events.launch\n\
            ~ rooms.sale.default_language: \"e\\u001b[31m\" → de\n\
            + rooms.vip\n\
            + rooms.vip.queue_all: true\n\
            - rooms.old (12 waiting, 30 inside)\n\
            Rooms: 1 created, 1 changed, 1 deleted; 3 as declared already.\n";
        assert_eq!(plan(&read), expected);
        let nothing = Plan { dry_run: true, steps: Vec::new(), unchanged: 2, unasked_beacons: 0 };
        assert_eq!(plan(&nothing), "Nothing to do: 2 as declared already.\n");
        let unasked = plan(&Plan { unasked_beacons: 3, ..nothing });
        assert!(unasked.starts_with("Not asked") && unasked.contains("3 rounds"), "{unasked}");
        let would = plan(&Plan { dry_run: true, ..read });
        assert!(would.ends_with("3 as declared already. Nothing was changed.\n"), "{would}");
    }

    #[test]
    fn what_is_long_is_shortened() {
        let text = short(&json!("ü".repeat(200)));
        assert_eq!(text.chars().count(), LONGEST + 1);
    }
}
