//! Rounds of beacons that a document names for the first time. Whether they are to come only the beacons know.

use std::collections::BTreeMap;

use vestibule_domain::{
    FieldError, RoomId,
    schedule::{Beacon, RoomConfig},
};

use super::check::error;
use crate::{
    api_types::Declaration,
    rooms::{FutureRounds, MOST_NEW_ROUNDS, new_round},
};

/// The new rounds of a document, each with the events that name it.
#[derive(Debug, Default)]
pub(super) struct NewRounds<'a>(Vec<(&'a Beacon, Vec<String>)>);

// === impl NewRounds ===

impl<'a> NewRounds<'a> {
    /// Those of `declared`; `configs`: the rooms as they are.
    pub(super) fn of(declared: &'a Declaration, configs: &BTreeMap<RoomId, RoomConfig>) -> Self {
        let mut rounds: BTreeMap<_, (&Beacon, Vec<String>)> = BTreeMap::new();
        for (room, declared) in &declared.rooms {
            let before = configs.get(room);
            for (name, event) in &declared.events {
                let before = before.and_then(|before| before.event(name.as_str()));
                let Some(beacon) = new_round(event, before) else { continue };
                let key = (&beacon.url, beacon.round, &beacon.public_key);
                let (_, events) = rounds.entry(key).or_insert_with(|| (beacon, Vec::new()));
                events.push(format!("rooms.{room}.events.{name}"));
            }
        }
        Self(rounds.into_values().collect())
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// What is wrong with them, asking the beacons; with too many, without asking.
    pub(super) async fn errors(&self, asked: &FutureRounds) -> Vec<FieldError> {
        if self.count() > MOST_NEW_ROUNDS {
            let reason = format!(
                "name {} rounds of beacons that are new, and each has to be asked for; at most {MOST_NEW_ROUNDS} may \
                 be in one document: apply it in parts",
                self.count()
            );
            return vec![error("rooms", "", reason)];
        }
        let beacons: Vec<_> = self.0.iter().map(|(beacon, _)| *beacon).collect();
        let answers = asked.require_all(&beacons).await;
        let found = self.0.iter().zip(answers).filter_map(|((_, events), answer)| {
            let refused = answer.err()?;
            let wrong = refused.errors().first()?;
            let at = |event: &String| error(event, &wrong.field, wrong.reason.to_string());
            Some(events.iter().map(at).collect::<Vec<_>>())
        });
        found.flatten().collect()
    }
}
