//! What only a simulation knows, for people.

use super::layout::Section;
use crate::{crowd::duration::human, record::Simulation};

/// The section, without rows where nothing was simulated.
pub(super) fn section(simulation: Option<&Simulation>) -> Section {
    let section = Section::new("Simulation");
    let Some(seen) = simulation else { return section };
    let queued = seen.queued_while_a_slot_was_free;
    let mut section = section
        .row("took in reality", human(seen.real_seconds), "")
        .row("moments of visitors", seen.moments, format!("{} calls to Redis", seen.redis_calls))
        .maybe("queued while a slot was free", queued, |queued| {
            (queued.to_string(), "newcomers, while nobody else waited".to_owned())
        });
    for (name, region) in &seen.regions {
        let at_once = format!(
            "{} admitted at once: {} by its own slots, {} by anyone's, {} lent",
            region.admitted_at_once, region.own_slots, region.anywhere_slots, region.lent_slots
        );
        section = section.row(&format!("from {name}"), region.arrived, at_once);
    }
    section
}
