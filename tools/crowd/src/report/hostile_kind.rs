//! What hostile ones of any kind are asked: how many came, what they called, and which seats they took.

use std::collections::BTreeMap;

use serde::Serialize;

use super::layout::Section;
use crate::{crowd::Call, record::HostileLog};

/// What those of one kind did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct HostileKind {
    /// How many came.
    pub(crate) came: u64,
    /// Their calls, by name.
    pub(crate) calls: BTreeMap<&'static str, u64>,
    /// Calls that failed, by kind.
    pub(crate) errors: BTreeMap<String, u64>,
    /// How many were told that it is their turn.
    pub(crate) told_their_turn: u64,
    /// How many were told that they have lost their place.
    pub(crate) lost_their_place: u64,
    /// How many seats they took: in their turn, or when they came while nobody waited.
    pub(crate) seats: usize,
    /// For how long, added up.
    pub(crate) seat_seconds: f64,
}

// === impl HostileKind ===

impl HostileKind {
    pub(super) fn new(log: &HostileLog, end: f64) -> Self {
        Self {
            came: log.came,
            calls: Call::ALL.map(|call| (call.name(), log.calls[call as usize])).into(),
            errors: log.errors.clone(),
            told_their_turn: log.told_their_turn,
            lost_their_place: log.lost_their_place,
            seats: log.seats.len(),
            seat_seconds: log.seats(end).map(|(from, until)| until - from).sum(),
        }
    }

    pub(super) fn add_to(&self, section: Section, name: &str) -> Section {
        let told = format!(
            "{} were told their turn, {} of all took a seat, {} lost their place",
            self.told_their_turn, self.seats, self.lost_their_place
        );
        let of_each = Call::ALL.map(Call::name).into_iter();
        let of_each = of_each.filter_map(|name| Some((name, self.calls.get(name)?)));
        let some = of_each.filter(|(_, count)| **count > 0);
        let named: Vec<_> = some.map(|(name, count)| format!("{count} {name}")).collect();
        let calls: u64 = self.calls.values().sum();
        let failed = failed(&self.errors);
        let remark = named.join(", ") + if failed.is_empty() { "" } else { "; " } + &failed;
        section.row(name, self.came, told).row("  their calls", calls, remark)
    }
}

/// How calls failed, in words; empty if none did.
pub(super) fn failed(errors: &BTreeMap<String, u64>) -> String {
    let some: Vec<_> =
        errors.iter().map(|(kind, count)| format!("{count} failed: {kind}")).collect();
    some.join(", ")
}
