//! A document of rooms, as operators keep it in a file: everything that they decide about each, with its events and its
//! page. How it is read is in [`read`], how it is written in [`mod@write`]; what it changes is in [`crate::declare`].

mod read;
mod schema;
mod write;

use std::collections::BTreeMap;

use vestibule_domain::{
    RoomId,
    schedule::{self, EventName, RoomConfig},
};
use vestibule_site::Branding;

pub(crate) use self::{
    schema::{Declaration as DeclarationSchema, editors_schema},
    write::Detail,
};
use super::Draft;

/// Rooms as a document has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declaration {
    /// By name.
    pub rooms: BTreeMap<RoomId, DeclaredRoom>,
}

/// One room: what is not in the document has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredRoom {
    /// Its settings, and its place in front of a site.
    pub draft: Draft,
    /// Its events by name, without what is stored of their draws.
    pub events: BTreeMap<EventName, schedule::Event>,
    /// Its page and its logo.
    pub branding: Branding,
}

// === impl Declaration ===

impl Declaration {
    /// Whether an event names a beacon.
    #[must_use]
    pub fn names_beacons(&self) -> bool {
        let mut events = self.rooms.values().flat_map(|room| room.events.values());
        events.any(|event| event.beacon.is_some())
    }
}

// === impl DeclaredRoom ===

impl DeclaredRoom {
    /// What `config` has.
    #[must_use]
    pub fn of(config: &RoomConfig) -> Self {
        let events = config.events.iter().map(|event| (event.name.clone(), without_draw(event)));
        Self {
            draft: Draft::from_config(config),
            events: events.collect(),
            branding: config.binding.branding.clone(),
        }
    }

    /// Makes `config` what is declared. Events that it has already keep their draws, others have none yet.
    pub fn put_into(&self, config: &mut RoomConfig) {
        self.draft.put_into(config);
        config.binding.branding = self.branding.clone();
        let events = self.events.values().map(|event| match config.event(event.name.as_str()) {
            Some(before) if before.draw && event.draw => event.clone().with_draw_of(before),
            _ => without_draw(event),
        });
        config.events = events.collect();
    }
}

fn without_draw(event: &schedule::Event) -> schedule::Event {
    schedule::Event { commitment: None, ..event.clone() }.without_secrets()
}

#[cfg(test)]
mod tests;
