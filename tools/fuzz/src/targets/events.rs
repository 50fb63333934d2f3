//! Events of a room, as JSON: as settings.

use vestibule_domain::schedule::Event;

use super::{Target, settings::same_again};

pub(super) const TARGET: Target = Target {
    name: "events",
    run,
    words: &[
        "null",
        "true",
        "0",
        "-1",
        "1e400",
        "\"\"",
        "[]",
        "{}",
        ",",
        ":",
        "\"starts_at\"",
        "\"ends_at\"",
        "\"prequeue_starts_at\"",
        "\"2026-11-27T09:00:00Z\"",
        "\"9999-12-31T23:59:60Z\"",
        "\"0000-00-00T00:00:00Z\"",
        "\"overrides\"",
        "\"shuffle\"",
        "\"beacon\"",
        "+14:00",
        "-00:00",
    ],
};

fn run(bytes: &[u8]) {
    if let Some(event) = same_again::<Event>(bytes) {
        let _ = event.errors();
    }
}
