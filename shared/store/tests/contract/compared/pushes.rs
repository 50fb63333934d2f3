//! What was pushed as a difference, put together as services do, is the room as it was read at that moment.

use std::collections::BTreeMap;

use serde::Deserialize;
use vestibule_domain::{Difference, Formats, RoomSnapshot};

use super::pair::{Mismatch, Published, SNAPSHOTS};

/// Looks at every push, by somebody who has heard them all; `looks`: the rooms as they were read after each call.
pub(super) fn compare(published: &[Published], looks: &[RoomSnapshot]) -> Result<(), Mismatch> {
    let mut last = BTreeMap::new();
    for (_, push) in published.iter().filter(|(channel, _)| SNAPSHOTS.contains(&channel.as_str())) {
        let push = push.as_ref().unwrap();
        let room = push["room"].as_str().unwrap();
        let snapshot = if push["format"] == Formats::DIFFERENCE {
            // Nobody can read what an enormous argument made of the whole one.
            let Some(known) = last.get(room).and_then(Option::as_ref) else { continue };
            let Ok(difference) = Difference::deserialize(push) else { continue };
            let snapshot = difference.over(known).filter(|snapshot| looks.contains(snapshot));
            if snapshot.is_none() {
                return Err(Mismatch(format!("it never was so: {push}\n  from: {known:?}")));
            }
            snapshot
        } else {
            RoomSnapshot::deserialize(push).ok()
        };
        last.insert(room, snapshot);
    }
    Ok(())
}
