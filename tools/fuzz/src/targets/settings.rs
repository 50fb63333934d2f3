//! A room's settings and its place in front of a site, as JSON: what is accepted is written and read as the same, and
//! whatever is wrong with it is said without a panic.

use serde::{Serialize, de::DeserializeOwned};
use vestibule_domain::RoomSettings;
use vestibule_site::SiteBinding;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "settings",
    run,
    words: &[
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1e400",
        "18446744073709551616",
        "\"\"",
        "[]",
        "{}",
        ",",
        ":",
        "\"",
        "\"total_active_users\"",
        "\"routes\"",
        "\"bypass_rules\"",
        "\"when\"",
        "\"any\"",
        "\"all\"",
        "\"not\"",
        "\"path\"",
        "\"host\"",
        "\"in\"",
        "\"is\"",
        "\"cookie\"",
        "\"cors_origins\"",
        "\"seats_end_with\"",
        "\"token\"",
        "\"*.shop.example\"",
        "\"/sale\"",
        "\\u0000",
        "\\ud800",
    ],
};

fn run(bytes: &[u8]) {
    if let Some(settings) = same_again::<RoomSettings>(bytes) {
        let _ = settings.errors();
    }
    if let Some(binding) = same_again::<SiteBinding>(bytes) {
        let _ = binding.errors();
        let _ = binding.seat_ends();
    }
}

/// What is read of these bytes; what is written of that is read as the same.
pub(super) fn same_again<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(
    bytes: &[u8],
) -> Option<T> {
    let read: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    let again: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(read, again);
    Some(read)
}
