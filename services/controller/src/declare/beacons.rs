//! Rounds of beacons that a document names for the first time, or for another start. When they come the beacons know.

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
pub(super) struct NewRounds<'a>(Vec<NewRound<'a>>);

#[derive(Debug)]
struct NewRound<'a> {
    beacon: &'a Beacon,
    /// When events begin that name it, unix seconds.
    start: u64,
    events: Vec<String>,
}

// === impl NewRounds ===

impl<'a> NewRounds<'a> {
    /// Those of `declared`; `configs`: the rooms as they are.
    pub(super) fn of(declared: &'a Declaration, configs: &BTreeMap<RoomId, RoomConfig>) -> Self {
        let mut rounds: BTreeMap<_, NewRound<'a>> = BTreeMap::new();
        for (room, declared) in &declared.rooms {
            let before = configs.get(room);
            for (name, event) in &declared.events {
                let before = before.and_then(|before| before.event(name.as_str()));
                let Some(beacon) = new_round(event, before) else { continue };
                let start = event.start;
                let key = (&beacon.url, beacon.round, &beacon.public_key, start);
                let new = || NewRound { beacon, start, events: Vec::new() };
                let round = rounds.entry(key).or_insert_with(new);
                round.events.push(format!("rooms.{room}.events.{name}"));
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
        let beacons: Vec<_> = self.0.iter().map(|round| (round.beacon, round.start)).collect();
        let answers = asked.require_all(&beacons).await;
        let found = self.0.iter().zip(answers).filter_map(|(NewRound { events, .. }, answer)| {
            let refused = answer.err()?;
            let wrong = refused.errors().first()?;
            let at = |event: &String| error(event, &wrong.field, wrong.reason.to_string());
            Some(events.iter().map(at).collect::<Vec<_>>())
        });
        found.flatten().collect()
    }
}
